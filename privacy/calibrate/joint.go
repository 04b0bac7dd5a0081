package calibrate

import (
	"errors"
	"fmt"
	"math"

	"weir/privacy"
)

// Joint returns the noise multiplier of every stage such that all of them
// together meet the target: the fixed ones as they are, the others such that
// the epsilons that they have alone keep the ratio of their shares, scaled by
// one factor that is raised until the composition is tight.
func Joint(acc privacy.Accountant, target Target, stages []Stage) ([]float64, error) {
	multipliers := make([]float64, len(stages))
	var open []int
	for i, s := range stages {
		multipliers[i] = s.Fixed
		if s.Fixed == 0 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return multipliers, nil
	}
	j := &joint{acc: acc, target: target, stages: stages, open: open, multipliers: multipliers}
	if err := j.feasible(); err != nil {
		return nil, err
	}
	if len(stages) == 1 {
		noise, err := Noise(acc, target, stages[0].Events)
		multipliers[0] = noise
		return multipliers, named(err, stages[0].Name)
	}
	// The factor grows with epsilon, and 1/factor takes the place of noise: the
	// same search serves.
	s := &search{want: target.Epsilon, at: func(x float64) (float64, error) { return j.epsilon(1 / x) }}
	x, err := s.run()
	if err != nil {
		return nil, err
	}
	_, err = j.epsilon(1 / x)
	return multipliers, err
}

type joint struct {
	acc         privacy.Accountant
	target      Target
	stages      []Stage
	open        []int
	multipliers []float64
}

// feasible refuses a budget that the fixed stages use up alone.
func (j *joint) feasible() error {
	var fixed []privacy.Event
	for i, s := range j.stages {
		if s.Fixed > 0 {
			fixed = append(fixed, j.stages[i].Events(s.Fixed)...)
		}
	}
	if len(fixed) == 0 {
		return nil
	}
	eps, err := j.acc.Epsilon(fixed, j.target.Adjacency, j.target.Delta)
	if err == nil && eps >= j.target.Epsilon {
		err = fmt.Errorf("the stages whose noise the spec fixes spend epsilon %.5g of %.5g and leave nothing for the others", eps, j.target.Epsilon)
	}
	return err
}

// epsilon calibrates every open stage to its share of factor times the target
// and returns what all stages spend together.
func (j *joint) epsilon(factor float64) (float64, error) {
	for _, i := range j.open {
		alone := j.target
		alone.Epsilon *= factor * j.stages[i].Share
		noise, err := Noise(j.acc, alone, j.stages[i].Events)
		var out *InfeasibleError
		if errors.As(err, &out) {
			noise, err = utmostNoise, nil // the joint search decides whether that is too much
		}
		if err != nil {
			return 0, named(err, j.stages[i].Name)
		}
		j.multipliers[i] = noise
	}
	var all []privacy.Event
	for i, s := range j.stages {
		all = append(all, s.Events(j.multipliers[i])...)
	}
	eps, err := j.acc.Epsilon(all, j.target.Adjacency, j.target.Delta)
	return math.Max(eps, math.SmallestNonzeroFloat64), err
}

func named(err error, stage string) error {
	var out *InfeasibleError
	if errors.As(err, &out) {
		out.Stage = stage
		return err
	}
	if err != nil {
		return fmt.Errorf("stage %s: %w", stage, err)
	}
	return nil
}
