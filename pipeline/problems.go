package pipeline

import (
	"weir/pipeline/domain"
	"weir/schema"
)

// Problem is one thing wrong with a stage's settings or inputs, found before any
// data is read. Path is that of the setting, relative to the stage; "" is the stage
// itself.
type Problem struct {
	schema.Problem
	Rule string // audit rule, such as W03; "" where none
}

func (p Problem) Error() string {
	if p.Rule == "" {
		return p.Problem.Error()
	}
	return p.Problem.Error() + " (" + p.Rule + ")"
}

// Problems is every problem of a stage at once; as an error it lists them.
type Problems []Problem

func (ps Problems) Error() string { return schema.Lines(ps) }

// Add appends a problem.
func (ps *Problems) Add(path, found, accepted string) { ps.Refuse("", path, found, accepted) }

// Refuse appends a problem of privacy, with its audit rule.
func (ps *Problems) Refuse(rule, path, found, accepted string) {
	*ps = append(*ps, Problem{schema.Problem{Path: path, Found: found, Accepted: accepted}, rule})
}

// OfUnit appends a problem where a stage is to learn or count a column that tells whose a row
// is, and reports whether it did.
func (ps *Problems) OfUnit(path string, c *domain.Column) bool {
	if c.TellsUnit() {
		ps.Add(path, domain.UnitWords(*c)+", which names the privacy unit", "a column of values that many units share")
	}
	return c.TellsUnit()
}

// Join appends problems that a table's domain has with settings.
func (ps *Problems) Join(found schema.Problems) {
	for _, p := range found {
		*ps = append(*ps, Problem{Problem: p})
	}
}

// Err is nil where there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
