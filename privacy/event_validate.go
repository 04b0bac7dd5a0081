package privacy

import (
	"errors"
	"fmt"
	"math"
)

// maxDepth bounds how deep events may nest. Real pipelines need four levels.
const maxDepth = 64

// Name returns the key of e in the JSON form, or "" where e is not one of the
// events of this package.
func Name(e Event) string {
	switch e.(type) {
	case Gaussian:
		return "gaussian"
	case Laplace:
		return "laplace"
	case DiscreteGaussian:
		return "discrete_gaussian"
	case DiscreteLaplace:
		return "discrete_laplace"
	case Exponential:
		return "exponential"
	case RandomizedResponse:
		return "randomized_response"
	case PoissonSampled:
		return "poisson_sampled"
	case SampledWithoutReplacement:
		return "sampled_without_replacement"
	case Repeated:
		return "repeated"
	case Composed:
		return "composed"
	case Parallel:
		return "parallel"
	case ZCDP:
		return "zcdp"
	case Pure:
		return "pure"
	case Approximate:
		return "approximate"
	}
	return ""
}

func names() []string {
	return []string{"gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "exponential",
		"randomized_response", "poisson_sampled", "sampled_without_replacement", "repeated", "composed",
		"parallel", "zcdp", "pure", "approximate"}
}

// Validate returns every problem of e, each with its path, or nil.
//
// Noise multipliers are finite and not negative (zero is no noise: an infinite
// epsilon), epsilons are not negative and may be infinite, rho is finite and
// not negative, delta and sampling rates lie in [0, 1], counts are at least 1,
// a sample is at least 0 and at most the population.
func Validate(e Event) error {
	v := &validator{}
	v.event("event", e, 1)
	return errors.Join(v.problems...)
}

// ValidateAll validates a list of events, with paths such as events[2].laplace.
func ValidateAll(events []Event) error {
	v := &validator{}
	v.events("events", events, 1)
	return errors.Join(v.problems...)
}

type validator struct{ problems []error }

func (v *validator) check(ok bool, path, key string, found any, must string) {
	if !ok {
		v.problems = append(v.problems, fmt.Errorf("%s.%s: is %v, must be %s", path, key, found, must))
	}
}

func (v *validator) scale(path string, s float64) {
	v.check(s >= 0 && !math.IsInf(s, 1), path, "noise_multiplier", s, "a finite number of at least 0")
}

func (v *validator) epsilon(path string, eps float64) {
	v.check(eps >= 0, path, "epsilon", eps, "a number of at least 0")
}

func (v *validator) event(path string, e Event, depth int) {
	name := Name(e)
	switch {
	case e == nil:
		v.problems = append(v.problems, fmt.Errorf("%s: is missing", path))
		return
	case name == "":
		v.problems = append(v.problems, fmt.Errorf("%s: %T is not an event of this package", path, e))
		return
	case depth > maxDepth:
		v.problems = append(v.problems, fmt.Errorf("%s: is nested deeper than %d events", path, maxDepth))
		return
	}
	v.fields(path+"."+name, e, depth)
}

func (v *validator) fields(path string, e Event, depth int) {
	switch e := e.(type) {
	case Gaussian:
		v.scale(path, e.NoiseMultiplier)
	case Laplace:
		v.scale(path, e.NoiseMultiplier)
	case DiscreteGaussian:
		v.scale(path, e.NoiseMultiplier)
	case DiscreteLaplace:
		v.scale(path, e.NoiseMultiplier)
	case Exponential:
		v.epsilon(path, e.Epsilon)
	case RandomizedResponse:
		v.epsilon(path, e.Epsilon)
	case Pure:
		v.epsilon(path, e.Epsilon)
	case Approximate:
		v.epsilon(path, e.Epsilon)
		v.check(e.Delta >= 0 && e.Delta <= 1, path, "delta", e.Delta, "in [0, 1]")
	case ZCDP:
		v.check(e.Rho >= 0 && !math.IsInf(e.Rho, 1), path, "rho", e.Rho, "a finite number of at least 0")
	default:
		v.compound(path, e, depth)
	}
}

func (v *validator) compound(path string, e Event, depth int) {
	switch e := e.(type) {
	case PoissonSampled:
		v.check(e.SamplingRate >= 0 && e.SamplingRate <= 1, path, "sampling_rate", e.SamplingRate, "in [0, 1]")
		v.event(path+".event", e.Event, depth+1)
	case SampledWithoutReplacement:
		v.check(e.Population >= 1, path, "population", e.Population, "at least 1")
		v.check(e.SampleSize >= 0 && e.SampleSize <= e.Population, path, "sample_size", e.SampleSize, "from 0 to the population")
		v.event(path+".event", e.Event, depth+1)
	case Repeated:
		v.check(e.Count >= 1, path, "count", e.Count, "at least 1")
		v.event(path+".event", e.Event, depth+1)
	case Composed:
		v.events(path+".events", e.Events, depth+1)
	case Parallel:
		v.events(path+".events", e.Events, depth+1)
	}
}

func (v *validator) events(path string, events []Event, depth int) {
	for i, e := range events {
		v.event(fmt.Sprintf("%s[%d]", path, i), e, depth)
	}
}
