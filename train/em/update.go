package em

import (
	"math"

	"weir/internal/bitmath"
)

// update is the mixture of maximum likelihood for noisy moments of one label.
//
// A component is known where its noisy size is at least known: 4 standard deviations of
// the noise on a size, and 1. One that is not keeps its place and shape and gets no weight; a label
// of which none is known keeps all as it was, at equal weights. So a label with few rows or none is a
// mixture like any other, and noisy sizes alone decide. A mean is drawn back into the ball of the
// codes. A covariance is the nearest in Frobenius norm among those that are positive
// semidefinite and have its trace, as noise leaves the trace far better known than each
// eigenvalue; then no direction is narrower than Floor, nor wider than the
// ball.
func (f *fit) update(noisy [][]float64, was []Gaussian) []Gaussian {
	out, total := make([]Gaussian, len(was)), 0.0
	for k, block := range noisy {
		out[k] = was[k]
		out[k].Weight = 0
		if block[0] < f.known() {
			continue
		}
		if g, ok := f.component(block); ok {
			out[k] = g
			total += g.Weight
		}
	}
	for k := range out {
		if out[k].Weight /= total; total == 0 {
			out[k].Weight = 1 / float64(len(out))
		}
	}
	return out
}

func (f *fit) known() float64 { return math.Max(1, 4*f.sigma/f.unit) }

// component has its noisy size for a weight.
func (f *fit) component(block []float64) (g Gaussian, ok bool) {
	g = Gaussian{Weight: block[0], Mean: make([]float64, f.Dim)}
	second := make([][]float64, f.Dim)
	at := 1
	for i := range second {
		second[i] = make([]float64, f.Dim)
		g.Mean[i] = f.Radius * (block[at] / g.Weight)
		second[i][i] = f.Radius * f.Radius * (block[at+1] / g.Weight)
		at += 2
		for j := range i {
			second[i][j] = f.Radius * f.Radius * (block[at] / (g.Weight * math.Sqrt2))
			second[j][i] = second[i][j]
			at++
		}
	}
	inside(g.Mean, f.Radius)
	for i := range second {
		for j := range second {
			second[i][j] -= float64(g.Mean[i] * g.Mean[j])
		}
	}
	if second, ok = f.project(second); ok {
		g.Factor, ok = factored(second)
	}
	return g, ok
}

// inside shortens x to length radius.
func inside(x []float64, radius float64) {
	if norm := math.Sqrt(bitmath.Dot(x, x)); norm > radius {
		for i := range x {
			x[i] *= radius / norm
		}
	}
}

// project is the covariance for a noisy symmetric matrix, which it uses up.
func (f *fit) project(noisy [][]float64) (to [][]float64, ok bool) {
	trace := 0.0
	for i := range noisy {
		trace += noisy[i][i]
	}
	values, vectors, ok := bitmath.SymmetricEigen(noisy)
	cut(values, trace)
	for range values {
		to = append(to, make([]float64, len(values)))
	}
	for k, v := range vectors {
		variance := math.Min(math.Max(values[k], f.Floor*f.Floor), f.Radius*f.Radius)
		for i := range to {
			for j := range to {
				to[i][j] += float64(variance * v[i] * v[j])
			}
		}
	}
	return to, ok
}

// cut moves rising values to the nearest point that is not negative and adds up to
// total: each less one number, and 0 where that is negative (Held, Wolfe, Crowder 1974).
// All are 0 where total is not positive.
func cut(values []float64, total float64) {
	sum, less := 0.0, math.Inf(1)
	for i := len(values) - 1; i >= 0 && total > 0; i-- {
		sum += values[i]
		if next := (sum - total) / float64(len(values)-i); values[i] > next {
			less = next
		}
	}
	for i, v := range values {
		values[i] = math.Max(v-less, 0)
	}
}
