package graphical

import (
	"cmp"
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
	t := &target{vars: slices.Clone(x.Vars), exact: x.isExact(), y: inward(m.tree.dom, x.Vars, x.Y), weight: inward(m.tree.dom, x.Vars, x.Var)}
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

// noise is the geometric mean of the standard deviations of all measured cells.
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
		at := -1
		for i, b := range all {
			if t.vars.within(b.first.vars) {
				at = i
			}
		}
		if at < 0 {
			all = append(all, m.block(t))
			continue
		}
		t.view = partOf(m.tree.dom, byDomain(m.tree.dom, all[at].first.vars), t.vars)
		all[at].inside = append(all[at].inside, t)
	}
	return all
}

func (m *Model) block(t *target) *block {
	return &block{node: m.tree.holder(t.vars), first: t, by: make([]float64, len(t.y))}
}

// loss is half the sum of squares over variances, at the counts.
func (t *target) loss() float64 {
	sum := 0.0
	for i, w := range t.weight {
		if d := t.count[i] - t.y[i]; w > 0 {
			sum += float64(w * d * d)
		}
	}
	return float64(sum / 2)
}

// near is the implicit step, each cell by itself; what the sum gains or loses by it
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
