package pipeline

import (
	"strings"

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
func (ps *Problems) OfUnit(path string, c *Column) bool {
	if c.TellsUnit() {
		ps.Add(path, UnitWords(*c)+", which names the privacy unit", "a column of values that many units share")
	}
	return c.TellsUnit()
}

// UnitWords names columns that tell whose a row is, and the column that each was computed from.
func UnitWords(columns ...Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		if names[i] = c.Name; c.FromUnit != "" && c.FromUnit != c.Name {
			names[i] += " (computed from " + c.FromUnit + ")"
		}
	}
	return strings.Join(names, ", ")
}

// Err is nil where there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
