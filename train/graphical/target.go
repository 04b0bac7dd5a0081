package graphical

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
)

// target is a table that the model is to meet, its axes by domain.
type target struct {
	vars      Set
	exact     bool
	y, weight []float64 // weight: 1/variance, 0 where not measured or forbidden
	rate      []float64 // r of the implicit step
	move      []float64 // step of each cell, in a fit to the optimum
	log       []float64 // what the fit has added to the potential
	theta     []float64 // the part of it of this round of a fit to the optimum, else nil
	count     []float64 // the model's cells, then what they are multiplied by
	view      view      // of this table within its block's
}

// block is a table and those within it.
type block struct {
	node   int
	view   view // of the first table within its group's
	first  *target
	inside []*target
	by     []float64 // what the cells of the first table are multiplied by
}

// exact tells whether a table of the block is.
func (b *block) exact() bool {
	return b.first.exact || slices.ContainsFunc(b.inside, func(t *target) bool { return t.exact })
}

func (m *Model) target(x Table, mean float64) *target {
	t := &target{vars: slices.Clone(x.Vars), exact: x.isExact(), y: inward(m.tree.dom, x.Vars, x.Y),
		weight: inward(m.tree.dom, x.Vars, x.Var)}
	t.rate, t.log = make([]float64, len(t.y)), make([]float64, len(t.y))
	t.count = m.part(m.tree.holder(x.Vars), x.Vars).cells
	for i, v := range t.weight {
		t.rate[i], t.weight[i] = stiffness*v/mean, 1/v
		if t.exact {
			t.rate[i], t.weight[i] = 0, 0
		}
		if t.count[i] == 0 {
			t.rate[i], t.weight[i] = math.Inf(1), 0
		}
	}
	return t
}

// noise returns the geometric mean of the standard deviations of all measured cells.
func noise(tables []Table) float64 {
	sum, cells := 0.0, 0
	for _, t := range tables {
		for _, v := range t.Var {
			if v > 0 && v < math.Inf(1) {
				sum, cells = sum+float64(bitmath.Log(v)/2), cells+1
			}
		}
	}
	return bitmath.Exp(sum / float64(max(cells, 1)))
}

// blocks puts every table with the smallest of the larger tables that hold it.
func (m *Model) blocks(targets []*target) []*block {
	order := slices.Clone(targets)
	slices.SortStableFunc(order, func(a, b *target) int { return cmp.Compare(len(b.y), len(a.y)) })
	var all []*block
	for _, t := range order {
		pos := -1
		for i, b := range all {
			if t.vars.within(b.first.vars) {
				pos = i
			}
		}
		if pos < 0 {
			all = append(all, m.block(t))
			continue
		}
		t.view = partOf(m.tree.dom, byDomain(m.tree.dom, all[pos].first.vars), t.vars)
		all[pos].inside = append(all[pos].inside, t)
	}
	return all
}

func (m *Model) block(t *target) *block {
	return &block{node: m.tree.holder(t.vars), first: t, by: make([]float64, len(t.y))}
}

// loss returns half the sum of squares over variances, at the counts.
func (t *target) loss() float64 {
	sum := 0.0
	for i, w := range t.weight {
		if d := t.count[i] - t.y[i]; w > 0 {
			sum += float64(w * d * d)
		}
	}
	return float64(sum / 2)
}

// near takes the implicit step, each cell by itself; what the sum gains or loses by it
// goes to all cells alike.
func (t *target) near(total float64) {
	sum := 0.0
	for i, m := range t.count {
		x := solve(m, t.rate[i], t.y[i])
		if x < 0 && m < nothing*total {
			x = 0
		}
		t.log[i] += x
		t.count[i] = bitmath.Exp(x)
		sum += float64(m * t.count[i])
	}
	for i := range t.count {
		t.count[i] *= total / sum
	}
}

// nothing is the share of the total below which a cell of a table is let be.
const nothing = 1e-20

// solve finds x of m e^x + r x = y, at most 3 from 0. The left side is convex, so that
// Newton's steps come down to the root from the right after the first.
func solve(m, r, y float64) float64 {
	if m == 0 || r > math.MaxFloat64 {
		return 0
	}
	x := min(max((y-m)/(m+r), -3), 3)
	for range 8 {
		e := float64(m * bitmath.Exp(x))
		next := min(max(x-(e+float64(r*x)-y)/(e+r), -3), 3)
		if math.Abs(next-x) < 1e-6 {
			return next
		}
		x = next
	}
	return x
}

// settle takes the exact step of one table in a round of a fit to the optimum: with r
// the stiffness and theta what the round has added to the potential, it finds the
// counts m e^x, which sum to the total, such that theta + x + s is (y - m e^x)/r in
// every cell, for the one shift s at which the sum is right. It returns the largest
// step.
func (t *target) settle(total, scale float64) float64 {
	s, moved := t.shift(total, scale), 0.0
	t.shifted(total, s, scale)
	for i, x := range t.move {
		if t.count[i] == 0 {
			t.count[i] = 1
			continue
		}
		t.theta[i] += x + s
		t.log[i] += x
		t.count[i] = bitmath.Exp(x)
		moved = max(moved, math.Abs(x))
	}
	return moved
}

// shift finds the shift by Newton's method, kept between bounds on it.
func (t *target) shift(total, scale float64) float64 {
	low, high, s := math.Inf(-1), math.Inf(1), 0.0
	for range 100 {
		sum, slope := t.shifted(total, s, scale)
		if math.Abs(sum-total) <= 1e-13*total {
			break
		}
		if sum > total {
			low = s
		} else {
			high = s
		}
		next := s + (sum-total)/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if s = next; high-low <= 1e-15*math.Abs(s) {
			break
		}
	}
	return s
}

// shifted finds the steps for a shift; it returns the sum of counts that they give and
// how fast it falls with the shift.
func (t *target) shifted(total, s, scale float64) (sum, slope float64) {
	for i, m := range t.count {
		if t.move[i] = 0; m == 0 {
			continue
		}
		r, least := float64(t.rate[i]*scale), min(bitmath.Log(nothing*total/m), 0)
		measured := r <= math.MaxFloat64
		if t.move[i] = -t.theta[i] - s; measured { // else it has no potential of its own
			t.move[i] = root(m, r, t.y[i]-float64(r*(t.theta[i]+s)))
		}
		e := float64(m * bitmath.Exp(max(t.move[i], least)))
		sum += e
		switch {
		case t.move[i] < least:
			t.move[i] = least
		case measured:
			slope += e * r / (e + r)
		default:
			slope += e
		}
	}
	return sum, slope
}

// root returns x of m e^x + r x = y to rounding. Newton's steps from the right of the root
// of a convex function never pass it.
func root(m, r, y float64) float64 {
	x := min(0, y/r)
	if y > m {
		x = min(bitmath.Log(y/m), (y-m)/(m+r))
	}
	for range 200 {
		e := float64(m * bitmath.Exp(x))
		d := (e + float64(r*x) - y) / (e + r)
		if x -= d; d <= 1e-14*(1+math.Abs(x)) {
			break
		}
	}
	return x
}

// carry starts the next round with what this one added beyond its due, (y - m)/r: so
// that rounds that stop before their end do not add up to a bias.
func (t *target) carry(total, scale float64) {
	for i, m := range t.count {
		if t.weight[i] == 0 || m <= 2*nothing*total {
			t.theta[i] = 0
			continue
		}
		t.theta[i] -= (t.y[i] - m) / (t.rate[i] * scale)
	}
}

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
func (x Table) checkExact(path string, total float64) error {
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
		return fmt.Errorf("%s.Var: is 0 in %d of %d cells, must be 0 in all or none", path, exact, len(x.Var))
	case !(math.Abs(sum-total) <= 1e-9*total):
		return fmt.Errorf("%s: is exact and sums to %g, must sum to the total %g", path, sum, total)
	}
	return nil
}

// zeros returns the masks of the cells that exact tables say are empty.
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
