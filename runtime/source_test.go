package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime/database/duckdb"
	"weir/runtime/source"
)

// subjects has a line for each source, or several that begin with its name: settings in `dataset`, the files that they
// name, and how many rows come of them.
func subjects() map[string]subject {
	return map[string]subject{
		"file": {settings: "{file: a.csv}", files: map[string]string{"a.csv": rows(0, 300)}, rows: 300},
		"file of a pattern": {settings: `{file: "part-*.csv"}`, files: map[string]string{"part-1.csv": rows(0, 200),
			"part-10.csv": rows(200, 210),
			"part-2.csv":  rows(210, 300)}, rows: 300},
		"database": {settings: "{database: {engine: duckdb, read: {csv: a.csv}, rows: may_leave}}",
			files: map[string]string{"a.csv": rows(0, 300)},
			rows:  300, needs: needsDuckDB},
		"database of a pattern": {settings: `{database: {engine: duckdb, read: {csv: "part-*.csv"}, rows: may_leave}}`,
			files: map[string]string{"part-1.csv": rows(0, 200), "part-2.csv": rows(200, 300)}, rows: 300, needs: needsDuckDB},
		"demo": {settings: "{demo: cardio, demo_rows: 300}", rows: 300},
	}
}

// needsDuckDB says what is missing for tests that read through DuckDB.
func needsDuckDB() error {
	_, err := duckdb.Find()
	return err
}

// rows returns a CSV of rows numbered from one number to another, in the columns of columns.
func rows(start, end int) string {
	var b strings.Builder
	b.WriteString("n,place\n")
	for n := start; n < end; n++ {
		fmt.Fprintf(&b, "%d,%s\n", n, []string{"north", "south"}[n%2])
	}
	return b.String()
}

// TestEverySource holds each source to what pipeline.Source promises; one without a line in subjects is a red build.
func TestEverySource(t *testing.T) {
	cases := subjects()
	for _, kind := range source.Kinds() {
		if _, ok := cases[kind.Name]; !ok {
			t.Errorf("%s: has no line in subjects", kind.Name)
		}
		for name, one := range cases {
			if strings.Fields(name)[0] != kind.Name {
				continue
			}
			t.Run(name, func(t *testing.T) {
				if one.needs != nil && one.needs() != nil {
					t.Skip(one.needs())
				}
				for _, fault := range faults(t, kind, one) {
					t.Error(fault)
				}
			})
		}
	}
}

// TestSourcesMeet: a setting of a source is none of another, nor one that all datasets share.
func TestSourcesMeet(t *testing.T) {
	reg, err := pipeline.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spec.Schema(reg.Reading(source.Kinds()...)); err != nil {
		t.Error(err)
	}
}
