package report

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/record/report"
	"weir/stages/internal/columns"
	"weir/stages/internal/metric/association"
	"weir/train/parallel"
)

// Bounds on what is done to tell changes of associations from chance. Only pairs that changed most are judged, since no
// others are listed; more rows than these have little chance left in them.
const (
	mostJudged = 20
	deals      = 199
	mostDealt  = 1500 // rows of the smaller table
	timesDealt = 4    // as many rows of the other one at most
)

// falseAlarm is the probability that the greatest of as many normal changes as there are pairs is beyond the limit.
const falseAlarm = 0.02

// beyondChance tells which associations changed by more than as many fresh real rows would. The rows of both tables are
// dealt to two tables at random. A change counts where it is further from the mean of dealt changes, in their standard
// deviations, than in any deal, and than the greatest of as many normal ones as there are pairs would be with a
// probability of falseAlarm. In small test parts pairs of rare categories have associations that are chance alone.
//
// It is a filter of a list, and no test: changes of rare categories are not normal, so that one in ten tables of one law with
// ten rare flags and 86 rows lists a pair (10 of 100, TestChanceIsNotListed), where all would.
func beyondChance(ctx context.Context, env *pipeline.Env, frames map[string]*columns.Frame, r *report.Relations) [][]bool {
	told := make([][]bool, len(r.Names))
	for i := range told {
		told[i] = make([]bool, len(r.Names))
	}
	pairs, of := mostChanged(r)
	d := newDeal(frames, env.Rand("fresh rows of associations"))
	limit := -bitmath.NormalQuantile(falseAlarm / 2 / float64(max(1, of)))
	parallel.Do(env.Workers, len(pairs), func(_, k int) {
		if ctx.Err() != nil {
			return
		}
		p := pairs[k]
		own, dealt := d.distances(p)
		told[p[0]][p[1]] = own > max(limit, dealt)
		told[p[1]][p[0]] = told[p[0]][p[1]]
	})
	return told
}

// mostChanged lists the pairs whose association changed most, of how many.
func mostChanged(r *report.Relations) (pairs [][2]int, of int) {
	change := func(p [2]int) float64 { return math.Abs(r.Synthetic[p[0]][p[1]] - r.Real[p[0]][p[1]]) }
	for i := range r.Names {
		for j := range i {
			if p := [2]int{i, j}; !math.IsNaN(change(p)) {
				pairs = append(pairs, p)
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b [2]int) int { return cmp.Compare(change(b), change(a)) })
	return pairs[:min(mostJudged, len(pairs))], len(pairs)
}

// deal is the rows of two tables, and orders that deal them to two tables of the same sizes: the first rows to one, the
// rest to the other. The first order is the order of the tables themselves.
type deal struct {
	real, synthetic *columns.Frame
	rows            []int // below real.Rows: of the real table, else of the synthetic one
	first           int
	orders          [][]int
}

// newDeal takes no more synthetic rows than the model has learnt from: such rows vary as those do.
func newDeal(frames map[string]*columns.Frame, rng *rand.Rand) *deal {
	d := &deal{real: frames["real"], synthetic: frames["synthetic"]}
	other := d.synthetic.Rows
	if train := frames["real_train"]; train != nil && train.Rows > 0 {
		other = min(other, train.Rows)
	}
	most := min(mostDealt, d.real.Rows, other)
	d.first = min(d.real.Rows, timesDealt*most)
	d.rows = append(d.rows, rng.Perm(d.real.Rows)[:d.first]...)
	for _, i := range rng.Perm(d.synthetic.Rows)[:min(other, timesDealt*most)] {
		d.rows = append(d.rows, d.real.Rows+i)
	}
	d.orders = [][]int{d.rows}
	for range deals {
		order := slices.Clone(d.rows)
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		d.orders = append(d.orders, order)
	}
	return d
}

// distances returns by how many standard deviations the change of a pair is from the mean of changes, and the greatest
// such distance of any deal. What is undefined in a deal is no change.
func (d *deal) distances(pair [2]int) (own, greatest float64) {
	changes := make([]float64, len(d.orders))
	mean, squares := 0.0, 0.0
	for k, order := range d.orders {
		c := d.association(pair, order[:d.first]) - d.association(pair, order[d.first:])
		if math.IsNaN(c) {
			c = 0
		}
		changes[k] = c
		mean += c / float64(len(d.orders))
	}
	for _, c := range changes {
		squares += float64((c - mean) * (c - mean))
	}
	if squares == 0 {
		return 0, 0
	}
	sd := math.Sqrt(squares / float64(len(changes)))
	for k, c := range changes {
		if k > 0 {
			greatest = max(greatest, math.Abs(c-mean)/sd)
		}
	}
	return math.Abs(changes[0]-mean) / sd, greatest
}

// association returns the association of two columns among some rows of both tables.
func (d *deal) association(pair [2]int, rows []int) float64 {
	a, b := d.column(pair[0], rows), d.column(pair[1], rows)
	return association.Mixed(&a, &b)
}

func (d *deal) column(i int, rows []int) columns.Column {
	real, synthetic := &d.real.Columns[i], &d.synthetic.Columns[i]
	c := columns.Column{Name: real.Name, Type: real.Type, Categories: real.Categories}
	for _, row := range rows {
		from := real
		if row >= d.real.Rows {
			from, row = synthetic, row-d.real.Rows
		}
		if c.Coded() {
			c.Codes = append(c.Codes, from.Codes[row])
		} else {
			c.Numbers = append(c.Numbers, from.Numbers[row])
		}
	}
	return c
}
