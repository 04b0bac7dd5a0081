// Package privacy holds the vocabulary of differential privacy that the rest of
// weir speaks: events (what a mechanism did, as plain data), adjacency (what a
// change of one unit means), the interfaces of accountants and of payers.
//
// The arithmetic lives below it: account (accountants and calibration), pld
// (privacy loss distributions), published (the arithmetic of papers, kept apart
// from proven bounds), noise (keys, streams, samplers), mechanism (selection,
// quantiles, partitions) and ledger.
package privacy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

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

// fieldReader takes the fields of one event; what it has not taken is unknown.
type fieldReader struct {
	p      *parser
	path   string
	fields []field
	taken  []string
}

// builders says, for every event name, how its fields are read.
func (f *fieldReader) builders() map[string]func() Event {
	return map[string]func() Event{
		"gaussian":            func() Event { return Gaussian{f.number("noise_multiplier", false)} },
		"laplace":             func() Event { return Laplace{f.number("noise_multiplier", false)} },
		"discrete_gaussian":   func() Event { return DiscreteGaussian{f.number("noise_multiplier", false)} },
		"discrete_laplace":    func() Event { return DiscreteLaplace{f.number("noise_multiplier", false)} },
		"exponential":         func() Event { return Exponential{f.number("epsilon", true)} },
		"randomized_response": func() Event { return RandomizedResponse{f.number("epsilon", true)} },
		"zcdp":                func() Event { return ZCDP{f.number("rho", false)} },
		"pure":                func() Event { return Pure{f.number("epsilon", true)} },
		"approximate": func() Event {
			return Approximate{f.number("epsilon", true), f.number("delta", false)}
		},
		"poisson_sampled": func() Event {
			return PoissonSampled{f.number("sampling_rate", false), f.event()}
		},
		"sampled_without_replacement": func() Event {
			return SampledWithoutReplacement{f.integer("sample_size"), f.integer("population"), f.event()}
		},
		"repeated": func() Event { return Repeated{f.integer("count"), f.event()} },
		"composed": func() Event { return Composed{f.events()} },
		"parallel": func() Event { return Parallel{f.events()} },
	}
}

func (f *fieldReader) take(key string) json.RawMessage {
	f.taken = append(f.taken, key)
	for _, field := range f.fields {
		if field.key == key {
			return field.value
		}
	}
	f.p.fail(f.path+"."+key, "is missing")
	return nil
}

// rest reports the fields that the event does not have.
func (f *fieldReader) rest() {
	for _, field := range f.fields {
		known := false
		for _, key := range f.taken {
			known = known || key == field.key
		}
		if !known {
			f.p.fail(f.path+"."+field.key, "is not a field of this event, which has %q", f.taken)
		}
	}
}

// number reads a JSON number; an infinite one is the string "inf" where allowed.
func (f *fieldReader) number(key string, mayBeInf bool) float64 {
	b := f.take(key)
	if b == nil {
		return 0
	}
	if mayBeInf && string(b) == `"inf"` {
		return math.Inf(1)
	}
	if kindOf(b) != "a number" {
		f.p.fail(f.path+"."+key, "is %s, must be a number%s", kindOf(b), orInf(mayBeInf))
		return 0
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		f.p.fail(f.path+"."+key, "is out of the range of a 64-bit float")
	}
	return v
}

func orInf(mayBeInf bool) string {
	if mayBeInf {
		return ` or "inf"`
	}
	return ""
}

// integer reads a whole number; 1e6 and 20.0 are whole.
func (f *fieldReader) integer(key string) int64 {
	b := f.take(key)
	if b == nil {
		return 0
	}
	if v, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		return v
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if kindOf(b) != "a number" || err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		f.p.fail(f.path+"."+key, "is %s, must be a whole number", shown(b))
		return 0
	}
	return int64(v)
}

// shown returns a number as written, or else the kind of the value.
func shown(b []byte) string {
	if kindOf(b) == "a number" && len(b) <= 32 {
		return string(b)
	}
	return kindOf(b)
}

func (f *fieldReader) event() Event {
	if b := f.take("event"); b != nil {
		return f.p.event(f.path+".event", b)
	}
	return nil
}

func (f *fieldReader) events() []Event {
	b := f.take("events")
	if b == nil {
		return nil
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		f.p.fail(f.path+".events", "is %s, must be a list of events", kindOf(b))
		return nil
	}
	events := make([]Event, len(raw))
	for i, r := range raw {
		events[i] = f.p.event(fmt.Sprintf("%s.events[%d]", f.path, i), r)
	}
	return events
}

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
// Noise multipliers are finite and not negative (zero is not noise: an infinite
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
		v.check(e.SampleSize >= 0 && e.SampleSize <= e.Population, path, "sample_size", e.SampleSize,
			"from 0 to the population")
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
