package learn

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// step takes one Newton step in place; done says that theta is the optimum.
func (b *binary) step(theta []float64) (done bool, err error) {
	z := b.decision(theta)
	grad, w := b.slope(z)
	var d []float64
	switch {
	case b.sparse != nil:
		d = b.conjugate(w, b.downhill(theta, grad))
	case b.Penalty == L1:
		d = b.proximal(theta, grad, gram(b.x, w, b.workers))
	default:
		if d, err = b.newton(theta, grad, gram(b.x, w, b.workers)); err != nil {
			return false, err
		}
	}
	if small(d, theta) {
		axpy(1, d, theta)
		b.zeroes(theta)
		return true, nil
	}
	return !b.search(theta, d, grad, z), nil
}

// small reports whether d changes no digit that anyone compares. Newton's method
// is quadratic here, so the step after this one would be below rounding.
func small(d, theta []float64) bool { return normInf(d) <= 1e-9*(1+normInf(theta)) }

// zeroes makes coefficients that a proximal step left at rounding error exactly 0.
func (b *binary) zeroes(theta []float64) {
	for j, v := range theta {
		if b.Penalty == L1 && b.penalised(j) && math.Abs(v) < 1e-14 {
			theta[j] = 0
		}
	}
}

// newton solves (H + I) d = -(grad + theta), the identity on penalised places.
func (b *binary) newton(theta, grad []float64, h *mat.SymDense) ([]float64, error) {
	for j := range grad {
		if b.penalised(j) {
			h.SetSym(j, j, h.At(j, j)+1)
		}
	}
	return solve(h, b.downhill(theta, grad))
}

// downhill returns -(grad + theta), theta on penalised places.
func (b *binary) downhill(theta, grad []float64) []float64 {
	full := make([]float64, len(grad))
	for j := range full {
		full[j] = -grad[j]
		if b.penalised(j) {
			full[j] -= theta[j]
		}
	}
	return full
}

// solve returns H^-1 g for positive definite H. Where rounding makes H singular the
// diagonal is raised, which only slows the iteration that uses the step.
func solve(h *mat.SymDense, g []float64) ([]float64, error) {
	n := h.SymmetricDim()
	trace := mat.Trace(h) / float64(n)
	for _, raise := range []float64{0, 1e-12, 1e-8, 1e-4} {
		for j := range n {
			h.SetSym(j, j, h.At(j, j)+float64(raise*trace))
		}
		if l := cholesky(h); l != nil {
			return substitute(l, g), nil
		}
	}
	return nil, &NotEstimable{-1, "the curvature of the loss is not positive definite"}
}

// search halves the step until the objective falls enough (Armijo, 1e-4); it
// reports false where no step lowers it, which is the optimum to rounding.
func (b *binary) search(theta, d, grad, z []float64) bool {
	dz := b.decision(d)
	before := b.loss(z) + b.penalty(theta)
	slope := b.slopeAlong(theta, d, grad)
	// A step whose fall drowns in the rounding of the sum is taken whole: the
	// model knows better than the difference of two sums.
	slack := float64(1e-12 * math.Abs(before))
	next, zn := make([]float64, len(theta)), make([]float64, len(z))
	for t := 1.0; t > 1e-10; t /= 2 {
		for j := range theta {
			next[j] = theta[j] + float64(t*d[j])
		}
		for i := range z {
			zn[i] = z[i] + float64(t*dz[i])
		}
		if b.loss(zn)+b.penalty(next) <= before+float64(1e-4*t*slope)+slack {
			copy(theta, next)
			return true
		}
	}
	return false
}

// slopeAlong returns the model's decrease for the whole step d.
func (b *binary) slopeAlong(theta, d, grad []float64) float64 {
	s := dot(grad, d)
	if b.Penalty == L1 {
		moved := make([]float64, len(theta))
		for j := range theta {
			moved[j] = theta[j] + d[j]
		}
		return s + b.penalty(moved) - b.penalty(theta)
	}
	for j := range d {
		if b.penalised(j) {
			s += float64(theta[j] * d[j])
		}
	}
	return s
}

// proximal minimises grad d + 0.5 d'Hd + |theta + d|_1. A free intercept takes its best value for each d of the others,
// which leaves H and grad without what they share with it: columns that are nearly constant, whose descent by turns
// with the intercept would take thousands of sweeps, are then apart from it.
func (b *binary) proximal(theta, grad []float64, h *mat.SymDense) []float64 {
	n := len(theta)
	pivot := h.At(b.p, b.p)
	if b.PenalizeIntercept || !(pivot > 0) {
		return b.descend(theta, grad, h, n)
	}
	left, rest := mat.NewSymDense(max(b.p, 1), nil), make([]float64, b.p)
	for j := range b.p {
		share := h.At(j, b.p) / pivot
		rest[j] = grad[j] - float64(share*grad[b.p])
		for k := j; k < b.p; k++ {
			left.SetSym(j, k, h.At(j, k)-float64(share*h.At(k, b.p)))
		}
	}
	d := append(b.descend(theta, rest, left, b.p), 0)
	along := grad[b.p]
	for j := range b.p {
		along += float64(h.At(j, b.p) * d[j])
	}
	d[b.p] = -along / pivot
	return d
}

// descend solves proximal by coordinate descent over the first n places.
func (b *binary) descend(theta, grad []float64, h *mat.SymDense, n int) []float64 {
	d, hd := make([]float64, n), make([]float64, n)
	// 1000 sweeps are far more than a step needs; the outer iteration corrects
	// what is left.
	for range 1000 {
		moved := 0.0
		for j := range n {
			a := h.At(j, j)
			if a <= 0 {
				continue
			}
			high := theta[j] + d[j] - (grad[j]+hd[j])/a
			if b.penalised(j) {
				high = shrink(high, 1/a)
			}
			if delta := high - theta[j] - d[j]; delta != 0 {
				d[j] = high - theta[j]
				for k := range n {
					hd[k] += float64(delta * h.At(j, k))
				}
				moved = max(moved, math.Abs(delta))
			}
		}
		if moved <= 1e-12*(1+normInf(theta)) {
			break
		}
	}
	return d
}

// shrink returns the soft threshold.
func shrink(v, amount float64) float64 {
	switch {
	case v > amount:
		return v - amount
	case v < -amount:
		return v + amount
	}
	return 0
}

// lbfgs minimises a smooth convex function by the method of Liu and Nocedal 1989, of which
// it keeps the last 20 steps: at gives value and gradient, both the caller's to keep.
type lbfgs struct {
	at           func(x []float64) (value float64, gradient []float64)
	steps, turns [][]float64 // what changed in x and in the gradient
}

// point is a place with what the function is there.
type point struct {
	x, gradient []float64
	value       float64
}

func (m *lbfgs) point(from []float64, t float64, d []float64) point {
	x := slices.Clone(from)
	axpy(t, d, x)
	v, g := m.at(x)
	return point{x, g, v}
}

// minimise ends where no part of the gradient is above 1e-8, where 50 steps in turn gain
// less than 1e-15 each, where no step lowers the value, which then is rounding, or
// after 2000 steps.
func (m *lbfgs) minimise(ctx context.Context, x []float64) ([]float64, error) {
	p, idle := m.point(x, 0, x), 0
	for range 2000 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if idle == 50 || normInf(p.gradient) <= 1e-8 {
			break
		}
		next, ok := m.search(p, m.direction(p.gradient))
		if !ok {
			break
		}
		m.keep(p, next)
		if idle++; p.value-next.value >= 1e-15 {
			idle = 0
		}
		p = next
	}
	return p.x, nil
}

// direction returns the gradient times minus the inverse of the curvature as the kept steps show it
// (Nocedal, Wright 2006, algorithm 7.4).
func (m *lbfgs) direction(g []float64) []float64 {
	d, along := make([]float64, len(g)), make([]float64, len(m.steps))
	axpy(-1, g, d)
	for i := len(along) - 1; i >= 0; i-- {
		along[i] = dot(m.steps[i], d) / dot(m.steps[i], m.turns[i])
		axpy(-along[i], m.turns[i], d)
	}
	size := 1 / max(1, normInf(g))
	if last := len(along) - 1; last >= 0 {
		size = dot(m.steps[last], m.turns[last]) / dot(m.turns[last], m.turns[last])
	}
	for j := range d {
		d[j] *= size
	}
	for i, a := range along {
		axpy(a-dot(m.turns[i], d)/dot(m.steps[i], m.turns[i]), m.steps[i], d)
	}
	return d
}

// search halves and doubles to a step that lowers the value and flattens the slope enough
// (weak Wolfe conditions; Lewis, Overton 2013).
func (m *lbfgs) search(p point, d []float64) (point, bool) {
	slope, t, low, high := dot(p.gradient, d), 1.0, 0.0, 0.0
	if !(slope < 0) {
		return point{}, false
	}
	for range 60 {
		next := m.point(p.x, t, d)
		switch {
		case !(next.value <= p.value+float64(1e-4*t*slope)):
			high = t
		case dot(next.gradient, d) < 0.9*slope:
			low = t
		default:
			return next, true
		}
		if t = float64(2 * t); high > 0 {
			t = float64((low + high) / 2)
		}
	}
	return point{}, false
}

// keep remembers a step and forgets the oldest.
func (m *lbfgs) keep(source, to point) {
	s, y := slices.Clone(to.x), slices.Clone(to.gradient)
	axpy(-1, source.x, s)
	axpy(-1, source.gradient, y)
	m.steps, m.turns = append(m.steps, s), append(m.turns, y)
	if len(m.steps) > 20 {
		m.steps, m.turns = m.steps[1:], m.turns[1:]
	}
}
