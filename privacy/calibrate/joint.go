package calibrate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"weir/internal/bitmath"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
)

// Joint returns the noise multiplier of every stage such that all of them
// together meet the target: the fixed ones as they are, the others such that
// the epsilons that they have alone keep the ratio of their shares, scaled by
// one factor that is raised until the composition is tight.
//
// A slow accountant is called a few times only: the search runs on the Renyi
// accountant, whose epsilons are scaled to the epsilons of acc at the last point, until
// acc agrees. What is returned has always been checked by acc itself.
func Joint(acc privacy.Accountant, target Target, stages []Stage) ([]float64, error) {
	if !(target.Epsilon > 0) || math.IsInf(target.Epsilon, 1) {
		return nil, fmt.Errorf("epsilon: is %g: %w", target.Epsilon, errNoTarget)
	}
	j := newJoint(acc, target, stages)
	if len(j.open) == 0 {
		return j.multipliers, nil
	}
	if err := j.feasible(); err != nil {
		return nil, err
	}
	if j.guided() {
		if ok, err := j.agree(acc); ok || err != nil {
			return j.multipliers, err
		}
		j = newJoint(acc, target, stages)
	}
	return j.multipliers, j.solve()
}

type joint struct {
	acc         privacy.Accountant
	target      Target
	stages      []Stage
	open        []int
	multipliers []float64
	scale       []float64 // of each stage's epsilon alone, then of all together
	warm        bool      // multipliers hold an earlier solution
	factor      float64   // of that solution
}

func newJoint(acc privacy.Accountant, target Target, stages []Stage) *joint {
	j := &joint{acc: acc, target: target, stages: stages, factor: 1,
		multipliers: make([]float64, len(stages)), scale: make([]float64, len(stages)+1)}
	for i, s := range stages {
		j.multipliers[i], j.scale[i] = s.Fixed, 1
		if s.Fixed == 0 {
			j.open = append(j.open, i)
		}
	}
	j.scale[len(stages)] = 1
	return j
}

// guided swaps a slow accountant for the Renyi one where that knows all events.
func (j *joint) guided() bool {
	if j.acc.Name() != pld.Name {
		return false
	}
	guide := account.Beside(j.acc, account.RDP{})
	if _, err := guide.Epsilon(j.all(1), j.target.Adjacency, j.target.Delta); err != nil {
		return false
	}
	j.acc = guide
	return true
}

// all returns every event, the open stages at the given multiplier; at 0 as they are.
func (j *joint) all(multiplier float64) []privacy.Event {
	var all []privacy.Event
	for i, s := range j.stages {
		m := j.multipliers[i]
		if s.Fixed == 0 && multiplier > 0 {
			m = multiplier
		}
		all = append(all, s.Events(m)...)
	}
	return all
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
	if err == nil && !(eps < j.target.Epsilon) {
		err = fmt.Errorf("the stages whose noise the spec fixes spend epsilon %.5g of %.5g and leave nothing for the others",
			eps, j.target.Epsilon)
	}
	return err
}

// agree solves with the guide, asks acc, rescales the guide, and again; false
// where that does not settle within a few rounds. The ratios of the stages alone
// are asked for twice, after which they no longer move by more than a thousandth.
func (j *joint) agree(acc privacy.Accountant) (bool, error) {
	for round := range 8 {
		if err := j.solve(); err != nil {
			return false, nil // acc says itself what is out of reach
		}
		want, err := acc.Epsilon(j.all(0), j.target.Adjacency, j.target.Delta)
		if err != nil {
			return false, err
		}
		if want > (1-2*tightness)*j.target.Epsilon && want <= j.target.Epsilon && round > 0 {
			return true, nil
		}
		if err := j.rescale(acc, want, round); err != nil {
			return false, err
		}
	}
	return false, nil
}

func (j *joint) rescale(acc privacy.Accountant, want float64, round int) error {
	guess, err := j.acc.Epsilon(j.all(0), j.target.Adjacency, j.target.Delta)
	if err != nil {
		return err
	}
	if r := want / guess; r > 0 && !math.IsInf(r, 0) {
		j.scale[len(j.stages)] = r
	}
	if round > 1 || len(j.open) == 1 {
		return nil
	}
	for _, i := range j.open {
		events := j.stages[i].Events(j.multipliers[i])
		want, err := acc.Epsilon(events, j.target.Adjacency, j.target.Delta)
		if err != nil {
			return nameStage(err, j.stages[i].Name)
		}
		guess, err := j.acc.Epsilon(events, j.target.Adjacency, j.target.Delta)
		if r := want / guess; err == nil && r > 0 && !math.IsInf(r, 0) {
			j.scale[i] = r
		}
	}
	return nil
}

// solve finds the factor of the shares. The factor grows with epsilon, and
// 1/factor takes the place of noise: the same search serves.
func (j *joint) solve() error {
	if len(j.open) == 1 {
		return j.single(j.open[0])
	}
	s := &search{want: j.target.Epsilon, start: -bitmath.Log(j.factor), step: j.step(),
		at: func(x float64) (float64, error) { return j.epsilon(1 / x) }}
	x, err := s.run()
	var out *InfeasibleError
	if errors.As(err, &out) {
		return j.raise()
	}
	if err != nil {
		return err
	}
	j.warm, j.factor = true, 1/x
	_, err = j.epsilon(j.factor)
	return err
}

// raise finds the factor of all noise where no factor of the shares is small enough: of a
// stage whose epsilon is far below delta, delta alone covers what is left, which leaves none of delta
// for the others.
func (j *joint) raise() error {
	least := slices.Clone(j.multipliers)
	s := &search{want: j.target.Epsilon, at: func(x float64) (float64, error) {
		for _, i := range j.open {
			j.multipliers[i] = math.Min(utmostNoise, float64(least[i]*x))
		}
		return j.total()
	}}
	x, err := s.run()
	if err == nil {
		_, err = s.at(x) // where epsilon jumps, what was tried last is on the other side
	}
	return j.explain(err, "")
}

// step returns how far the first step of a search goes: short beside a solution.
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

// alone returns the noise with which stage i has epsilon by itself. The search of the
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
	return nameStage(err, stage)
}

func nameStage(err error, stage string) error {
	var out *InfeasibleError
	if err == nil || stage == "" || errors.As(err, &out) {
		return err
	}
	return fmt.Errorf("stage %s: %w", stage, err)
}
