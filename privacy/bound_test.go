package privacy

import (
	"math"
	"testing"
)

// TestBoundAndRoom: a bound is never shown below itself, room never above; what has five digits stays.
func TestBoundAndRoom(t *testing.T) {
	for _, c := range []struct {
		x           float64
		bound, room string
	}{
		{1.99950002, "1.9996", "1.9995"}, {0.99975, "0.99975", "0.99975"}, {1, "1", "1"}, {3 - 2.99, "0.01", "0.01"},
		{0, "0", "0"}, {1.00001e-5, "1.0001e-05", "1e-05"}, {9.99999e-300, "1e-299", "9.9999e-300"},
		{123456, "1.2346e+05", "1.2345e+05"}, {math.Inf(1), "none", "none"},
	} {
		if b, r := Bound(c.x), Room(c.x); b != c.bound || r != c.room {
			t.Errorf("%v is shown as %s and %s, must be %s and %s", c.x, b, r, c.bound, c.room)
		}
	}
}

// TestBoundTo: nine digits of the Gaussian mechanism of noise 2 at delta 1e-5, 1.99309140442, are not
// the nearest ones.
func TestBoundTo(t *testing.T) {
	if got := BoundTo(9, 1.99309140442); got != "1.99309141" {
		t.Errorf("shown as %s, must be 1.99309141", got)
	}
}
