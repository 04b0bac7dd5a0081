package graphical

import (
	"math"

	"weir/internal/bitmath"
)

// settle is the exact step of one table in a round of a fit to the optimum: with r
// the stiffness and theta what the round has added to the potential, it finds the
// counts m e^x, which sum to the total, such that theta + x + s is (y - m e^x)/r in
// every cell, for the one shift s at which the sum is right. It returns the largest
// step.
func (t *target) settle(total, scale float64) float64 {
	s, moved := t.shift(total, scale), 0.0
	t.shifted(total, s, scale)
	for i, x := range t.move {
		if t.count[i] == 0 {
			t.count[i] = 1
			continue
		}
		t.theta[i] += x + s
		t.log[i] += x
		t.count[i] = bitmath.Exp(x)
		moved = max(moved, math.Abs(x))
	}
	return moved
}

// shift finds the shift by Newton's method, kept between bounds on it.
func (t *target) shift(total, scale float64) float64 {
	low, high, s := math.Inf(-1), math.Inf(1), 0.0
	for range 100 {
		sum, slope := t.shifted(total, s, scale)
		if math.Abs(sum-total) <= 1e-13*total {
			break
		}
		if sum > total {
			low = s
		} else {
			high = s
		}
		next := s + (sum-total)/slope
		if !(next > low && next < high) {
			next = (low + high) / 2
		}
		if s = next; high-low <= 1e-15*math.Abs(s) {
			break
		}
	}
	return s
}

// shifted finds the steps for a shift; it returns the sum of counts that they give and
// how fast it falls with the shift.
func (t *target) shifted(total, s, scale float64) (sum, slope float64) {
	for i, m := range t.count {
		if t.move[i] = 0; m == 0 {
			continue
		}
		r, least := float64(t.rate[i]*scale), min(bitmath.Log(nothing*total/m), 0)
		measured := r <= math.MaxFloat64
		if t.move[i] = -t.theta[i] - s; measured { // else it has no potential of its own
			t.move[i] = root(m, r, t.y[i]-float64(r*(t.theta[i]+s)))
		}
		e := float64(m * bitmath.Exp(max(t.move[i], least)))
		sum += e
		switch {
		case t.move[i] < least:
			t.move[i] = least
		case measured:
			slope += e * r / (e + r)
		default:
			slope += e
		}
	}
	return sum, slope
}

// root is x of m e^x + r x = y to rounding. Newton's steps from the right of the root
// of a convex function never pass it.
func root(m, r, y float64) float64 {
	x := min(0, y/r)
	if y > m {
		x = min(bitmath.Log(y/m), (y-m)/(m+r))
	}
	for range 200 {
		e := float64(m * bitmath.Exp(x))
		d := (e + float64(r*x) - y) / (e + r)
		if x -= d; d <= 1e-14*(1+math.Abs(x)) {
			break
		}
	}
	return x
}

// carry starts the next round with what this one added beyond its due, (y - m)/r: so
// that rounds that stop before their end do not add up to a bias.
func (t *target) carry(total, scale float64) {
	for i, m := range t.count {
		if t.weight[i] == 0 || m <= 2*nothing*total {
			t.theta[i] = 0
			continue
		}
		t.theta[i] -= (t.y[i] - m) / (t.rate[i] * scale)
	}
}
