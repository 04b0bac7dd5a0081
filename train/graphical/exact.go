package graphical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// exactSweeps and exactNear end the fit of exact tables, in sweeps and in parts of the
// total.
const (
	exactSweeps   = 2000
	lenientSweeps = 5
	exactNear     = 1e-9
)

// isExact reports whether a table is a public total: its variances are 0.
func (x Table) isExact() bool {
	for _, v := range x.Var {
		if v != 0 {
			return false
		}
	}
	return len(x.Var) > 0
}

// checkExact says why a table that has cells of variance 0 cannot be met, or nil.
func (x Table) checkExact(at string, total float64) error {
	sum, exact := 0.0, 0
	for i, v := range x.Var {
		sum += x.Y[i]
		if v == 0 {
			exact++
		}
	}
	switch {
	case exact == 0:
		return nil
	case exact < len(x.Var):
		return fmt.Errorf("%s.Var: is 0 in %d of %d cells, must be 0 in all or none", at, exact, len(x.Var))
	case !(math.Abs(sum-total) <= 1e-9*total):
		return fmt.Errorf("%s: is exact and sums to %g, must sum to the total %g", at, sum, total)
	}
	return nil
}

// zeros are the masks of the cells that exact tables say are empty.
func zeros(tables []Table) []Mask {
	var masks []Mask
	for _, x := range tables {
		if !x.isExact() {
			continue
		}
		m := Mask{Vars: x.Vars, Forbidden: make([]bool, len(x.Y))}
		for i, y := range x.Y {
			m.Forbidden[i] = y == 0
		}
		masks = append(masks, m)
	}
	return masks
}

// scaleTo sets the counts of an exact table: count becomes what each cell is
// multiplied by. It returns how far the counts were off.
func (t *target) scaleTo() float64 {
	off := 0.0
	for i, m := range t.count {
		off = max(off, math.Abs(m-t.y[i]))
		if t.count[i] = 1; m > 0 && t.y[i] > 0 {
			t.count[i] = t.y[i] / m
			t.log[i] += bitmath.Log(t.count[i])
		}
	}
	return off
}

// meet goes on with the exact tables alone until the model has them (iterative
// proportional fitting), and returns how far a cell is off at most. Where they contradict each
// other or the masks it never has.
func (f *fitting) meet(ctx context.Context) (off float64, err error) {
	some := false
	for _, t := range f.targets {
		some = some || t.exact
	}
	f.exactOnly = true
	sweeps := exactSweeps
	if f.options.Lenient {
		sweeps = lenientSweeps
	}
	for range sweeps {
		if err := ctx.Err(); err != nil || !some {
			return 0, err
		}
		f.off = 0
		if f.visit(0); f.off <= cmp.Or(f.options.Near, exactNear)*f.total {
			return f.off, nil
		}
	}
	if f.options.Lenient {
		return f.off, nil
	}
	return f.off, errors.New("graphical: tables: the exact ones contradict each other or the masks")
}
