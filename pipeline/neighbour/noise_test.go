package neighbour

import (
	"math"
	"math/rand/v2"
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

// TestNoiseInProportion: noise that is negated or doubled is found on few numbers, in any proportion and rounded with
// what went in on many; equal beginnings of other noise, and independent noise, are not. That 40 vectors of 256 normal
// numbers have a pair of a correlation above .75 has a chance below 1e-27.
func TestNoiseInProportion(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) (list []float64) {
		for range n {
			list = append(list, rng.NormFloat64())
		}
		return list
	}
	long, short := draw(300), []float64{.125, -4.25, 7.625}
	rounded := multiplied(long, -3.3)
	for i := range rounded {
		rounded[i] += 1e-6 * rng.NormFloat64()
	}
	for what, c := range map[string]struct {
		one, other []float64
		faults     int
	}{
		"negated": {short, multiplied(short, -1), 1}, "doubled": {short, multiplied(short, 2), 1},
		"halved": {short, multiplied(short, .5), 1}, "another": {short, []float64{.125, -4.25, 7.5}, 0},
		"in proportion": {long, rounded, 1}, "drawn apart": {long, draw(300), 0}, "none": {long, make([]float64, 300), 1},
	} {
		r := &Residuals{}
		probe := r.Of("stage", NewFrozen().Of("stage"))
		for use, noise := range [][]float64{c.one, c.other} {
			in := make([]float64, len(noise))
			in[0] = .5 + float64(use)
			out := append([]float64(nil), noise...)
			out[0] += in[0]
			probe.Release(privacy.Released{Spend: "s", Mechanism: scaled{deviation: 1}, Use: int64(use), In: in, Out: out})
		}
		if faults := r.Faults(); len(faults) != c.faults {
			t.Errorf("%s: %q, must be %d faults", what, faults, c.faults)
		}
	}
	r := &Residuals{}
	for i := range int64(40) {
		r.Of("stage", NewFrozen().Of("stage")).Release(privacy.Released{Spend: "s", Mechanism: scaled{deviation: 1}, Use: i,
			In: make([]float64, 256), Out: draw(256)})
	}
	if faults := r.Faults(); len(faults) > 0 {
		t.Errorf("independent noise: %q", faults)
	}
}
