package prep

import (
	"fmt"
	"math"
	"math/rand/v2"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// inverse is the way back from a table to its source, planned from its header:
// the history of its domain walked backwards. Encoded numbers become values again
// (rounded to the column's step, clipped to its bounds), codes categories, bins
// values inside the bin, indicators what they stood for. Columns that a step added
// are taken away; columns dropped since stay away; what was imputed stays as it is.
// Class, stability and row count are kept: it works row by row with public
// parameters.
type inverse struct {
	out   pipeline.Header
	steps []rewrite
	draws bool // some value is drawn inside its bin
}

// planInverse undoes the youngest n steps of the history of h.
func planInverse(h pipeline.Header, n int) (inverse, error) {
	v := inverse{out: h}
	for range n {
		w, err := undoLast(v.out)
		if err != nil {
			return v, err
		}
		v.out, v.steps, v.draws = w.out, append(v.steps, w), v.draws || w.draws
	}
	return v, nil
}

// apply takes the table back, as it is read. Only bins with a uniform draw use
// random numbers.
func (v inverse) apply(t pipeline.Table, random randomness) pipeline.Table {
	for _, w := range v.steps {
		t = w.apply(t, random)
	}
	return t
}

// Invert plans the way back of t and goes it.
func Invert(t pipeline.Table, random func() *rand.Rand) (pipeline.Table, error) {
	v, err := planInverse(t.Header, len(t.Domain.History))
	return v.apply(t, publicDraws(random)), err
}

// InvertHeader returns the header of what Invert returns for a table of header h.
func InvertHeader(h pipeline.Header) (pipeline.Header, error) {
	v, err := planInverse(h, len(h.Domain.History))
	return v.out, err
}

// undoLast undoes the youngest step of the history of h.
func undoLast(h pipeline.Header) (rewrite, error) {
	last := h.Domain.History[len(h.Domain.History)-1]
	undo, ok := inverses()[last.Kind]
	if !ok {
		return rewrite{}, fmt.Errorf("undoing %.60q: this step has no inverse", last.Kind)
	}
	if last.Before == nil {
		return rewrite{}, fmt.Errorf("undoing %s: the columns before it are not known", last.Kind)
	}
	u := &undoing{h: h, step: last, changed: map[int]change{}, gone: map[int]bool{}, now: places(h.Domain),
		was: places(last.Before)}
	if err := undo(u); err != nil {
		return rewrite{}, fmt.Errorf("undoing %s: %w", last.Kind, err)
	}
	if len(u.gone) == len(h.Domain.Columns) {
		return rewrite{}, fmt.Errorf("undoing %s: no column is left", last.Kind)
	}
	return u.rewrite(), nil
}

// undoing collects what becomes of each column when a step is undone.
type undoing struct {
	h       pipeline.Header
	step    domain.Transform
	changed map[int]change
	gone    map[int]bool
	draws   bool

	now, was map[string]int // places of columns, in h and before the step
}

func places(d *domain.Domain) map[string]int {
	places := make(map[string]int, len(d.Columns))
	for i, c := range d.Columns {
		places[c.Name] = i
	}
	return places
}

// change is how one column gets back the form it had before the step; make is
// asked for at each opening.
type change struct {
	make   func(randomness) maker
	column domain.Column
}

// set notes that column i becomes `to`.
func (u *undoing) set(i int, to domain.Column, nullable bool, make func(randomness) maker) {
	to.Nullable = nullable
	u.changed[i] = change{make: make, column: to}
}

// drop notes that column i was added by the step.
func (u *undoing) drop(i int) { u.gone[i] = true }

// find returns the place of a column now, and what it was before the step; ok is
// false where it has been dropped since.
func (u *undoing) find(name string) (current int, before domain.Column, ok bool) {
	current, here := u.now[name]
	previous, known := u.was[name]
	if !here || !known {
		return current, before, false
	}
	return current, u.step.Before.Columns[previous], true
}

func (u *undoing) rewrite() rewrite {
	before := u.step.Before
	d := &domain.Domain{Constraints: before.Constraints, History: append([]domain.Transform(nil),
		u.h.Domain.History[:len(u.h.Domain.History)-1]...)}
	var each []func(randomness) maker
	for i, c := range u.h.Domain.Columns {
		if u.gone[i] {
			continue
		}
		one := func(randomness) maker { return keep(i) }
		if to, ok := u.changed[i]; ok {
			c, one = to.column, to.make
		}
		d.Columns, each = append(d.Columns, c), append(each, one)
	}
	d.Carry(before)
	return rewrite{out: pipeline.TableHeader(d, u.h), draws: u.draws, makers: func(random randomness) []maker {
		list := make([]maker, len(each))
		for i, one := range each {
			list[i] = one(random)
		}
		return list
	}}
}

// restore brings a real number back to a value that column c can hold: rounded
// to its step (counted from the lower bound; whole numbers and codes have step
// 1), half to even, and clipped to its bounds. Not a number becomes the lower
// bound, or 0 where there is none.
type restore struct {
	step, per     float64 // per is 1/step where that is whole, else 0
	origin        float64
	least, utmost float64
	boolean       bool
	first, last   float64 // least and greatest whole multiple of 1/per inside the bounds
}

// exactWhole bounds whole numbers without declared bounds: float64 holds every
// whole number up to 2^53.
const exactWhole = 1 << 53

func restoring(c domain.Column) restore {
	r := restore{step: c.Step, least: math.Inf(-1), utmost: math.Inf(1)}
	switch {
	case c.Type.Coded():
		r.step, r.least, r.utmost = 1, 0, float64(len(c.Categories)-1)
	case c.Bounds != nil:
		r.least, r.utmost, r.origin = c.Bounds[0], c.Bounds[1], c.Bounds[0]
	}
	if c.Type != domain.Numeric {
		r.least, r.utmost = math.Ceil(max(r.least, -exactWhole)), math.Floor(min(r.utmost, exactWhole))
		if r.step < 1 || r.step != math.Trunc(r.step) {
			r.step = 1
		}
		if c.Bounds != nil {
			r.origin = r.least
		}
	}
	r.boolean = c.Type == domain.Boolean
	if r.step > 0 && r.step <= 1 {
		if count := math.Round(1 / r.step); math.Abs(float64(count*r.step)-1) < 1e-9 &&
			math.Abs(float64(r.origin*count)-math.Round(r.origin*count)) < 1e-6 {
			r.per = count // steps such as 0.1: dividing whole numbers gives the nearest decimal
			r.first, r.last = multiples(r.least, r.utmost, count)
		}
	}
	return r
}

// value restores one number.
func (r restore) value(x float64) float64 {
	if math.IsNaN(x) {
		x = max(r.least, -math.MaxFloat64)
		if math.IsInf(r.least, -1) {
			x = min(0, r.utmost)
		}
	}
	switch {
	case r.boolean:
		if x >= 0.5 { // an indicator of one half says yes
			return r.utmost
		}
		return 0
	case r.per > 0:
		return min(max(math.RoundToEven(x*r.per), r.first), r.last) / r.per
	case r.step > 0:
		x = min(max(x, r.least), r.utmost)
		x = r.origin + float64(math.RoundToEven((x-r.origin)/r.step)*r.step)
		if x > r.utmost {
			x -= r.step
		}
	}
	return min(max(x, r.least), r.utmost)
}

// multiples returns the least and greatest n with n/per inside the bounds.
func multiples(least, utmost, count float64) (first, last float64) {
	first, last = math.Round(least*count), math.Round(utmost*count)
	if first/count < least {
		first++
	}
	if last/count > utmost {
		last--
	}
	return first, last
}
