package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

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

// shown is a number as written, or else the kind of the value.
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
