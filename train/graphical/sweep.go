package graphical

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// defaults of Options.
const (
	defaultSweeps = 60
	defaultStop   = .9
)

// fitting is a fit under way: beliefs of the model in counts, and what has been added
// to the potential of each table.
type fitting struct {
	*Model
	options Options
	byNode  [][]*target
	targets []*target
	fresh   []float64 // of a separator
	loss    float64   // of the sweep under way
}

// target is a table that the model is to meet, in the order of its clique's axes.
type target struct {
	factor
	y, weight []float64 // weight: 1/variance, 0 where not measured or forbidden
	rate      []float64 // r of the implicit step
	count     []float64 // the model's
}

func newFitting(m *Model, tables []Table, o Options) *fitting {
	f := &fitting{Model: m, options: o, byNode: make([][]*target, len(m.tree.nodes))}
	f.options.Sweeps, f.options.Stop = cmp.Or(o.Sweeps, defaultSweeps), cmp.Or(o.Stop, defaultStop)
	mean := noise(tables)
	for _, x := range tables {
		t := &target{factor: m.tree.factor(x.Vars, make([]float64, len(x.Y)))}
		t.y, t.count = inward(m.tree.dom, x.Vars, x.Y), make([]float64, len(x.Y))
		t.weight, t.rate = inward(m.tree.dom, x.Vars, x.Var), make([]float64, len(x.Y))
		t.view.sum(m.beliefs[t.node], t.count)
		for i, v := range t.weight {
			if t.rate[i], t.weight[i] = 40*v/mean, 1/v; t.count[i] == 0 {
				t.rate[i], t.weight[i] = math.Inf(1), 0
			}
		}
		f.targets, f.byNode[t.node] = append(f.targets, t), append(f.byNode[t.node], t)
	}
	for _, list := range f.byNode {
		slices.SortStableFunc(list, func(a, b *target) int { return cmp.Compare(len(b.y), len(a.y)) })
	}
	widest := 1
	for _, n := range m.tree.nodes {
		widest = max(widest, n.sepCells)
	}
	f.fresh = make([]float64, widest)
	return f
}

// noise is the geometric mean of the standard deviations of all measured cells.
func noise(tables []Table) float64 {
	sum, cells := 0.0, 0
	for _, t := range tables {
		for _, v := range t.Var {
			if v > 0 && v < math.Inf(1) {
				sum, cells = sum+math.Log(v)/2, cells+1
			}
		}
	}
	return math.Exp(sum / float64(max(cells, 1)))
}

func (f *fitting) run(ctx context.Context) (Report, error) {
	r := Report{}
	for _, t := range f.targets {
		for _, w := range t.weight {
			if w > 0 {
				r.Cells++
			}
		}
	}
	r.Target = f.options.Stop * float64(r.Cells-len(f.targets)) / 2
	for r.Sweeps < f.options.Sweeps {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		f.loss = 0
		f.visit(0)
		r.Sweeps, r.Loss = r.Sweeps+1, f.loss
		if f.loss <= r.Target {
			break
		}
	}
	return r, nil
}

// visit improves a clique and those below it, and passes messages on the way.
func (f *fitting) visit(i int) {
	for pass := range 2 {
		for _, t := range f.byNode[i] {
			f.improve(t, pass == 0)
		}
	}
	for _, c := range f.tree.nodes[i].children {
		n := &f.tree.nodes[c]
		f.pass(c, &n.above, &n.own, i, c)
		f.visit(c)
		f.pass(c, &n.own, &n.above, c, i)
	}
}

// pass sends what one clique believes of a separator to the clique on its other side.
func (f *fitting) pass(sep int, out, in *view, from, to int) {
	fresh, old := f.fresh[:len(f.seps[sep])], f.seps[sep]
	out.sum(f.beliefs[from], fresh)
	for k, x := range fresh {
		ratio := 0.0
		if old[k] > 0 {
			ratio = x / old[k]
		}
		old[k], fresh[k] = x, ratio
	}
	in.scale(f.beliefs[to], fresh)
}

// improve moves the model towards one table.
func (f *fitting) improve(t *target, first bool) {
	t.view.sum(f.beliefs[t.node], t.count)
	if first {
		f.loss += t.loss()
	}
	sum := 0.0
	for i, m := range t.count {
		x := solve(m, t.rate[i], t.y[i])
		t.log[i] += x
		t.count[i] = math.Exp(x)
		sum += m * t.count[i]
	}
	for i := range t.count {
		t.count[i] *= f.total / sum
	}
	t.view.scale(f.beliefs[t.node], t.count)
}

func (t *target) loss() float64 {
	sum := 0.0
	for i, w := range t.weight {
		if d := t.count[i] - t.y[i]; w > 0 {
			sum += w * d * d
		}
	}
	return sum / 2
}

// solve finds x of m e^x + r x = y, at most 3 from 0. The left side is convex, so that
// Newton's steps come down to the root from the right after the first.
func solve(m, r, y float64) float64 {
	if m == 0 || math.IsInf(r, 1) {
		return 0
	}
	x := 0.0
	for range 6 {
		e := m * math.Exp(x)
		x = min(max(x-(e+r*x-y)/(e+r), -3), 3)
	}
	return x
}

// factors are those that the fit started from and what it added.
func (f *fitting) factors(start []factor) []factor {
	all := slices.Clone(start)
	for _, t := range f.targets {
		all = append(all, t.factor)
	}
	return all
}
