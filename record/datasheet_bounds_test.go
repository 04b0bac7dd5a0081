package record

import "testing"

// TestBoundsAreReadable: whole bounds are written out, whatever they are bounds of.
func TestBoundsAreReadable(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{{-9000, 1341000, "-9000 to 1341000"}, {16.3, 52864.7, "16.3 to 52864.7"}, {0, 1e18, "0 to 1e+18"}} {
		if got := (Column{Type: "integer", Bounds: &[2]float64{c.low, c.high}}).values(); got != c.want {
			t.Errorf("%q, must be %q", got, c.want)
		}
	}
}
