package neighbour

import (
	"math"
	"testing"

	"weir/privacy"
)

// scaled adds noise of a deviation.
type scaled struct {
	fixed
	deviation float64
}

func (s scaled) Deviation() float64 { return s.deviation }

// TestSameNoise: two uses with the same noise are a fault; a training without noise that diverges has none, and few
// whole numbers may be equal by chance.
func TestSameNoise(t *testing.T) {
	nan := []float64{math.NaN(), math.NaN(), math.NaN()}
	for what, c := range map[string]struct {
		mechanism privacy.Mechanism
		in, out   []float64
		faults    int
	}{
		"noise":            {scaled{deviation: 1}, []float64{1, 2, 3}, []float64{2.25, 4.5, 6.125}, 1},
		"few numbers":      {scaled{deviation: 1}, []float64{1, 2, 3}, []float64{2, 4, 6}, 0},
		"noise on nothing": {scaled{deviation: 1}, nan, nan, 1},
		"no noise":         {scaled{}, nan, nan, 0},
		"a choice":         {fixed{}, []float64{1, 2, 3}, []float64{2.25, 4.5, 6.125}, 0},
	} {
		r := &Residuals{}
		probe := r.Of("stage", NewFrozen().Of("stage"))
		for use := range int64(2) {
			in := append([]float64(nil), c.in...)
			in[0] += float64(use) // on another value
			out := append([]float64(nil), c.out...)
			out[0] += float64(use)
			probe.Release(privacy.Released{Spend: "train", Mechanism: c.mechanism, Use: use, In: in, Out: out})
		}
		if faults := r.Faults(); len(faults) != c.faults {
			t.Errorf("%s: %q, want %d faults", what, faults, c.faults)
		}
	}
}
