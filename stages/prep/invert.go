package prep

import (
	"fmt"
	"math/rand/v2"

	"weir/pipeline"
)

// Randomness makes a public random source, the same one at each call: a lazy
// table draws the same values whenever it is opened.
type Randomness func() *rand.Rand

// Invert returns t in terms of its source: the history of its domain walked
// backwards. Encoded numbers become values again (rounded to the column's step,
// clipped to its bounds), codes categories, bins values inside the bin,
// indicators what they stood for. Columns that a step added are taken away;
// columns dropped since stay away; what was imputed stays as it is. Class,
// stability and row count of t are kept: it works row by row with public
// parameters. Only bins with a uniform draw use random numbers.
func Invert(t pipeline.Table, random Randomness) (pipeline.Table, error) {
	for len(t.Domain.History) > 0 {
		w, err := undoLast(t.Header, random)
		if err != nil {
			return pipeline.Table{}, err
		}
		t = w.apply(t)
	}
	return t, nil
}

// InvertHeader is the header of what Invert returns for a table of header h.
func InvertHeader(h pipeline.Header) (pipeline.Header, error) {
	for len(h.Domain.History) > 0 {
		w, err := undoLast(h, nil)
		if err != nil {
			return h, err
		}
		h = w.out
	}
	return h, nil
}

// undoLast undoes the youngest step of the history of h.
func undoLast(h pipeline.Header, random Randomness) (rewrite, error) {
	last := h.Domain.History[len(h.Domain.History)-1]
	u := &undoing{h: h, step: last, random: random}
	var err error
	switch last.Kind {
	case encodeName:
		err = u.encode()
	case discretizeName:
		err = u.discretize()
	case notAvailableName:
		err = u.notAvailable()
	case missingIndicatorName:
		err = u.missingIndicator()
	default:
		err = fmt.Errorf("nobody knows how to undo it")
	}
	if err != nil {
		return rewrite{}, fmt.Errorf("undoing %s: %w", last.Kind, err)
	}
	return u.rewrite(), nil
}

// undoing collects what becomes of each column when a step is undone.
type undoing struct {
	h       pipeline.Header
	step    pipeline.Transform
	random  Randomness
	changed map[int]change
	gone    map[int]bool
}

// change is how one column gets back the form it had before the step; make is
// asked for at each opening.
type change struct {
	make   func() maker
	column pipeline.Column
}

// set notes that column i becomes what it was before the step.
func (u *undoing) set(i int, before *pipeline.Column, nullable bool, make func() maker) {
	if u.changed == nil {
		u.changed = map[int]change{}
	}
	c := *before
	c.Nullable = nullable
	u.changed[i] = change{make: make, column: c}
}

// drop notes that column i was added by the step.
func (u *undoing) drop(i int) {
	if u.gone == nil {
		u.gone = map[int]bool{}
	}
	u.gone[i] = true
}

// find returns the places, now and before the step, of a column; ok is false
// where it has been dropped since.
func (u *undoing) find(name string) (now int, before *pipeline.Column, ok bool) {
	now = u.h.Domain.Index(name)
	before = u.step.Before.Column(name)
	return now, before, now >= 0 && before != nil
}

func (u *undoing) rewrite() rewrite {
	d := &pipeline.Domain{History: append([]pipeline.Transform(nil), u.h.Domain.History[:len(u.h.Domain.History)-1]...)}
	var make []func() maker
	for i, c := range u.h.Domain.Columns {
		if u.gone[i] {
			continue
		}
		one := func() maker { return keep(i) }
		if to, ok := u.changed[i]; ok {
			c, one = to.column, to.make
		}
		d.Columns, make = append(d.Columns, c), append(make, one)
	}
	return rewrite{out: rowHeader(u.h, d), makers: func() []maker {
		list := []maker{}
		for _, one := range make {
			list = append(list, one())
		}
		return list
	}}
}
