package compare

import (
	"fmt"
	"testing"
)

// TestVarying: of three specs the settings that differ, with a stage that one alone has as one setting, and columns by
// their names. What all say is not told; one that cannot be read has nothing.
func TestVarying(t *testing.T) {
	spec := func(epsilon, bins, stage, bounds string) []byte {
		return []byte(fmt.Sprintf("weir: 1\nname: a\ndataset:\n  domain:\n    columns:\n      - {name: age, bounds: %s}\n      - {name: sex}\n"+
			"privacy: {epsilon: %s}\nstages:\n  train: {kind: mst, bins: %s}\n%s", bounds, epsilon, bins, stage))
	}
	got := Varying([][]byte{spec("1", "8", "", "[0, 90]"), spec("1.0", "16", "  more: {kind: marginals, real: x}\n", "[0, 90]"),
		[]byte("{"), spec("1", "8", "", "[0, 99]")})
	want := "[[{dataset.domain.columns.age.bounds [0, 90]} {train.bins 8} {more -}] " +
		"[{dataset.domain.columns.age.bounds [0, 90]} {train.bins 16} {more marginals}] [] " +
		"[{dataset.domain.columns.age.bounds [0, 99]} {train.bins 8} {more -}]]"
	if fmt.Sprint(got) != want {
		t.Errorf("specs differ in\n%v, must be\n%v", got, want)
	}
	of := append(spec("1", "8", "", "[0, 90]"), "experiment: {grid: {privacy.epsilon: [1, 2]}}\n"...)
	if got := Varying([][]byte{of, spec("2", "8", "", "[0, 90]")}); fmt.Sprint(got) != "[[{privacy.epsilon 1}] [{privacy.epsilon 2}]]" {
		t.Errorf("a run of an experiment differs from one of none in %v", got)
	}
	if got := Varying([][]byte{spec("1", "8", "", "[0, 90]")}); len(got) != 1 || got[0] != nil {
		t.Errorf("one spec differs in %v", got)
	}
}
