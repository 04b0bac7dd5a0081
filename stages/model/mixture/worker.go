package mixture

import (
	"math"

	"weir/internal/bitmath"
	"weir/train"
)

// Worker implements train.Objective.
func (o *Objective) Worker(rows int) train.Worker {
	k := &worker{Objective: o}
	most, params := 0, 0
	for _, s := range o.strata {
		most, params = max(most, s.Components), max(params, s.Params())
		k.sums = append(k.sums, newSums(s.MixtureShape))
	}
	k.share, k.norm, k.size = make([]float64, rows*most), make([]float64, most), make([]float64, most)
	k.total = make([]float64, params)
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
	total      []float64 // of one stratum, by parameter
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

// stratumOf returns the stratum of a row of the chunk, and its cells.
func (k *worker) stratumOf(i int) (stratum int, cells []uint16) {
	n := len(k.values)
	return int(k.of[i]), k.cells[i*n:][:n]
}

// row works out the responsibilities of a row, and returns its log density.
func (k *worker) row(i int) float64 {
	s, cells := k.stratumOf(i)
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
	s, cells := k.stratumOf(i)
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

// squares returns the squared norm of a row's gradient, and of its parts: a gradient for the
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
		logs[n] = bitmath.Exp(v - top)
		total += logs[n]
	}
	for n := range logs {
		logs[n] /= total
	}
	return top + bitmath.Log(total)
}

// sums are weighted sums over the rows of a chunk that lie in one stratum, by component.
type sums struct {
	rows    int
	all     []float64 // of the responsibilities
	weights []float64 // of the gradients for the logits of the weights
	codes   []float64 // of the responsibilities of rows that have a code, as table.logp
	numbers []float64 // of the gradients for the two parameters of numbers
}

func newSums(m MixtureShape) sums {
	t := newTable(m)
	return sums{all: make([]float64, m.Components), weights: make([]float64, m.Components),
		codes: make([]float64, len(t.logp)), numbers: make([]float64, 2*len(t.numbers))}
}

func (s *sums) clear() {
	s.rows = 0
	clear(s.all)
	clear(s.weights)
	clear(s.codes)
	clear(s.numbers)
}

// Accumulate implements train.Worker. Of a code every row of a component adds the same but
// for its own code, so that a row costs as many additions as it has columns and components,
// and the parameters are met once.
func (k *worker) Accumulate(grad, scale []float32) {
	for s := range k.sums {
		k.sums[s].clear()
	}
	for i := range k.rows {
		factor := 1.0
		if scale != nil {
			factor = float64(scale[i])
		}
		if factor != 0 {
			k.add(i, factor)
		}
	}
	for s := range k.sums {
		if k.sums[s].rows == 0 {
			continue
		}
		total := k.total[:k.strata[s].Params()]
		k.sums[s].give(k.tables[s], total)
		own := grad[k.from[s]:][:len(total)]
		for at, v := range total {
			own[at] += float32(v)
		}
	}
}

// add adds factor times the gradient of a row.
func (k *worker) add(i int, factor float64) {
	s, cells := k.stratumOf(i)
	t, dest, places := k.tables[s], &k.sums[s], k.strata[s].Places
	share := k.norm[:t.Components] // of no use any more
	dest.rows++
	for n, r := range k.share[i*k.most:][:t.Components] {
		dest.weights[n] += float64(factor * (t.weights[n] - r))
		share[n] = float64(factor * r)
		dest.all[n] += share[n]
	}
	for j, coded := range t.coded {
		cell := int(cells[places[j]])
		if coded {
			sum := dest.codes[(t.first[j]+cell)*t.Components:][:len(share)]
			for n, r := range share {
				sum[n] += r
			}
			continue
		}
		v := &k.values[places[j]]
		if x, y := v.x[cell], v.y[cell]; !math.IsNaN(x) {
			for n, r := range share {
				pos := t.first[j] + n
				first, second, _ := t.numbers[pos].grad(x, y)
				dest.numbers[2*pos] += float64(r * first)
				dest.numbers[2*pos+1] += float64(r * second)
			}
		}
	}
}

// give sets to to the sum for every parameter of the stratum.
func (s *sums) give(t *table, dst []float64) {
	copy(dst, s.weights[:t.Components-1])
	for n := range t.Components {
		own := dst[t.Components-1+n*t.each:][:t.each]
		for j, c := range t.Columns {
			s.column(t, j, n, own[t.at[j]:][:c.params()])
		}
	}
}

// column sets to to the sum for each parameter of column j in component n.
func (s *sums) column(t *table, j, n int, dst []float64) {
	if !t.coded[j] {
		copy(dst, s.numbers[2*(t.first[j]+n):])
		return
	}
	cell := t.first[j]*t.Components + n
	if t.Columns[j].Family == Bernoulli { // its one parameter is the logit of 1
		cell += t.Components
	}
	for code := range dst {
		dst[code] = float64(s.all[n]*t.prob[cell]) - s.codes[cell]
		cell += t.Components
	}
}
