package graphical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/stages/model/artifact"
	"weir/train/graphical"
)

// Copy fits the model again to bootstrap tables: the model's own counts wherever it was
// fitted to a marginal, with fresh noise of the same standard deviations. The noise is
// public, since all that it is added to was released; it protects nothing. Copies
// differ as models do that were paid for anew, but none knows a structure that was
// never measured. Codes, and values inside them, are those of the model in every copy.
// Reference: parametric bootstrap (Efron and Tibshirani 1993, section 6.5); coverage in
// docs/measured.md.
func (m *released) Copy(ctx context.Context, rng *rand.Rand, workers int) (artifact.Model, error) {
	f := m.front()
	for i, t := range f.tables {
		y, err := m.model.Marginal(t.Vars)
		if err != nil {
			return nil, err
		}
		for k := range y {
			y[k] += float64(math.Sqrt(t.Var[k]) * bitmath.Normal(rng))
		}
		f.tables[i] = graphical.Table{Vars: t.Vars, Y: y, Var: t.Var}
	}
	fitted, err := f.fit(ctx, Size{m.Size}.limits(), workers)
	if err != nil {
		return nil, err
	}
	other := *m
	other.Scored = nil // it bounds the model that was paid for
	other.model, other.Model, other.Measured = fitted, fitted.Potentials(), slices.Clone(m.Measured)
	return &other, nil
}
