package published

import (
	"math"

	"weir/internal/bitmath"
)

// Branch is what the program of UCLANESL makes of its budget before it begins, from
// public numbers alone: how much noise, and after how many critic steps its accountant
// stops it (or its epochs end).
type Branch struct {
	NoiseMultiplier float64 // per weight tensor
	Steps           int64
	Amortized       bool // which of its two accountants
	step            Amortized
}

// Bounds between the branches: up to the first the amortised accountant, above the
// second a multiplier of 1 instead of 3.
const (
	mostAmortized = 0.7
	mostNoisy     = 5
)

// Branch is that of a budget. NoiseMultiplier of u is not used.
//
// The amortised accountant is charged once a tensor while delta_step is cut for one
// release a step, so that delta ends after a part of the steps that is 1/Tensors.
func (u UCLANESL) Branch(epsilon, delta float64) Branch {
	if epsilon > mostAmortized {
		u.NoiseMultiplier = 3
		if epsilon > mostNoisy {
			u.NoiseMultiplier = 1
		}
		return Branch{NoiseMultiplier: u.NoiseMultiplier, Steps: min(u.Steps(), u.PublishedSteps(epsilon, delta))}
	}
	steps := float64(u.Steps())
	each := epsilon / (u.rate() * math.Sqrt(2*steps*bitmath.Log(1/delta)))
	a := AmortizedAccountant(u.rate(), each, delta/(steps*u.rate()), 1, u.Tensors)
	root := epsilon / a.Epsilon
	most := math.Min(steps, math.Min(delta/a.Delta, float64(root*root)))
	return Branch{NoiseMultiplier: a.NoiseMultiplier, Steps: int64(most * (1 + 1e-12)), Amortized: true, step: a}
}

// Reported is what the program's accountant says after the steps of a branch.
func (u UCLANESL) Reported(b Branch, delta float64) (float64, error) {
	if b.Amortized {
		return b.step.Epsilon * math.Sqrt(float64(b.Steps)), nil
	}
	return u.moments(b.NoiseMultiplier, u.Tensors*b.Steps, delta)
}
