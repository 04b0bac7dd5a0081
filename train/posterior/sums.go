package posterior

import "math"

// sums are weighted sums over the rows of a chunk that lie in one stratum, by component.
type sums struct {
	rows    int
	all     []float64 // of the responsibilities
	weights []float64 // of the gradients for the logits of the weights
	codes   []float64 // of the responsibilities of rows that have a code, as table.logp
	numbers []float64 // of the gradients for the two parameters of numbers
}

func newSums(m Mixture) sums {
	t := newTable(m)
	return sums{all: make([]float64, m.Components), weights: make([]float64, m.Components), codes: make([]float64, len(t.logp)), numbers: make([]float64, 2*len(t.numbers))}
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
	s, cells := k.at(i)
	t, to, places := k.tables[s], &k.sums[s], k.strata[s].Places
	share := k.norm[:t.Components] // of no use any more
	to.rows++
	for n, r := range k.share[i*k.most:][:t.Components] {
		to.weights[n] += float64(factor * (t.weights[n] - r))
		share[n] = float64(factor * r)
		to.all[n] += share[n]
	}
	for j, coded := range t.coded {
		cell := int(cells[places[j]])
		if coded {
			sum := to.codes[(t.first[j]+cell)*t.Components:][:len(share)]
			for n, r := range share {
				sum[n] += r
			}
			continue
		}
		v := &k.values[places[j]]
		if x, y := v.x[cell], v.y[cell]; !math.IsNaN(x) {
			for n, r := range share {
				at := t.first[j] + n
				first, second, _ := t.numbers[at].grad(x, y)
				to.numbers[2*at] += float64(r * first)
				to.numbers[2*at+1] += float64(r * second)
			}
		}
	}
}

// give sets to to the sum for every parameter of the stratum.
func (s *sums) give(t *table, to []float64) {
	copy(to, s.weights[:t.Components-1])
	for n := range t.Components {
		own := to[t.Components-1+n*t.each:][:t.each]
		for j, c := range t.Columns {
			s.column(t, j, n, own[t.at[j]:][:c.params()])
		}
	}
}

// column sets to to the sum for each parameter of column j in component n.
func (s *sums) column(t *table, j, n int, to []float64) {
	if !t.coded[j] {
		copy(to, s.numbers[2*(t.first[j]+n):])
		return
	}
	cell := t.first[j]*t.Components + n
	if t.Columns[j].Family == Bernoulli { // its one parameter is the logit of 1
		cell += t.Components
	}
	for code := range to {
		to[code] = float64(s.all[n]*t.prob[cell]) - s.codes[cell]
		cell += t.Components
	}
}
