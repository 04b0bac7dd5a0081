package privacy

import (
	"strings"
	"testing"

	"weir/privacy/noise"
)

// coin is a mechanism of two uses.
type coin struct{ Mechanism }

func (coin) Uses() int64 { return 2 }

// watch takes down streams and gives the same thing for every output.
type watch struct {
	streams []string
	gives   any
}

func (w *watch) Release(Released) any { return w.gives }
func (w *watch) Stream(spend string, _ int64, purpose string, _ uint64) {
	w.streams = append(w.streams, spend+" "+purpose)
}

// A probe sees each stream, and replaces what comes out by a value of its type;
// another type would leave the original in place without a word, so it is a fault.
func TestProbeReplacesOrFails(t *testing.T) {
	for _, c := range []struct {
		gives any
		want  float64
		fault string
	}{{7.5, 7.5, ""}, {float32(7.5), 1, "float32 for float64"}} {
		w := &watch{gives: c.gives}
		h := Open(Opening{Spend: "coin", Mechanism: coin{}, Source: noise.NewSource(noise.Key{1}, "probe"), Probe: w})
		for range 2 {
			u, err := h.Next()
			if err != nil {
				t.Fatal(err)
			}
			u.Stream("throw", 0)
			if got := Release(u, 0, 1.0); got != c.want {
				t.Errorf("%T: %g comes out, must be %g", c.gives, got, c.want)
			}
		}
		if err := h.Close(); (c.fault == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%T: closes with %v, want %q", c.gives, err, c.fault)
		}
		if h.Taken() != 2 || strings.Join(w.streams, ", ") != "coin throw, coin throw" {
			t.Errorf("%d uses with the streams %v", h.Taken(), w.streams)
		}
	}
}
