package graphical

import (
	"errors"
	"fmt"
	"math"
)

// Table is a noisy marginal: Y in rows, row-major over Vars, and the variance of the
// noise of each cell. A variance of +Inf says that the cell was not measured; one of 0
// that Y is exact (a public total), which the fitted model then has.
type Table struct {
	Vars   Set
	Y, Var []float64
}

// Mask is structural zeros: Forbidden marks the cells of a table over Vars, row-major,
// that no row has.
type Mask struct {
	Vars      Set
	Forbidden []bool
}

// Factor is a part of a model: the logarithms, over the cells of Vars, row-major, that
// add up to that of a row's weight.
type Factor struct {
	Vars Set
	Log  []float64
}

func (t *Tree) checkTable(at string, x Table, total float64) error {
	errs := []error{t.checkPart(at, x.Vars, len(x.Y))}
	if len(x.Var) != len(x.Y) {
		return errors.Join(append(errs, fmt.Errorf("%s.Var: has %d cells, must have the %d of Y", at, len(x.Var), len(x.Y)))...)
	}
	for i, v := range x.Var {
		if !(v >= 0) || v < math.Inf(1) && (math.IsNaN(x.Y[i]) || math.IsInf(x.Y[i], 0)) || v == 0 && x.Y[i] < 0 {
			errs = append(errs, fmt.Errorf("%s: cell %d has y %g of variance %g; y must be finite (not below 0 where exact), a variance at least 0", at, i, x.Y[i], v))
			break
		}
	}
	return errors.Join(append(errs, x.checkExact(at, total))...)
}

// checkPart says what is wrong with a table of so many cells over vars, or nil: a
// clique must hold it.
func (t *Tree) checkPart(at string, vars Set, cells int) error {
	if err := checkSet(at+".Vars", t.dom, vars); err != nil {
		return err
	}
	if t.holder(vars) < 0 {
		return fmt.Errorf("%s.Vars: is %v, must lie within a clique of the tree", at, vars)
	}
	if want := cellsOf(t.dom, vars); int64(cells) != want {
		return fmt.Errorf("%s: has %d cells, must have %d", at, cells, want)
	}
	return nil
}
