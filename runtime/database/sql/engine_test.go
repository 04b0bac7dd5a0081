package sql

import (
	"strings"
	"testing"

	"weir/internal/enginetest"
)

const missing = enginetest.Missing

// engine is a dialect and an engine that is installed.
type engine struct {
	Dialect
	at enginetest.Engine
}

// engines returns the engines that are installed, with their dialects.
func engines(t *testing.T) (list []engine) {
	t.Helper()
	for _, one := range enginetest.List(t) {
		for _, d := range dialects() {
			if d.Name() == one.Name {
				list = append(list, engine{d, one})
			}
		}
	}
	return list
}

// run returns the rows of all statements.
func (e engine) run(t *testing.T, statements string) [][]string {
	t.Helper()
	rows, err := e.at.Rows(statements)
	if err != nil {
		t.Fatalf("%s: %v: %.2000s", e.Name(), err, statements)
	}
	return rows
}

// overKept returns the rows of statements over the table kept, which a statement makes.
func (e engine) overKept(t *testing.T, base string, statements ...string) [][]string {
	t.Helper()
	kind := "TABLE"
	if e.Name() == "spark" {
		kind = "VIEW" // it has no temporary tables
	}
	list := append([]string{"CREATE TEMPORARY " + kind + " kept AS " + base}, statements...)
	return e.run(t, strings.Join(append(list, "DROP "+kind+" kept"), "; "))
}
