package graphical

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// defaults of Options, and of the implicit step: r is 40 variances over the mean
// standard deviation.
const (
	defaultSweeps = 60
	defaultStop   = .9
	stiffness     = 40
)

// fitting is a fit under way: beliefs of the model in counts, and what has been added
// to the potential of each table.
type fitting struct {
	*Model
	options Options
	targets []*target
	blocks  [][]*block // by clique
	fresh   []float64  // of a separator
	loss    float64    // of the sweep under way
	scale   float64    // of the stiffness, in a fit to the optimum
	moved   float64    // largest step of a potential in the sweep under way
}

func newFitting(m *Model, tables []Table, o Options) *fitting {
	f := &fitting{Model: m, options: o, scale: 1, blocks: make([][]*block, len(m.tree.nodes))}
	f.options.Stop, f.options.Sweeps = cmp.Or(o.Stop, defaultStop), cmp.Or(o.Sweeps, defaultSweeps)
	if o.Sweeps == 0 && o.Stop < 0 {
		f.options.Sweeps = optimumSweeps
	}
	mean := noise(tables)
	for _, x := range tables {
		f.targets = append(f.targets, m.target(x, mean))
	}
	for _, b := range m.blocks(f.targets) {
		f.blocks[b.node] = append(f.blocks[b.node], b)
	}
	widest := 1
	for _, n := range m.tree.nodes {
		widest = max(widest, n.sepCells)
	}
	f.fresh = make([]float64, widest)
	return f
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
	if f.options.Stop < 0 {
		return r, f.optimum(ctx, &r)
	}
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
	for _, b := range f.blocks[i] {
		f.improve(b)
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

// improve moves the model towards the tables of a block, twice over: the clique is
// summed to the first table, and the rest happens there.
func (f *fitting) improve(b *block) {
	b.view.sum(f.beliefs[b.node], b.first.count)
	now := slices.Clone(b.first.count)
	f.loss += b.first.loss()
	for _, t := range b.inside {
		t.view.sum(now, t.count)
		f.loss += t.loss()
	}
	for k := range b.by {
		b.by[k] = 1
	}
	for range 2 {
		copy(b.first.count, now)
		f.step(b.first)
		multiply(now, b.first.count)
		multiply(b.by, b.first.count)
		for _, t := range b.inside {
			t.view.sum(now, t.count)
			f.step(t)
			t.view.scale(now, t.count)
			t.view.scale(b.by, t.count)
		}
	}
	b.view.scale(f.beliefs[b.node], b.by)
}

// step moves the counts towards y and adds the step to the potential: count becomes
// what each cell is multiplied by, such that the sum stays total.
func (f *fitting) step(t *target) {
	if t.theta != nil {
		f.moved = max(f.moved, t.settle(f.total, f.scale))
		return
	}
	sum := 0.0
	for i, m := range t.count {
		x := solve(m, t.rate[i], t.y[i])
		if x < 0 && m < nothing*f.total {
			x = 0
		}
		t.log[i] += x
		t.count[i] = math.Exp(x)
		sum += m * t.count[i]
	}
	for i := range t.count {
		t.count[i] *= f.total / sum
	}
}

func multiply(a, by []float64) {
	for i, x := range by {
		a[i] *= x
	}
}

// factors are those that the fit started from and what it added.
func (f *fitting) factors(start []factor) []factor {
	all := slices.Clone(start)
	for _, t := range f.targets {
		all = append(all, f.tree.factor(t.vars, t.log))
	}
	return all
}
