package privacy

// Event describes what a mechanism released, as plain data: enough to account
// for it, nothing about how it was computed. The set is closed; its JSON form
// is an object with one key (see MarshalEvent and ParseEvent).
//
// A noise multiplier is noise standard deviation (or scale) over the bound on
// one clipped contribution. Replacing one record moves a sum of clipped
// contributions by twice that bound; the accountant applies the factor two
// under ReplaceOne, the caller never does.
type Event interface{ event() }

// Gaussian is one release of a sum with L2 bound 1 plus N(0, NoiseMultiplier^2).
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// Laplace is one release of a sum with L1 bound 1 plus Laplace noise of scale
// NoiseMultiplier.
type Laplace struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// DiscreteGaussian is one release of an integer sum with bound 1 plus discrete
// Gaussian noise with parameter sigma = NoiseMultiplier (Canonne, Kamath,
// Steinke 2020).
type DiscreteGaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// DiscreteLaplace is one release of an integer sum with bound 1 plus discrete
// Laplace (two-sided geometric) noise of scale NoiseMultiplier.
type DiscreteLaplace struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// Exponential is one selection by the exponential mechanism (McSherry, Talwar
// 2007) that is Epsilon-DP for one change of the stated adjacency.
type Exponential struct {
	Epsilon float64 `json:"epsilon"`
}

// RandomizedResponse is one binary randomized response that is Epsilon-DP under
// replacement of the bit. That a unit answers at all is public; under AddRemove the
// accountants take Epsilon for a unit that may be absent and answers all the same.
type RandomizedResponse struct {
	Epsilon float64 `json:"epsilon"`
}

// PoissonSampled runs Event on a sample that each unit joins independently with
// probability SamplingRate. Several releases inside share the sample, its one coin a
// unit, and may each depend on the releases before.
type PoissonSampled struct {
	SamplingRate float64
	Event        Event
}

// SampledWithoutReplacement runs Event on SampleSize of Population units, drawn
// uniformly without replacement. The inner noise multiplier is noise over the
// replace-one sensitivity of the inner mechanism (Wang, Balle, Kasiviswanathan
// 2019), because what is exchanged is a member of the sample.
type SampledWithoutReplacement struct {
	SampleSize, Population int64
	Event                  Event
}

// Repeated is Count adaptive uses of Event with fresh randomness.
type Repeated struct {
	Count int64
	Event Event
}

// Composed is the adaptive composition of Events.
type Composed struct{ Events []Event }

// Parallel is Events on disjoint parts of the data, the part of a unit being a
// function of that unit alone. Under AddRemove a unit is in one part. Under
// ReplaceOne the old unit and the new one may be in two: both are charged, each for
// a replacement, so an event of a part must hold for one unit of it coming or going
// as well. Where the new unit is known to stay in the old one's part, the charge is
// the event of the most expensive part instead.
type Parallel struct{ Events []Event }

// ZCDP is a rho-zero-concentrated-DP release (Bun, Steinke 2016).
type ZCDP struct {
	Rho float64 `json:"rho"`
}

// Pure is an Epsilon-DP release.
type Pure struct {
	Epsilon float64 `json:"epsilon"`
}

// Approximate is an (Epsilon, Delta)-DP release.
type Approximate struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

func (Gaussian) event()                  {}
func (Laplace) event()                   {}
func (DiscreteGaussian) event()          {}
func (DiscreteLaplace) event()           {}
func (Exponential) event()               {}
func (RandomizedResponse) event()        {}
func (PoissonSampled) event()            {}
func (SampledWithoutReplacement) event() {}
func (Repeated) event()                  {}
func (Composed) event()                  {}
func (Parallel) event()                  {}
func (ZCDP) event()                      {}
func (Pure) event()                      {}
func (Approximate) event()               {}
