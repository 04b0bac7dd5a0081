package learn

import "slices"

// Linear is a linear model of one or more outputs: Coef[k] and Intercept[k] of
// output k.
type Linear struct {
	Coef      [][]float64
	Intercept []float64
}

// chunk is the number of rows that are worked on at once, so that a block of
// every column stays in the cache.
const chunk = 512

// Decision is x Coef' + Intercept: a column for each output.
func (l *Linear) Decision(x Matrix) Matrix {
	d := NewMatrix(x.Rows, len(l.Coef))
	if s := x.lists(); s != nil {
		for k, w := range l.Coef {
			d.Cols[k] = s.times(append(slices.Clip(w), l.Intercept[k]))
		}
		return d
	}
	for lo := 0; lo < x.Rows; lo += chunk {
		hi := min(lo+chunk, x.Rows)
		for k, w := range l.Coef {
			out := d.Cols[k][lo:hi]
			for i := range out {
				out[i] = l.Intercept[k]
			}
			x.each(func(j int, c []float64) {
				if w[j] != 0 {
					axpy(w[j], c[lo:hi], out)
				}
			}, func(b Block) { b.add(w[b.First:b.First+b.Width], lo, out) })
		}
	}
	return d
}

// Predict is the first output.
func (l *Linear) Predict(x Matrix) []float64 { return l.Decision(x).Cols[0] }

// logit scores classes by the sigmoid of one output, or the softmax of K.
type logit struct{ Linear }

func (l *logit) Probabilities() bool { return true }

func (l *logit) Scores(x Matrix) Matrix {
	d := l.Decision(x)
	if len(d.Cols) > 1 {
		softmaxRows(d)
		return d
	}
	return twoColumns(d.Cols[0], Sigmoid)
}

func softmaxRows(d Matrix) {
	row := make([]float64, len(d.Cols))
	for i := range d.Rows {
		softmax(d.Row(i, row))
		for k, v := range row {
			d.Cols[k][i] = v
		}
	}
}

// twoColumns is (1-p, p) of p = f(z).
func twoColumns(z []float64, f func(float64) float64) Matrix {
	p := NewMatrix(len(z), 2)
	for i, v := range z {
		p.Cols[1][i] = f(v)
		p.Cols[0][i] = 1 - p.Cols[1][i]
	}
	return p
}

// margin scores by decision values: (-z, z) of one output, else one a class.
type margin struct{ Linear }

func (m *margin) Probabilities() bool { return false }

func (m *margin) Scores(x Matrix) Matrix {
	d := m.Decision(x)
	if len(d.Cols) > 1 {
		return d
	}
	return signed(d.Cols[0])
}

func signed(z []float64) Matrix {
	s := NewMatrix(len(z), 2)
	for i, v := range z {
		s.Cols[0][i], s.Cols[1][i] = -v, v
	}
	return s
}

// Model is the linear model below the probabilities.
func (l *logit) Model() *Linear { return &l.Linear }
