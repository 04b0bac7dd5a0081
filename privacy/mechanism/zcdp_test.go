package mechanism

import (
	"errors"
	"math"
	"testing"

	"weir/privacy"
)

// TestZCDPFilterKeepsItsTotal under both adjacencies: what a histogram and a choice
// cost, that the rest can be spent to the end, and that no more can.
func TestZCDPFilterKeepsItsTotal(t *testing.T) {
	for a, d := range map[privacy.Adjacency]struct{ squares, total float64 }{privacy.AddRemove: {1, 0.25},
		privacy.ReplaceOne: {2, 1}} {
		m := ZCDPFilter{2, a, 0}
		h := open(m, 0)
		if _, err := ReleaseIntegers(h, []int64{3, 4}, HistogramMoves(), 4); err != nil ||
			math.Abs(h.Left()-(d.total-d.squares/16)) > 1e-12 {
			t.Errorf("%s: after a histogram %g is left, %v", a, h.Left(), err)
		}
		before := h.Left()
		if _, err := Choose(h, []float64{3, 4}, Moves{1, 2}, 0.2); err != nil || math.Abs(before-h.Left()-0.2*0.2/4) > 1e-12 {
			t.Errorf("%s: after a choice %g of %g is left, %v", a, h.Left(), before, err)
		}
		if _, err := Choose(h, []float64{3, 4}, Moves{1, 2}, m.Epsilon(h.Left())); err != nil || h.Left() > 1e-12 ||
			h.Close() != nil {
			t.Errorf("%s: the rest: %v, %g is left, %v", a, err, h.Left(), h.Close())
		}
		if _, err := Choose(h, []float64{3, 4}, Moves{1, 2}, 0x1p-10); !errors.Is(err, privacy.ErrUses) || h.Close() == nil {
			t.Errorf("%s: beyond the total: %v, closed %v", a, err, h.Close())
		}
	}
}

// TestChoiceRefusals: a choice that the proof does not cover is refused before it takes of the total.
func TestChoiceRefusals(t *testing.T) {
	h := open(ZCDPFilter{1, privacy.ReplaceOne, 0}, 0)
	for _, d := range []Moves{{}, {1, 0}, {2, 1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, err := Choose(h, []float64{1, 2}, d, 0.1); err == nil {
			t.Errorf("sensitivity %+v is accepted", d)
		}
	}
	for _, epsilon := range []float64{0, -1, math.NaN(), math.Inf(1), 0x1p-25, 0x1p11} {
		if _, err := Choose(h, []float64{1, 2}, Moves{1, 1}, epsilon); err == nil {
			t.Errorf("epsilon %g is accepted", epsilon)
		}
	}
	for _, scores := range [][]float64{nil, {math.NaN()}} {
		if _, err := Choose(h, scores, Moves{1, 1}, 0.1); err == nil {
			t.Errorf("scores %v are accepted", scores)
		}
	}
	if h.Left() != h.Mechanism().(ZCDPFilter).Total() {
		t.Errorf("refused choices took of the total: %g is left", h.Left())
	}
}

// TestSilentFilters: multiplier 0, which only a run at epsilon inf has, adds nothing, for
// any number of rounds, and costs more than any budget.
func TestSilentFilters(t *testing.T) {
	for _, m := range []inRounds{GaussianFilter{NoiseMultiplier: 0, Adjacency: privacy.AddRemove},
		ZCDPFilter{0, privacy.ReplaceOne, 0}} {
		h := open(m, 0)
		for range 3 {
			if y, err := ReleaseIntegers(h, []int64{3, 4}, HistogramMoves(), 0); err != nil || y[0] != 3 || y[1] != 4 {
				t.Errorf("%T: gives %v, %v", m, y, err)
			}
		}
		if !math.IsInf(m.Total(), 1) {
			t.Errorf("%T: total is %g, must be infinite", m, m.Total())
		}
		if err := h.Close(); err != nil {
			t.Errorf("%T: %v", m, err)
		}
	}
	h := open(ZCDPFilter{0, privacy.ReplaceOne, 0}, 0)
	if i, err := Choose(h, []float64{1, 7, 3, 7}, Moves{1, 2}, 0); i != 1 || err != nil {
		t.Errorf("a choice gives %d, %v, must be the first of the largest", i, err)
	}
	if _, err := ReleaseIntegers(open(ZCDPFilter{1, privacy.AddRemove, 0}, 0), []int64{3}, HistogramMoves(), 0); err ==
		nil {
		t.Error("sigma 0 is taken from a filter that adds noise")
	}
}

// tree is an adaptive transcript of choices as exact numbers: the moments of order a
// of what is released, P to the a over Q to the a-1, after which each outcome goes on
// with a tree of its own.
type tree struct {
	epsilon float64
	gap     float64 // between the two scores, in exponents
	then    [2]*tree
}

// moment returns the sum of P^a Q^(1-a): two candidates, whose scores move apart by what
// epsilon allows.
func (x *tree) moment(a float64) (sum float64) {
	if x == nil {
		return 1
	}
	p, q := 1/(1+math.Exp(x.gap+x.epsilon/2)), 1/(1+math.Exp(x.gap-x.epsilon/2))
	for i, next := range x.then {
		if i == 1 {
			p, q = 1-p, 1-q
		}
		sum += math.Pow(p, a) * math.Pow(q, 1-a) * next.moment(a)
	}
	return sum
}

// chosen spends a budget of rho with a price per squared epsilon: half of it first,
// then by what came out all of the rest, the rest in four steps, or nothing.
func chosen(rho, price float64) *tree {
	all := func(rho float64) *tree { return &tree{epsilon: math.Sqrt(rho / price)} }
	quarter := func(next *tree) *tree { return &tree{math.Sqrt(rho / 8 / price), 0.1, [2]*tree{next, next}} }
	steps := quarter(quarter(quarter(quarter(nil))))
	return &tree{math.Sqrt(rho / 2 / price), 0.3, [2]*tree{{math.Sqrt(rho / 4 / price), -0.2, [2]*tree{all(rho / 4), nil}},
		steps}}
}

// TestAdaptiveChoicesAreZCDP: choices at epsilon^2/8, chosen by what came out before,
// keep to a rho at every order, by exact sums; at a price a tenth lower they do not.
func TestAdaptiveChoicesAreZCDP(t *testing.T) {
	broken := false
	for _, rho := range []float64{1e-4, 0.01, 0.3, 2} {
		for _, a := range []float64{1.01, 1.5, 2, 5, 17, 64, 400} {
			if a*a*rho > 600 { // beyond float64
				continue
			}
			if d := math.Log(chosen(rho, 1./8).moment(a)) / (a - 1); d > a*rho*(1+1e-9)+1e-13/(a-1) {
				t.Errorf("rho %g: divergence of order %g is %.9g, must be at most %.9g", rho, a, d, a*rho)
			}
			x := &tree{epsilon: math.Sqrt(rho / (0.9 / 8))}
			broken = broken || math.Log(x.moment(a))/(a-1) > a*rho*(1+1e-9)
		}
	}
	if !broken {
		t.Error("a price of 0.9 epsilon^2/8 passes as well")
	}
}

// TestFiltersHaveABound: a filter of which a round could have no noise that can be drawn is refused with the plan,
// before a charge. Under replace_one the root of its total is 2 over the multiplier, and 2^40 of 1e6 sqrt(2) are
// 1,554,944.
func TestFiltersHaveABound(t *testing.T) {
	for multiplier, want := range map[float64]bool{0: true, 0x1p-20: true, 1: true, 1.5549e6: true, 1.555e6: false,
		1e11: false, 1e-7: false} {
		for _, f := range []interface{ Check() error }{
			GaussianFilter{NoiseMultiplier: multiplier, Adjacency: privacy.ReplaceOne, Largest: math.Sqrt2 * 1e6},
			ZCDPFilter{NoiseMultiplier: multiplier, Adjacency: privacy.ReplaceOne, Largest: math.Sqrt2 * 1e6},
		} {
			if err := f.Check(); (err == nil) != want {
				t.Errorf("%T of %g: %v", f, multiplier, err)
			}
		}
	}
}
