package learn

import (
	"context"
	"math"
)

// smo returns alpha_i y_i and rho of the decision sum alpha_i y_i k(x_i, .) - rho.
func (s RBFSVM) smo(ctx context.Context, kernel [][]float32, t []float64) ([]float64, float64, error) {
	n := len(t)
	p := &smoState{k: kernel, c: s.C, y: make([]float64, n), a: make([]float64, n), g: make([]float64, n)}
	for i := range t {
		p.y[i], p.g[i] = float64(2*t[i])-1, -1
	}
	// Far more steps than any gap of 1e-3 has taken.
	for step := range max(10000000, 100*n) {
		if step%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		i, j := p.pick()
		if j < 0 {
			break
		}
		p.update(i, j)
	}
	rho := p.rho()
	for i := range p.a {
		p.a[i] *= p.y[i]
	}
	return p.a, rho, nil
}

type smoState struct {
	k       [][]float32
	c       float64
	y, a, g []float64 // sign, weight, gradient
}

func (p *smoState) up(i int) bool   { return p.y[i] > 0 && p.a[i] < p.c || p.y[i] < 0 && p.a[i] > 0 }
func (p *smoState) down(i int) bool { return p.y[i] > 0 && p.a[i] > 0 || p.y[i] < 0 && p.a[i] < p.c }

// pick is the pair of greatest violation and greatest decrease (Fan, Chen, Lin 2005, WSS 2);
// j < 0 where the gap is below 1e-3.
func (p *smoState) pick() (i, j int) {
	i, j = -1, -1
	high, low := math.Inf(-1), math.Inf(1)
	for t := range p.y {
		if v := -p.y[t] * p.g[t]; p.up(t) && v > high {
			high, i = v, t
		}
	}
	if i < 0 {
		return -1, -1
	}
	best, row := math.Inf(1), p.k[i]
	for t := range p.y {
		if !p.down(t) {
			continue
		}
		v := float64(-p.y[t] * p.g[t])
		low = min(low, v)
		if d := high - v; d > 0 {
			if fall := -d * d / max(2-float64(2*float64(row[t])), 1e-12); fall < best {
				best, j = fall, t
			}
		}
	}
	if high-low < 1e-3 {
		return i, -1
	}
	return i, j
}

// update moves the pair to its optimum inside the box.
func (p *smoState) update(i, j int) {
	ki, kj := p.k[i], p.k[j]
	d := (float64(-p.y[i]*p.g[i]) + float64(p.y[j]*p.g[j])) / max(2-float64(2*float64(ki[j])), 1e-12)
	d = min(d, room(p.y[i], p.a[i], p.c), room(-p.y[j], p.a[j], p.c))
	p.a[i] = min(max(p.a[i]+float64(p.y[i]*d), 0), p.c)
	p.a[j] = min(max(p.a[j]-float64(p.y[j]*d), 0), p.c)
	for t := range p.g {
		p.g[t] += float64(p.y[t] * d * float64(ki[t]-kj[t]))
	}
}

// room is how far a weight may move in the direction of sign.
func room(sign, a, c float64) float64 {
	if sign > 0 {
		return c - a
	}
	return a
}

// rho is the mean of signed gradients where a weight is inside its bounds, all of which are
// rho at the optimum; without such a weight the middle of what the others allow (Chang, Lin
// 2011, section 4.1.5).
func (p *smoState) rho() float64 {
	sum, n, high, low := 0.0, 0, math.Inf(1), math.Inf(-1)
	for i, g := range p.g {
		v := float64(p.y[i] * g)
		switch {
		case p.a[i] > 0 && p.a[i] < p.c:
			sum, n = sum+v, n+1
		case p.up(i):
			high = min(high, v)
		default:
			low = max(low, v)
		}
	}
	if n > 0 {
		return sum / float64(n)
	}
	return (high + low) / 2
}
