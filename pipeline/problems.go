package pipeline

import "strings"

// Problem is one thing wrong with a stage's settings or inputs, found before
// any data is read.
type Problem struct {
	Path     string // of the setting, relative to the stage; "" is the stage itself
	Found    string // what is there
	Accepted string // what may be there
	Rule     string // audit rule, such as W03; "" where none
}

func (p Problem) Error() string {
	var b strings.Builder
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString("is " + p.Found + ", must be " + p.Accepted)
	if p.Rule != "" {
		b.WriteString(" (" + p.Rule + ")")
	}
	return b.String()
}

// Problems is every problem of a stage at once; as an error it lists them.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Add appends a problem.
func (ps *Problems) Add(path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted})
}

// Refuse appends a problem of privacy, with its audit rule.
func (ps *Problems) Refuse(rule, path, found, accepted string) {
	*ps = append(*ps, Problem{Path: path, Found: found, Accepted: accepted, Rule: rule})
}

// Err is nil where there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}
