package sum

import "testing"

func TestSum(t *testing.T) {
	for _, each := range []struct{ a, b, want int }{{1, 2, 3}, {0, 0, 0}, {-1, 1, 0}} {
		if got := Sum(each.a, each.b); got != each.want {
			t.Fatalf("Sum(%d, %d) = %d", each.a, each.b, got)
		}
	}
}
