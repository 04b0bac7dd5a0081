package table

import (
	"errors"
	"fmt"
	"strings"
)

// maxProblems is how many different problems are listed before reading stops.
const maxProblems = 20

// maxBadCells stops the reading of a file that is bad throughout.
const maxBadCells = 10_000

// Problem is one way in which a file is not what its domain says. It names a
// place and a rule, never a value.
type Problem struct {
	File   string
	Line   int64  // from 1; 0 where the whole file is meant
	Unit   string // what Line counts: line of a text file, row of another
	Column string
	Rule   string // what was found and what is accepted
	More   int64  // further lines that break the same rule in the same column
}

func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ": %s %d", p.Unit, p.Line)
	}
	if p.Column != "" {
		fmt.Fprintf(&b, ": column %q", p.Column)
	}
	b.WriteString(": " + p.Rule)
	if p.More > 0 {
		fmt.Fprintf(&b, " (and %d more such %ss read)", p.More, p.Unit)
	}
	return b.String()
}

// Error lists what is wrong with a file.
type Error struct {
	Problems []Problem
	Stopped  bool // reading stopped before the end of the file
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	if e.Stopped {
		lines = append(lines, "reading stopped here; the rest of the file is not checked")
	}
	return strings.Join(lines, "\n")
}

// problems collects, one entry a file, column and rule.
type problems struct {
	file, unit string
	list       []Problem
	index      map[[3]string]int
	cells      int64
	fatal      bool // what follows cannot be made sense of
	stopped    bool // the reading of a file was
}

func (p *problems) add(line int64, column, rule string) {
	p.merge(Problem{File: p.file, Line: line, Unit: p.unit, Column: column, Rule: rule})
}

func (p *problems) merge(q Problem) {
	p.cells += 1 + q.More
	key := [3]string{q.File, q.Column, q.Rule}
	if i, ok := p.index[key]; ok {
		p.list[i].More += 1 + q.More
		return
	}
	if p.index == nil {
		p.index = map[[3]string]int{}
	}
	p.index[key] = len(p.list)
	p.list = append(p.list, q)
}

func (p *problems) take(q *problems) {
	for _, one := range q.list {
		p.merge(one)
	}
	p.fatal = p.fatal || q.fatal
}

func (p *problems) full() bool {
	return p.fatal || len(p.list) >= maxProblems || p.cells >= maxBadCells
}

// err returns nil where nothing was found.
func (p *problems) err(stopped bool) error {
	if len(p.list) == 0 {
		return nil
	}
	list := p.list
	if len(list) > maxProblems {
		list, stopped = list[:maxProblems], true
	}
	return &Error{list, stopped}
}

// wrong adds one problem of a whole file.
func wrong(file, format string, args ...any) error {
	return &Error{Problems: []Problem{{File: file, Rule: fmt.Sprintf(format, args...)}}}
}

// asProblems splits an error of this package; others become one problem.
func asProblems(file string, err error) []Problem {
	var e *Error
	if errors.As(err, &e) {
		return e.Problems
	}
	return []Problem{{File: file, Rule: err.Error()}}
}
