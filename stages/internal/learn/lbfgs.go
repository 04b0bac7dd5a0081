package learn

import (
	"context"
	"slices"
)

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

// direction is the gradient times minus the inverse of the curvature as the kept steps show it
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
func (m *lbfgs) keep(from, to point) {
	s, y := slices.Clone(to.x), slices.Clone(to.gradient)
	axpy(-1, from.x, s)
	axpy(-1, from.gradient, y)
	m.steps, m.turns = append(m.steps, s), append(m.turns, y)
	if len(m.steps) > 20 {
		m.steps, m.turns = m.steps[1:], m.turns[1:]
	}
}
