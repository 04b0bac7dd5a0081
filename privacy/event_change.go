package privacy

import (
	"fmt"
	"math"
	"reflect"

	"weir/internal/bitmath"
)

// Group returns an event whose guarantee for a change of one row covers a
// change of c rows of e's input: the charge of a mechanism on a rows(c) table.
// The adjacency stays the same (c rows added or removed, or c rows replaced).
// It fails with ErrUnsupported where no bound is proven.
//
//   - gaussian, laplace: the sum moves c times as far, so the multiplier is
//     divided by c.
//   - discrete_laplace: likewise. Scale b/c moved by 1 dominates scale b moved by
//     c (the former is randomized response, the worst c/b-DP pair; Kairouz, Oh,
//     Viswanath 2015). For 2c against 2 both hockey-stick curves are 0 and 1-a
//     at the ends, equal at a = 1 (both 1-exp(-c/b)), and the former is linear
//     between, the latter convex, hence below.
//   - discrete_gaussian: none; the shifted lattices do not dominate each other.
//   - exponential: the log probability ratios lie in an interval of length
//     epsilon for one row, c epsilon for c rows, as for the mechanism with c
//     times the epsilon.
//   - randomized_response: c rows hold c bits, each answered once.
//   - poisson_sampled: at least one of the c rows is in the sample with
//     probability q' = 1-(1-q)^c. Given that none is, both tables give the same
//     law; given which of them are, the samples differ in at most c rows. Joint
//     convexity over that choice leaves the pair of rate q' around the inner
//     mechanism's pair for c rows (Balle, Barthe, Gaboardi 2018).
//   - sampled_without_replacement: the same with q' <= c*sample_size/population.
//   - parallel: the c rows may lie in different parts, each with at most c of the
//     rows: c parallel events over parts charged for c rows, or all parts.
//   - zcdp: c^2 rho (Bun, Steinke 2016, proposition 27). pure: c epsilon.
//     approximate: (c epsilon, delta (e^(c epsilon)-1)/(e^epsilon-1)) (Dwork, Roth 2014).
func Group(e Event, c int) (Event, error) {
	if c < 1 {
		return nil, fmt.Errorf("group: is %d rows, must be at least 1", c)
	}
	if err := Validate(e); err != nil {
		return nil, err
	}
	if c == 1 {
		return e, nil
	}
	return group("event."+Name(e), e, float64(c))
}

func group(path string, e Event, c float64) (Event, error) {
	switch e := e.(type) {
	case Gaussian:
		return Gaussian{e.NoiseMultiplier / c}, nil
	case Laplace:
		return Laplace{e.NoiseMultiplier / c}, nil
	case DiscreteLaplace:
		return DiscreteLaplace{e.NoiseMultiplier / c}, nil
	case Exponential:
		return Exponential{c * e.Epsilon}, nil
	case RandomizedResponse:
		return Repeated{int64(c), e}, nil
	case ZCDP:
		return ZCDP{math.Min(c*c*e.Rho, math.MaxFloat64)}, nil
	case Pure:
		return Pure{c * e.Epsilon}, nil
	case Approximate:
		return groupApproximate(e, c), nil
	}
	return groupCompound(path, e, c)
}

func groupApproximate(e Approximate, c float64) Event {
	if e.Delta == 0 || math.IsInf(e.Epsilon, 1) {
		return Approximate{c * e.Epsilon, e.Delta}
	}
	factor := c
	if e.Epsilon > 0 {
		factor = bitmath.Expm1(c*e.Epsilon) / bitmath.Expm1(e.Epsilon)
	}
	if math.IsNaN(factor) { // both overflow: the delta is far above 1
		factor = math.Inf(1)
	}
	return Approximate{c * e.Epsilon, math.Min(1, e.Delta*factor)}
}

func groupCompound(path string, e Event, c float64) (Event, error) {
	switch e := e.(type) {
	case PoissonSampled:
		inner, err := group(path+".event."+Name(e.Event), e.Event, c)
		return PoissonSampled{groupRate(e.SamplingRate, c), inner}, err
	case SampledWithoutReplacement:
		inner, err := group(path+".event."+Name(e.Event), e.Event, c)
		size := e.Population
		if e.SampleSize <= e.Population/int64(c) {
			size = int64(c) * e.SampleSize
		}
		return SampledWithoutReplacement{size, e.Population, inner}, err
	case Repeated:
		inner, err := group(path+".event."+Name(e.Event), e.Event, c)
		return Repeated{e.Count, inner}, err
	case Composed:
		events, err := groupAll(path, e.Events, c)
		return Composed{events}, err
	case Parallel:
		events, err := groupAll(path, e.Events, c)
		return spread(events, int64(c)), err
	}
	return nil, &UnsupportedError{Accountant: "group", Path: path,
		Reason: "a change of several rows of a discrete Gaussian release is not a discrete Gaussian release for one row; " +
			"use gaussian, discrete_laplace or zcdp"}
}

// groupRate returns 1-(1-q)^c without cancellation.
func groupRate(q, c float64) float64 { return -bitmath.Expm1(c * bitmath.Log1p(-q)) }

func groupAll(path string, events []Event, c float64) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		g, err := group(fmt.Sprintf("%s.events[%d].%s", path, i, Name(e)), e, c)
		if err != nil {
			return nil, err
		}
		out[i] = g
	}
	return out, nil
}

// spread composes the parts that c rows can touch: where all are equal c parallel
// events, each of which is charged for the parts that one row touches; otherwise,
// or where c rows can reach all parts, all of them.
func spread(events []Event, c int64) Event {
	for _, e := range events {
		if !reflect.DeepEqual(e, events[0]) {
			return Composed{events}
		}
	}
	if int64(len(events)) <= c {
		return Composed{events}
	}
	return Repeated{c, Parallel{events}}
}

// Exchanged returns the event under ReplaceOne of a mechanism that was charged as e
// under AddRemove. Exchanging a row is removing one and adding one.
//
//   - gaussian, laplace, discrete_gaussian, discrete_laplace: the same event; the
//     accountant applies the factor two.
//   - pure, exponential, randomized_response, zcdp, approximate: their epsilon or rho
//     holds for one of the two changes, so a group of two (Group).
//   - poisson_sampled: what is inside, exchanged; one coin stands for the old row
//     and the new one (a coupling that changes neither law).
//   - repeated, composed, parallel: their events, exchanged. Both parts that an
//     exchange touches in a parallel event are charged for an exchange, which bounds a
//     removal: for noise on sums it moves the sum no farther, and a group of two costs
//     no less than one.
//   - sampled_without_replacement: as it is; no accountant has it under AddRemove.
func Exchanged(e Event) (Event, error) {
	if err := Validate(e); err != nil {
		return nil, err
	}
	return exchanged("event."+Name(e), e)
}

func exchanged(path string, e Event) (Event, error) {
	switch e := e.(type) {
	case Gaussian, Laplace, DiscreteGaussian, DiscreteLaplace, SampledWithoutReplacement:
		return e, nil
	case PoissonSampled:
		inner, err := exchanged(path+".event."+Name(e.Event), e.Event)
		return PoissonSampled{e.SamplingRate, inner}, err
	case Repeated:
		inner, err := exchanged(path+".event."+Name(e.Event), e.Event)
		return Repeated{e.Count, inner}, err
	case Composed:
		events, err := exchangedAll(path, e.Events)
		return Composed{events}, err
	case Parallel:
		events, err := exchangedAll(path, e.Events)
		return Parallel{events}, err
	}
	return group(path, e, 2)
}

func exchangedAll(path string, events []Event) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		x, err := exchanged(fmt.Sprintf("%s.events[%d].%s", path, i, Name(e)), e)
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// ScaleNoise returns e with every noise multiplier times factor: what a
// calibration varies. Events without a noise multiplier stay as they are.
func ScaleNoise(e Event, factor float64) Event {
	switch e := e.(type) {
	case Gaussian:
		return Gaussian{e.NoiseMultiplier * factor}
	case Laplace:
		return Laplace{e.NoiseMultiplier * factor}
	case DiscreteGaussian:
		return DiscreteGaussian{e.NoiseMultiplier * factor}
	case DiscreteLaplace:
		return DiscreteLaplace{e.NoiseMultiplier * factor}
	case PoissonSampled:
		return PoissonSampled{e.SamplingRate, ScaleNoise(e.Event, factor)}
	case SampledWithoutReplacement:
		return SampledWithoutReplacement{e.SampleSize, e.Population, ScaleNoise(e.Event, factor)}
	case Repeated:
		return Repeated{e.Count, ScaleNoise(e.Event, factor)}
	case Composed:
		return Composed{scaleAll(e.Events, factor)}
	case Parallel:
		return Parallel{scaleAll(e.Events, factor)}
	}
	return e
}

func scaleAll(events []Event, factor float64) []Event {
	out := make([]Event, len(events))
	for i, e := range events {
		out[i] = ScaleNoise(e, factor)
	}
	return out
}

// NoiseMultipliers returns every noise multiplier in e, from left to right.
func NoiseMultipliers(e Event) []float64 {
	switch e := e.(type) {
	case Gaussian:
		return []float64{e.NoiseMultiplier}
	case Laplace:
		return []float64{e.NoiseMultiplier}
	case DiscreteGaussian:
		return []float64{e.NoiseMultiplier}
	case DiscreteLaplace:
		return []float64{e.NoiseMultiplier}
	case PoissonSampled:
		return NoiseMultipliers(e.Event)
	case SampledWithoutReplacement:
		return NoiseMultipliers(e.Event)
	case Repeated:
		return NoiseMultipliers(e.Event)
	case Composed:
		return multipliersOf(e.Events)
	case Parallel:
		return multipliersOf(e.Events)
	}
	return nil
}

func multipliersOf(events []Event) []float64 {
	var out []float64
	for _, e := range events {
		out = append(out, NoiseMultipliers(e)...)
	}
	return out
}
