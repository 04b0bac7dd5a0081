package learn

import (
	"context"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
)

// MLP is a net of one hidden layer of rectified units, trained by Adam on
// cross-entropy (MLPClassifier): Hidden units, Epochs at most, rate 0.001,
// batches of 200, L2 penalty Alpha/2 |W|^2 a batch, and an end after ten epochs
// without a gain of 1e-4 in the loss. Inputs should be standardised.
type MLP struct {
	Hidden, Epochs int
	Alpha          float64
}

// mlpBatch, rate and moments are sklearn's defaults.
const (
	mlpBatch    = 200
	mlpRate     = 1e-3
	mlpBeta1    = 0.9
	mlpBeta2    = 0.999
	mlpGain     = 1e-4
	mlpPatience = 10
)

// dense is one layer: out x in weights, row-major, and biases; with its moments.
type dense struct {
	in, out int
	w, b    []float64
	gw, gb  []float64
	mw, mb  []float64
	vw, vb  []float64
}

func newDense(in, out int, rng *rand.Rand) *dense {
	d := &dense{in: in, out: out}
	for _, v := range []*[]float64{&d.w, &d.gw, &d.mw, &d.vw} {
		*v = make([]float64, in*out)
	}
	for _, v := range []*[]float64{&d.b, &d.gb, &d.mb, &d.vb} {
		*v = make([]float64, out)
	}
	bound := math.Sqrt(6 / float64(in+out)) // Glorot, Bengio 2010
	for i := range d.w {
		d.w[i] = bound * (float64(2*float64(rng.Float64())) - 1)
	}
	for i := range d.b {
		d.b[i] = bound * (float64(2*float64(rng.Float64())) - 1)
	}
	return d
}

// forward returns x w' + b for n rows.
func (d *dense) forward(x []float64, n int) []float64 {
	y := make([]float64, n*d.out)
	for i := range n {
		copy(y[i*d.out:], d.b)
	}
	addTransposed(y, x, d.w, n, d.in, d.out)
	return y
}

// backward sets the gradients from the gradients of the outputs.
func (d *dense) backward(x, dy []float64, n int, alpha float64) {
	for i, w := range d.w {
		d.gw[i] = alpha / float64(n) * w
	}
	addCrossed(d.gw, 1/float64(n), dy, x, n, d.out, d.in)
	clear(d.gb)
	for i := range n {
		axpy(1/float64(n), dy[i*d.out:(i+1)*d.out], d.gb)
	}
}

func (d *dense) adam(step float64) {
	adam(d.w, d.gw, d.mw, d.vw, step)
	adam(d.b, d.gb, d.mb, d.vb, step)
}

func adam(w, g, m, v []float64, step float64) {
	for i, x := range g {
		m[i] = float64(mlpBeta1*m[i]) + float64((1-mlpBeta1)*x)
		v[i] = float64(mlpBeta2*v[i]) + float64((1-mlpBeta2)*x*x)
		w[i] -= step * m[i] / (math.Sqrt(v[i]) + 1e-8)
	}
}

type mlp struct{ first, second *dense }

// Fit implements Classifier.
func (s MLP) Fit(ctx context.Context, x Matrix, y Labels, run Run) (Scorer, error) {
	p := max(len(x.Cols), 1)
	net := &mlp{newDense(p, s.Hidden, run.Rand), newDense(s.Hidden, y.Classes, run.Rand)}
	order, best, stale, t := run.Rand.Perm(x.Rows), math.Inf(1), 0, 0
	for range s.Epochs {
		run.Rand.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
		loss := 0.0
		for lo := 0; lo < len(order); lo += mlpBatch {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			t++
			loss += net.step(x, y, order[lo:min(lo+mlpBatch, len(order))], s.Alpha, t)
		}
		loss /= float64(len(order))
		if stale++; loss < best-mlpGain {
			stale = 0
		}
		if best = min(best, loss); stale > mlpPatience {
			break
		}
	}
	return net, nil
}

// step trains on the rows and returns the sum of their losses.
func (m *mlp) step(x Matrix, y Labels, rows []int, alpha float64, t int) float64 {
	n, k := len(rows), m.second.out
	in := gather(x, rows, m.first.in)
	hidden := m.first.forward(in, n)
	rectify(hidden)
	out := m.second.forward(hidden, n)
	loss := float64(alpha / 2 * (dot(m.first.w, m.first.w) + dot(m.second.w, m.second.w)))
	for i, r := range rows {
		z := out[i*k : (i+1)*k]
		loss += logSumExp(z) - z[y.Y[r]]
		softmax(z)
		z[y.Y[r]]--
	}
	m.second.backward(hidden, out, n, alpha)
	back := make([]float64, n*m.second.in)
	addProduct(back, 1, out, m.second.w, n, k, m.second.in)
	for i, h := range hidden {
		if h <= 0 {
			back[i] = 0
		}
	}
	m.first.backward(in, back, n, alpha)
	step := mlpRate * math.Sqrt(1-bitmath.Pow(mlpBeta2, float64(t))) / (1 - bitmath.Pow(mlpBeta1, float64(t)))
	m.first.adam(step)
	m.second.adam(step)
	return loss
}

func gather(x Matrix, rows []int, p int) []float64 {
	in := make([]float64, len(rows)*p)
	if len(x.Cols) > 0 {
		x.Take(rows).rows(0, len(rows), p, in)
	}
	return in
}

func rectify(h []float64) {
	for i, v := range h {
		h[i] = max(v, 0)
	}
}

func (m *mlp) Probabilities() bool { return true }

func (m *mlp) Scores(x Matrix) Matrix {
	s, rows := NewMatrix(x.Rows, m.second.out), make([]int, 0, chunk)
	for lo := 0; lo < x.Rows; lo += chunk {
		rows = rows[:0]
		for i := lo; i < min(lo+chunk, x.Rows); i++ {
			rows = append(rows, i)
		}
		hidden := m.first.forward(gather(x, rows, m.first.in), len(rows))
		rectify(hidden)
		out := m.second.forward(hidden, len(rows))
		for i := range rows {
			z := out[i*m.second.out : (i+1)*m.second.out]
			softmax(z)
			for k, v := range z {
				s.Cols[k][lo+i] = v
			}
		}
	}
	return s
}
