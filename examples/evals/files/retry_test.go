package retry

import (
	"testing"
	"time"
)

func TestStopsAfterThree(t *testing.T) {
	calls := 0
	go Do(3, func() error {
		calls++
		return errFailed
	})
	time.Sleep(10 * time.Millisecond)
	if calls != 3 {
		t.Fatalf("%d calls", calls)
	}
}
