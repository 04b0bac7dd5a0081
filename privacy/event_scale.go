package privacy

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
