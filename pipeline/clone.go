package pipeline

import (
	"maps"
	"slices"

	"weir/privacy"
)

// Clone is a copy of headers that shares nothing which a stage could write to:
// what is checked and printed stays what it was.
func (h Headers) Clone() Headers {
	out := make(Headers, len(h))
	for port, one := range h {
		out[port] = one.Clone()
	}
	return out
}

// Clone is a copy with a domain of its own.
func (h Header) Clone() Header {
	h.Domain = h.Domain.DeepClone()
	h.Spelled = maps.Clone(h.Spelled)
	return h
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// View is a copy of the plan for a stage that shows it: no number, cap, setting or
// event that a run goes by can be reached from it.
func (p *Plan) View() *Plan {
	view := *p
	view.Findings, view.Public, view.Steps = slices.Clone(p.Findings), slices.Clone(p.Public), slices.Clone(p.Steps)
	view.Epsilon.Published, view.Epsilon.Proven, view.Naive = copied(p.Epsilon.Published), copied(p.Epsilon.Proven), copied(p.Naive)
	view.Dataset.Budget = copied(p.Dataset.Budget)
	for i := range view.Steps {
		s := copied(view.Steps[i])
		s.Outputs, s.Spends, s.Write = maps.Clone(s.Outputs), slices.Clone(s.Spends), slices.Clone(s.Write)
		s.Inputs, s.Settings, s.Events, s.Decided = maps.Clone(s.Inputs), slices.Clone(s.Settings), nil, slices.Clone(s.Decided)
		for n := range s.Spends {
			s.Spends[n].Event, s.Spends[n].Value = privacy.JSON{}, nil // charges are made of these; a composed event shares its parts
		}
		for port, refs := range s.Inputs {
			s.Inputs[port] = slices.Clone(refs)
		}
		for _, f := range []**float64{&s.NoiseMultiplier, &s.Share, &s.Alone, &s.Cumulative, &s.Published} {
			*f = copied(*f)
		}
		view.Steps[i] = s
	}
	return &view
}
