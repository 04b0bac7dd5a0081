package privacy

import "fmt"

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
