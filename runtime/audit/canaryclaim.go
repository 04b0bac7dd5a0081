package audit

import (
	"fmt"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/empirical"
)

// claim is what a bill says of one unit: a trade-off at each part of what was paid, which 1 is.
type claim struct {
	words     string // "" where nothing is claimed
	mu        float64
	tradeoff  func(part float64) (empirical.Tradeoff, error)
	epsilonOf func(part float64) (float64, error)
	delta     float64
}

// claim returns what the bill of the plan claims.
func (s *Subject) claim() (claim, error) {
	c := claim{delta: s.plan.Spec.Privacy.Delta}
	if s.plan.Epsilon.Proven == nil {
		return c, nil
	}
	acc, err := account.ByName(s.plan.Spec.Privacy.Accountant)
	if err != nil {
		return c, err
	}
	var events []privacy.Event
	for _, step := range s.plan.Steps {
		for _, e := range step.Events {
			events = append(events, e.Event)
		}
	}
	adjacency := s.plan.Spec.Privacy.Adjacency
	if square, err := account.SquaredMu(events, adjacency); err == nil && square > 0 {
		return c.gaussian(bitmath.Pow(square, 0.5), acc), nil
	}
	return c.curve(events, adjacency, acc, *s.plan.Epsilon.Proven)
}

// gaussian returns the claim of a bill of Gaussian noise alone.
func (c claim) gaussian(mu float64, acc privacy.Accountant) claim {
	c.words, c.mu = fmt.Sprintf("%.4g-GDP (Gaussian noise alone)", mu), mu
	c.tradeoff = func(part float64) (empirical.Tradeoff, error) { return empirical.Gaussian(part * mu), nil }
	c.epsilonOf = func(part float64) (float64, error) {
		if part == 0 {
			return 0, nil
		}
		return acc.Epsilon([]privacy.Event{privacy.Gaussian{NoiseMultiplier: 1 / (part * mu)}}, privacy.AddRemove, c.delta)
	}
	return c
}

// curvePoints is at how many epsilons a curve is taken; between them the claim is weaker than the curve.
const curvePoints = 160

// curve returns the claim of any other bill: what its accountant proves at many epsilons.
func (c claim) curve(events []privacy.Event, adjacency privacy.Adjacency, acc privacy.Accountant,
	proven float64) (claim, error) {
	most, err := acc.Epsilon(events, adjacency, min(c.delta, Refute)*1e-3)
	if err != nil || most > 20*proven {
		most = 20 * proven
	}
	epsilons := empirical.Epsilons(curvePoints, most)
	deltas := make([]float64, len(epsilons))
	if whole, is := acc.(interface {
		Curve([]privacy.Event, privacy.Adjacency, []float64) ([]float64, error)
	}); is {
		if deltas, err = whole.Curve(events, adjacency, epsilons); err != nil {
			return c, err
		}
	} else {
		for i, e := range epsilons {
			if deltas[i], err = acc.Delta(events, adjacency, e); err != nil {
				return c, err
			}
		}
	}
	c.words = "the curve of epsilon and delta that " + acc.Name() + " proves"
	c.tradeoff = func(part float64) (empirical.Tradeoff, error) {
		scaled := make([]float64, len(epsilons))
		for i, e := range epsilons {
			scaled[i] = e * part
		}
		return empirical.Profile(scaled, deltas)
	}
	c.epsilonOf = func(part float64) (float64, error) { return part * proven, nil }
	return c, nil
}

// refutes reports whether what was found has a chance below level under a trade-off.
func (f *Canaries) refutes(t empirical.Tradeoff, level float64) (bool, error) {
	switch {
	case f.Rates != nil:
		return f.Rates.Refute(t, level), nil
	case len(f.Guesses) == 1:
		return f.Guesses[0].Refute(t, level), nil
	}
	chances := make([]float64, len(f.Guesses))
	for i, g := range f.Guesses {
		var err error
		if chances[i], err = g.Chance(t); err != nil {
			return false, err
		}
	}
	return empirical.CombinedChance(chances) < level, nil
}

const (
	mostEpsilon = 100 // beyond, no attack of so many guesses proves anything
	mostPart    = 50
)

// conclude fills in what is proven at both levels, and whether the claim is refuted.
func (f *Canaries) conclude(c claim) (err error) {
	for _, level := range []float64{Level, Refute} {
		b := Bound{Level: level}
		if b.Any, err = empirical.Largest(mostEpsilon, func(e float64) (bool, error) {
			return f.refutes(empirical.Bounded(e, c.delta), level)
		}); err != nil {
			return err
		}
		if c.words != "" {
			if err := f.bound(c, &b); err != nil {
				return err
			}
		}
		f.Bounds = append(f.Bounds, b)
	}
	if c.words == "" {
		return nil
	}
	t, err := c.tradeoff(1)
	if err == nil {
		f.Refuted, err = f.refutes(t, Refute)
	}
	return err
}

// bound fills in the part of a claim that is refuted at a level.
func (f *Canaries) bound(c claim, b *Bound) error {
	part, err := empirical.Largest(mostPart, func(part float64) (bool, error) {
		t, err := c.tradeoff(part)
		if err != nil {
			return false, err
		}
		return f.refutes(t, b.Level)
	})
	if err != nil {
		return err
	}
	epsilon, err := c.epsilonOf(part)
	b.Part, b.Epsilon = &part, &epsilon
	if c.mu > 0 {
		mu := part * c.mu
		b.Mu = &mu
	}
	return err
}
