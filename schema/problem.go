package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems bounds what one call returns; a file with more is broken in one way many times.
const maxProblems = 200

// Problem is one fault of a file: where it is, what was found there and what is accepted.
// Line and Column count from 1 (columns in characters); both are 0 for a value from --set, where File is
// "--set path". The JSON form has the same fields in snake case and is stable.
type Problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Path     string `json:"path"`
	Found    string `json:"found"`
	Accepted string `json:"accepted"`
	Hint     string `json:"hint,omitempty"`
	Rule     string `json:"rule,omitempty"` // audit rule of a refusal of privacy, such as W03; "" for a fault of the file
}

// longList is the length of what is accepted from which on a question (DidYouMean) stands before it: behind a list of
// fifty kinds nobody reads it.
const longList = 100

// Error gives `file:line:col: path: is FOUND, must be ACCEPTED; HINT [RULE]`. A question stands before a long list.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.where())
	if p.Found != "" {
		b.WriteString("is " + p.Found)
	}
	first := p.Found != "" && len(p.Accepted) > longList && strings.HasPrefix(p.Hint, asking)
	if first {
		b.WriteString("; " + p.Hint)
	}
	if p.Accepted != "" {
		if p.Found != "" {
			b.WriteString(map[bool]string{true: " It ", false: ", "}[first])
		}
		b.WriteString("must be " + p.Accepted)
	}
	if p.Hint != "" && !first {
		b.WriteString("; " + p.Hint)
	}
	if p.Rule != "" {
		b.WriteString(" [" + p.Rule + "]")
	}
	return b.String()
}

func (p Problem) where() string {
	s := ""
	if p.File != "" {
		s = p.File + ": "
	}
	if p.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
	}
	if p.Path == "" || p.File == setFile(p.Path) {
		return s
	}
	return s + p.Path + ": "
}

// Problems is a list of problems as one error, one a line. errors.As finds it behind Join.
type Problems []Problem

func (ps Problems) Error() string { return Lines(ps) }

// Lines is the text of several errors, one a line.
func Lines[T error](errs []T) string {
	lines := make([]string, len(errs))
	for i, err := range errs {
		lines[i] = err.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As reach a single Problem.
func (ps Problems) Unwrap() []error {
	errs := make([]error, len(ps))
	for i, p := range ps {
		errs[i] = p
	}
	return errs
}

// Join sorts the problems by file and position, drops repeats and returns them as one error of type
// Problems; nil when there is none.
func Join(ps []Problem) error {
	if len(ps) == 0 {
		return nil
	}
	return Problems(tidy(slices.Clone(ps)))
}

// tidy sorts by position and drops repeats.
func tidy(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.Found, b.Found), cmp.Compare(a.Accepted, b.Accepted))
	})
	return slices.CompactFunc(ps, func(a, b Problem) bool {
		a.Hint, b.Hint = "", ""
		return a == b
	})
}

// capped keeps the first maxProblems and says how many more there were.
func capped(ps []Problem) []Problem {
	if len(ps) <= maxProblems {
		return ps
	}
	last := ps[maxProblems]
	last.Path, last.Accepted, last.Hint = "", "", ""
	last.Found = fmt.Sprintf("the first of %d more problems that are not listed", len(ps)-maxProblems)
	return append(ps[:maxProblems:maxProblems], last)
}

// Add appends a problem of a path.
func (ps *Problems) Add(path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted})
}

// Refuse appends a refusal of privacy at a path, with its audit rule.
func (ps *Problems) Refuse(rule, path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted, Rule: rule})
}

// Err returns the problems as they are, or nil where there is none.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Unknown appends the problem of a name that is not one of the accepted ones, with the nearest of them.
func (ps *Problems) Unknown(path, what, name string, accepted []string) {
	*ps = append(*ps, UnknownName(path, what, name, accepted))
}

// manyNames is how many accepted names a problem lists before it stops.
const manyNames = 20

// UnknownName returns the problem of a name that is not one of the accepted ones, with the nearest of them.
func UnknownName(path, what, name string, accepted []string) Problem {
	list := strings.Join(accepted[:min(len(accepted), manyNames)], ", ")
	if len(accepted) > manyNames {
		list += fmt.Sprintf(" and %d more", len(accepted)-manyNames)
	}
	if near := Suggest(name, accepted); near != "" {
		list += "; " + asking + near + "?"
	}
	return Problem{Path: path, Found: fmt.Sprintf("%q, an unknown %s", name, what), Accepted: "one of " + list}
}
