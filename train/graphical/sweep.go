package graphical

import (
	"cmp"
	"context"
	"slices"

	"weir/train/parallel"
)

// defaults of Options, and of the implicit step: r is 40 variances over the mean
// standard deviation.
const (
	defaultSweeps = 60
	defaultStop   = .9
	stiffness     = 40

	// A fit whose exact tables others contradict may never come to where noise explains what is
	// left: it ends where a sweep takes less than a hundredth off the loss.
	stillAt    = .99
	stillAfter = 10
)

// fitting is a fit under way: beliefs of the model in counts, and what has been added
// to the potential of each table.
type fitting struct {
	*Model
	crew
	options Options
	targets []*target
	groups  [][]*group // by clique
	fresh   []float64  // of a separator
	now     []float64  // of a block's first table
	table   []float64  // of a group of several blocks
	by      []float64  // what its cells are multiplied by
	loss    float64    // of the sweep under way
	stiff   float64    // what the stiffness is multiplied by, in a fit to the optimum
	moved   float64    // largest step of a potential in the sweep under way

	exactOnly bool    // exact tables alone are fitted
	off       float64 // the most that a cell of them was off, in rows
}

func newFitting(m *Model, tables []Table, o Options) *fitting {
	f := &fitting{Model: m, crew: newCrew(o.Workers), options: o, stiff: 1, groups: make([][]*group, len(m.tree.nodes))}
	f.options.Stop, f.options.Sweeps = cmp.Or(o.Stop, defaultStop), cmp.Or(o.Sweeps, defaultSweeps)
	if o.Sweeps == 0 && o.Stop < 0 {
		f.options.Sweeps = optimumSweeps
	}
	mean := noise(tables)
	for _, x := range tables {
		f.targets = append(f.targets, m.target(x, mean))
	}
	largest, widest, grouped := 0, 1, 0
	blocks := make([][]*block, len(m.tree.nodes))
	for _, b := range m.blocks(f.targets) {
		blocks[b.node] = append(blocks[b.node], b)
		largest = max(largest, len(b.by))
	}
	for i, list := range blocks {
		f.groups[i] = m.groups(i, list)
		for _, g := range f.groups[i] {
			if len(g.blocks) > 1 {
				grouped = max(grouped, g.view.cells)
			}
		}
	}
	for _, n := range m.tree.nodes {
		widest = max(widest, n.sepCells)
	}
	f.fresh, f.now = make([]float64, widest), make([]float64, largest)
	f.table, f.by = make([]float64, grouped), make([]float64, grouped)
	return f
}

// run fits the tables and says how that ended.
func (f *fitting) run(ctx context.Context) (Report, error) {
	r := Report{Cells: f.measured()}
	r.Target = max(f.options.Stop, 0) * f.freedom(r.Cells) / 2
	if f.options.Stop < 0 {
		err := f.optimum(ctx, &r)
		return r, err
	}
	for r.Sweeps < f.options.Sweeps {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		f.loss = 0
		f.visit(0)
		still := f.options.Lenient && r.Sweeps >= stillAfter && f.loss > stillAt*r.Loss
		if r.Sweeps, r.Loss = r.Sweeps+1, f.loss; f.loss <= r.Target || still {
			break
		}
	}
	return r, nil
}

// measured counts the cells that have a say in the loss.
func (f *fitting) measured() (cells int) {
	for _, t := range f.targets {
		for _, w := range t.weight {
			if w > 0 {
				cells++
			}
		}
	}
	return cells
}

// freedom returns the measured cells less one for each noisy table, whose total is known, and less
// what exact tables of one column say of it.
func (f *fitting) freedom(cells int) float64 {
	for _, t := range f.targets {
		if t.exact {
			continue
		}
		cells--
		for _, e := range f.targets {
			if e.exact && len(e.vars) == 1 && e.vars.within(t.vars) {
				cells -= len(e.y) - 1
			}
		}
	}
	return float64(max(cells, 0))
}

// visit improves a clique and those below it, and passes messages on the way.
func (f *fitting) visit(i int) {
	for _, g := range f.groups[i] {
		if g.exact || !f.exactOnly {
			f.improve(g)
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
func (f *fitting) pass(sep int, out, in *view, from, end int) {
	fresh, old := f.fresh[:len(f.seps[sep])], f.seps[sep]
	f.sum(out, f.beliefs[from], fresh)
	for k, x := range fresh {
		ratio := 0.0
		if old[k] > 0 {
			ratio = x / old[k]
		}
		old[k], fresh[k] = x, ratio
	}
	f.scale(in, f.beliefs[end], fresh)
}

// improve moves the model towards the tables of a group, block after block.
func (f *fitting) improve(g *group) {
	cells := f.beliefs[g.node]
	if len(g.blocks) == 1 {
		b := g.blocks[0]
		f.sum(&g.view, cells, b.first.count)
		f.move(b)
		f.scale(&g.view, cells, b.by)
		return
	}
	table, keys := f.table[:g.view.cells], f.by[:g.view.cells]
	f.sum(&g.view, cells, table)
	fill(keys, 1)
	for _, b := range g.blocks {
		b.view.sum(table, b.first.count)
		f.move(b)
		b.view.scale(table, b.by)
		b.view.scale(keys, b.by)
	}
	f.scale(&g.view, cells, keys)
}

// move sets b.by, the factors for the cells of a block: from the counts of its first table it takes a step towards
// each of its tables in turn, and does so twice.
func (f *fitting) move(b *block) {
	current := f.now[:copy(f.now, b.first.count)]
	f.loss += b.first.loss()
	for _, t := range b.inside {
		t.view.sum(current, t.count)
		f.loss += t.loss()
	}
	fill(b.by, 1)
	for range 2 {
		copy(b.first.count, current)
		f.step(b.first)
		multiply(current, b.first.count)
		multiply(b.by, b.first.count)
		for _, t := range b.inside {
			t.view.sum(current, t.count)
			f.step(t)
			t.view.scale(current, t.count)
			t.view.scale(b.by, t.count)
		}
	}
}

// step moves the counts towards y and adds the step to the potential: count becomes
// what each cell is multiplied by, such that the sum stays total.
func (f *fitting) step(t *target) {
	switch {
	case t.exact:
		f.off = max(f.off, t.scaleTo())
	case f.exactOnly:
		fill(t.count, 1)
	case t.theta != nil:
		f.moved = max(f.moved, t.settle(f.total, f.stiff))
	default:
		t.near(f.total)
	}
}

func fill(a []float64, x float64) {
	for i := range a {
		a[i] = x
	}
}

// crew shares the cells of large tables among workers. How a table is cut does not
// depend on their number, so neither do the bits of a sum.
type crew struct {
	workers int
	sums    []float64 // of the pieces of a table
}

const (
	sharedCells = 1 << 17 // a smaller table is not worth a second worker
	pieces      = 8
)

func newCrew(workers int) crew {
	if workers <= 0 {
		workers = parallel.Workers(pieces)
	}
	return crew{workers: workers}
}

// shared reports whether a table is cut: sums of the pieces must be small beside it.
func shared(v *view, table []float64) bool {
	return len(table) >= sharedCells && len(v.outer) >= pieces && v.cells <= len(table)/(8*pieces)
}

func (c *crew) sum(v *view, table, part []float64) {
	if !shared(v, table) {
		v.sum(table, part)
		return
	}
	c.sums = slices.Grow(c.sums[:0], pieces*len(part))[:pieces*len(part)]
	sums := c.sums
	clear(sums)
	parallel.Do(c.workers, pieces, func(_, i int) {
		own := sums[i*len(part) : (i+1)*len(part)]
		v.sumRows(table, own, i*len(v.outer)/pieces, (i+1)*len(v.outer)/pieces)
	})
	clear(part)
	for i := range pieces {
		for k, x := range sums[i*len(part) : (i+1)*len(part)] {
			part[k] += x
		}
	}
}

func (c *crew) scale(v *view, table, part []float64) {
	if len(table) < sharedCells || len(v.outer) < pieces {
		v.scale(table, part)
		return
	}
	parallel.Do(c.workers, pieces, func(_, i int) {
		v.scaleRows(table, part, i*len(v.outer)/pieces, (i+1)*len(v.outer)/pieces)
	})
}
