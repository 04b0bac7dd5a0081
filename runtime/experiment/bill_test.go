package experiment

import (
	"path/filepath"
	"testing"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime"
)

// TestDatasetsThatPeopleCallAlike are named in full, in bills and in means over experiments of one dataset;
// others by their file.
func TestDatasetsThatPeopleCallAlike(t *testing.T) {
	lookup := func(file string) *Plan {
		s := &spec.Spec{}
		s.Dataset.Declared, s.Dataset.Version = pipeline.Declared{Kind: "file", Name: filepath.Base(file), Full: file}, "1"
		return &Plan{Base: &compile.Plan{Plan: &pipeline.Plan{}, Spec: s}}
	}
	list := []*Plan{lookup("a/data.csv"), lookup("b/data.csv"), lookup("a/data.csv"), lookup("b/other.csv")}
	names := datasetNames(list)
	if len(names) != 3 {
		t.Fatalf("%v, must be of 3 datasets", names)
	}
	for i, want := range []string{"a/data.csv, version 1", "b/data.csv, version 1", "a/data.csv, version 1", "other.csv"} {
		if got := names[runtime.SourceKey(list[i].Base)]; got != want {
			t.Errorf("%q, must be %q", got, want)
		}
	}
}
