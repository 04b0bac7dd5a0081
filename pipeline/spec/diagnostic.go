package spec

import (
	"cmp"
	"slices"

	"weir/schema"
)

// Diagnostic is one reason why a spec does not compile, at its place in the
// spec: with a rule a refusal of privacy, without one a fault of the spec.
type Diagnostic struct {
	schema.Problem
	Stage string `json:"stage,omitempty"`
}

// Diagnostics is every reason at once.
type Diagnostics []Diagnostic

// Sort orders by place.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

func (ds Diagnostics) Error() string { return schema.Lines(ds) }

// Privacy reports whether all reasons are refusals of privacy or budget, which
// have an exit code of their own.
func (ds Diagnostics) Privacy() bool {
	for _, d := range ds {
		if d.Rule == "" {
			return false
		}
	}
	return len(ds) > 0
}

func diagnostics(ps []schema.Problem) Diagnostics {
	ds := make(Diagnostics, len(ps))
	for i, p := range ps {
		ds[i] = Diagnostic{Problem: p}
	}
	return ds
}

// RuleBudget marks refusals because the budget does not suffice.
const RuleBudget = "budget"

// Fault is one of the spec itself, at a path of it.
func (s *Spec) Fault(path, found, accepted, hint string) Diagnostic {
	d := Diagnostic{}
	if s.doc != nil {
		d.Problem = s.doc.Problem(path, "", "")
	}
	d.Path, d.Found, d.Accepted, d.Hint = path, found, accepted, hint
	return d
}

// Refusal is one of privacy at a path of the spec, found by looking at what the
// spec names.
func (s *Spec) Refusal(rule, stage, path, found, accepted, hint string) Diagnostic {
	d := s.Fault(path, found, accepted, hint)
	d.Rule, d.Stage = rule, stage
	return d
}
