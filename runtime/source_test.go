package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime/source"
)

// subjects has a line for each source, or several that begin with its name: settings in `dataset`, the files that they
// name, and how many rows come of them.
func subjects() map[string]subject {
	return map[string]subject{
		"file": {settings: "{file: a.csv}", files: map[string]string{"a.csv": rows(0, 300)}, rows: 300},
		"file of a pattern": {settings: `{file: "part-*.csv"}`, files: map[string]string{"part-1.csv": rows(0, 200), "part-10.csv": rows(200, 210),
			"part-2.csv": rows(210, 300)}, rows: 300},
		"demo": {settings: "{demo: cardio, demo_rows: 300}", rows: 300},
	}
}

// rows is a CSV of rows numbered from one number to another, in the columns of columns.
func rows(from, to int) string {
	var b strings.Builder
	b.WriteString("n,place\n")
	for n := from; n < to; n++ {
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
			for _, fault := range faults(t, kind, one) {
				t.Errorf("%s: %s", name, fault)
			}
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
