package calibrate

import (
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// step is how far the first step of a search goes: short beside a solution.
func (j *joint) step() float64 {
	if j.warm {
		return 0.02
	}
	return 0
}

// single calibrates the only open stage against all events.
func (j *joint) single(i int) error {
	s := &search{want: j.target.Epsilon, start: j.start(i), step: j.step(),
		at: func(m float64) (float64, error) {
			j.multipliers[i] = m
			return j.total()
		}}
	m, err := s.run()
	j.multipliers[i], j.warm = m, true
	return j.explain(err, j.stages[i].Name)
}

func (j *joint) start(i int) float64 {
	if j.multipliers[i] > 0 {
		return bitmath.Log(j.multipliers[i])
	}
	return 0
}

func (j *joint) total() (float64, error) {
	eps, err := j.acc.Epsilon(j.all(0), j.target.Adjacency, j.target.Delta)
	return math.Max(eps*j.scale[len(j.stages)], math.SmallestNonzeroFloat64), err
}

// epsilon calibrates every open stage to its share of factor times the target
// and returns what all stages spend together.
func (j *joint) epsilon(factor float64) (float64, error) {
	for _, i := range j.open {
		m, err := j.alone(i, factor*j.stages[i].Share*j.target.Epsilon)
		if err != nil {
			return 0, j.explain(err, j.stages[i].Name)
		}
		j.multipliers[i] = m
	}
	return j.total()
}

// alone is the noise with which stage i has epsilon by itself. The search of the
// factor decides whether the utmost noise is too little.
func (j *joint) alone(i int, epsilon float64) (float64, error) {
	s := &search{want: epsilon, start: j.start(i), at: func(m float64) (float64, error) {
		eps, err := j.acc.Epsilon(j.stages[i].Events(m), j.target.Adjacency, j.target.Delta)
		return eps * j.scale[i], err
	}}
	if s.start != 0 {
		s.step = 0.05
	}
	m, err := s.run()
	var out *InfeasibleError
	if errors.As(err, &out) {
		return utmostNoise, nil
	}
	return m, err
}

func (j *joint) explain(err error, stage string) error {
	var out *InfeasibleError
	if errors.As(err, &out) {
		out.Target = j.target
		out.Stage = stage
	}
	return named(err, stage)
}

func named(err error, stage string) error {
	var out *InfeasibleError
	if err == nil || stage == "" || errors.As(err, &out) {
		return err
	}
	return fmt.Errorf("stage %s: %w", stage, err)
}
