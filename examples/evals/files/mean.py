def mean(values):
    """Returns the mean, or 0 when there are no values."""
    if not values:
        return 0
    return sum(values) / len(values)
