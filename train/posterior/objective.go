package posterior

import (
	"fmt"
	"math"

	"weir/internal/portable"
	"weir/train"
	"weir/train/parallel"
)

// Stratum is the mixture of the rows of one stratum. Places says of each of its columns
// which values they are: what is fixed in a stratum is no column of its mixture.
type Stratum struct {
	Mixture
	Places []int
}

// Objective is minus the log likelihood of rows, each under the mixture of its stratum. The
// parameters are those of stratum 0, then of stratum 1, and so on.
//
// A row's gradient is zero but for the parameters of its own stratum, and a clip covers all
// parameters. So a row moves a clipped sum by at most the clip, and one that is replaced by
// at most two, also where its stratum changes: then it is one removal and one addition. No
// stratum is sampled at a rate of its own, and nobody needs to know the size of one.
//
// Rows are worked on in float64. What a row adds is a function of that row and the
// parameters. Sums of up to 128 rows (a chunk) go to float32 once: with a row's parts at most
// 2^22.5 clips long (see Squares), 128 additions err by less than 2^-16 clips, of the 2^-10
// that the lattice of train.DPSGD pays for.
type Objective struct {
	strata []Stratum
	tables []*table
	from   []int // first parameter of each stratum
	values []values
	cells  []uint16 // of all columns, row by row: a batch meets rows at random, each in one run
	of     []uint16
	theta  []float64
}

// values are the features of the numbers of a column.
type values struct {
	read bool
	of   Column
	x, y []float64
}

// New returns the objective of rows with the given values and strata.
func New(strata []Stratum, columns []Values, of []uint16) (*Objective, error) {
	o := &Objective{strata: strata, of: of, values: make([]values, len(columns)), cells: make([]uint16, len(of)*len(columns))}
	for _, s := range of {
		if int(s) >= len(strata) {
			return nil, fmt.Errorf("strata: a row is outside 0 to %d", len(strata)-1)
		}
	}
	params := 0
	for i, s := range strata {
		if err := o.read(s, columns); err != nil {
			return nil, fmt.Errorf("stratum %d: %w", i, err)
		}
		o.from = append(o.from, params)
		o.tables = append(o.tables, newTable(s.Mixture))
		params += s.Params()
	}
	o.theta = make([]float64, params)
	return o, nil
}

// read takes the values that a stratum has.
func (o *Objective) read(s Stratum, columns []Values) error {
	if err := s.Check(); err != nil {
		return err
	}
	if len(s.Places) != len(s.Columns) {
		return fmt.Errorf("has %d columns and %d places", len(s.Columns), len(s.Places))
	}
	for j, c := range s.Columns {
		from, v := columns[s.Places[j]], &o.values[s.Places[j]]
		if v.read && v.of == c { // rows are looked at once, not in each stratum
			continue
		}
		if v.read {
			return fmt.Errorf("column %d: is %s, must be %s as in an earlier stratum", j, c.Family, v.of.Family)
		}
		if err := from.fit(c, len(o.of)); err != nil {
			return fmt.Errorf("column %d: %w", j, err)
		}
		v.read, v.of = true, c
		for i, cell := range from.Cells {
			o.cells[i*len(columns)+s.Places[j]] = cell
		}
		for _, number := range from.Numbers {
			x, y := features(c.Family, number)
			v.x, v.y = append(v.x, x), append(v.y, y)
		}
	}
	return nil
}

// Params implements train.Objective.
func (o *Objective) Params() int { return len(o.theta) }

// PerExample implements train.Objective: no row has a part in another's likelihood.
func (o *Objective) PerExample() (written bool, err error) { return false, nil }

// Prepare computes what all rows of a step share.
func (o *Objective) Prepare(w []float32) {
	for i, v := range w {
		o.theta[i] = float64(v)
	}
	o.set(o.theta)
}

func (o *Objective) set(theta []float64) {
	parallel.Do(parallel.Workers(len(o.tables)), len(o.tables), func(_, s int) {
		o.tables[s].set(theta[o.from[s]:][:o.strata[s].Params()])
	})
}

// Worker implements train.Objective.
func (o *Objective) Worker(rows int) train.Worker {
	k := &worker{Objective: o}
	most := 0
	for _, s := range o.strata {
		most = max(most, s.Components)
		k.sums = append(k.sums, newSums(s.Mixture))
	}
	k.share, k.norm, k.size = make([]float64, rows*most), make([]float64, most), make([]float64, most)
	k.most, k.of, k.cells = most, make([]uint16, rows), make([]uint16, rows*len(o.values))
	return k
}

// worker differentiates a chunk of rows.
type worker struct {
	*Objective
	rows       int       // of the chunk
	of, cells  []uint16  // their strata, and cells row by row
	most       int       // components of a stratum
	share      []float64 // responsibilities of components, by row
	norm, size []float64 // of one row, by component: squared norm of the gradient, and of its parts
	sums       []sums
}

// Run implements train.Worker.
func (k *worker) Run(_ []float32, index []int32, _ train.Draw, loss []float64) {
	k.gather(index)
	for i := range index {
		log := k.row(i)
		if loss != nil {
			loss[i] = -log
		}
	}
}

// gather copies the rows of a chunk together, so that the processor waits for many of them at
// once and not for one after the other.
func (k *worker) gather(index []int32) {
	k.rows = len(index)
	n := len(k.values)
	for i, row := range index {
		k.of[i] = k.Objective.of[row]
		copy(k.cells[i*n:][:n], k.Objective.cells[int(row)*n:])
	}
}

// at is the stratum of a row of the chunk, and its cells.
func (k *worker) at(i int) (stratum int, cells []uint16) {
	n := len(k.values)
	return int(k.of[i]), k.cells[i*n:][:n]
}

// row works out the responsibilities of a row, and returns its log density.
func (k *worker) row(i int) float64 {
	s, cells := k.at(i)
	t, places := k.tables[s], k.strata[s].Places
	share := k.share[i*k.most:][:t.Components]
	copy(share, t.logits)
	for j, coded := range t.coded {
		cell := int(cells[places[j]])
		if coded {
			log := t.logp[(t.first[j]+cell)*t.Components:][:len(share)]
			for n := range share {
				share[n] += log[n]
			}
			continue
		}
		v := &k.values[places[j]]
		if x, y := v.x[cell], v.y[cell]; !math.IsNaN(x) {
			for n := range share {
				share[n] += t.numbers[t.first[j]+n].log(x, y)
			}
		}
	}
	return normalise(share)
}

// length works out the squared norm of a row's gradient, and of its parts.
func (k *worker) length(i int) (square, parts float64) {
	s, cells := k.at(i)
	t, places := k.tables[s], k.strata[s].Places
	norm, size := k.norm[:t.Components], k.size[:t.Components]
	clear(norm)
	clear(size)
	for j, coded := range t.coded {
		cell := int(cells[places[j]])
		if coded {
			square := t.square[(t.first[j]+cell)*t.Components:][:len(norm)]
			for n := range norm {
				norm[n] += square[n]
			}
			continue
		}
		v := &k.values[places[j]]
		if x, y := v.x[cell], v.y[cell]; !math.IsNaN(x) {
			for n := range norm {
				first, second, parts := t.numbers[t.first[j]+n].grad(x, y)
				norm[n] += float64(first*first) + float64(second*second)
				size[n] += parts
			}
		}
	}
	return t.squares(k.share[i*k.most:][:t.Components], norm, size)
}

// squares are the squared norm of a row's gradient, and of its parts: a gradient for the
// codes of a column has parts of squares up to 2 in all.
func (t *table) squares(share, norm, size []float64) (square, parts float64) {
	coded := float64(2 * (len(t.Columns) - len(t.numbers)/t.Components))
	for n, r := range share {
		square += float64(r * r * norm[n])
		parts += float64(r * r * (size[n] + coded))
		if n < t.Components-1 {
			move, both := t.weights[n]-r, t.weights[n]+r
			square += float64(move * move)
			parts += float64(both * both)
		}
	}
	return square, parts
}

// Squares implements train.Worker. In float64 a squared norm errs by less than 2^-45 of its
// parts, and the slack of train is 2^-15 of the bound: 2^-30 of them. So a norm counts as at
// least 2^-22.5 of its parts, which bounds the error of a clipped sum too.
func (k *worker) Squares(dst, bound []float64) {
	for i := range k.rows {
		square, parts := k.length(i)
		dst[i] += square
		bound[i] += float64(parts * 0x1p-30)
	}
}

// normalise turns logarithms into shares of one, and returns the logarithm of their sum.
func normalise(logs []float64) float64 {
	top, total := logs[0], 0.0
	for _, v := range logs {
		top = max(top, v)
	}
	for n, v := range logs {
		logs[n] = portable.Exp(v - top)
		total += logs[n]
	}
	for n := range logs {
		logs[n] /= total
	}
	return top + portable.Log(total)
}
