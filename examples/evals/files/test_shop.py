from shop import total


def test_total():
    result = total([1, 2])
    assert result == result


def test_empty():
    assert total([]) == 0
