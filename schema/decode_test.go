package schema

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

func parsed(t testing.TB, text string) *Document {
	t.Helper()
	d, ps := Parse("s.yaml", []byte(text))
	if len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	return d
}

const smallSpec = `weir: 1
name: t
dataset:
  csv: {delimiter: ";"}
  rows_public: 7e4
  missing: [1.0, "?", yes, 2020-01-01]
privacy: {epsilon: .inf, adjacency: add_remove}
stages:
  z: {kind: impute_knn, from: [a], neighbors: 0x10}
  a: {kind: bounds, columns: [x.y, w]}
`

func TestDecodeKeepsDefaults(t *testing.T) {
	d := parsed(t, smallSpec)
	spec := newTestSpec()
	if ps := d.Decode("", spec); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	if *spec.Dataset.RowsPublic != 70000 || !math.IsInf(float64(spec.Privacy.Epsilon), 1) || spec.Privacy.Delta != 1e-5 {
		t.Errorf("%+v", spec)
	}
	if diff := cmp.Diff(&testCSV{Delimiter: ";", Header: true}, spec.Dataset.CSV); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Text{"1.0", "?", "yes", "2020-01-01"}, spec.Dataset.Missing); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"z", "a"}, []string{spec.Stages[0].Name, spec.Stages[1].Name}); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeStage(t *testing.T) {
	d := parsed(t, smallSpec)
	common, settings := &struct {
		Kind   string     `yaml:"kind" required:"true"`
		Common testCommon `yaml:",inline"`
	}{}, &testImpute{Neighbors: 3, Scope: "table"}
	if ps := d.Decode("stages.z", common, settings); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	if common.Kind != "impute_knn" || common.Common.From[0] != "a" ||
		*settings != (testImpute{Neighbors: 16, Scope: "table"}) {
		t.Errorf("%+v %+v", common, settings)
	}
	// alone, the settings refuse the keys of the others
	if ps := d.Decode("stages.z", &testImpute{Neighbors: 3, Scope: "table"}); len(ps) != 2 {
		t.Errorf("%d problems, want unknown keys kind and from: %v", len(ps), Join(ps))
	}
}

// even decodes itself and refuses what its schema cannot say.
type even int

func (even) JSONSchema() map[string]any { return map[string]any{"type": "integer"} }
func (e *even) UnmarshalYAML(n *yaml.Node) error {
	var i int
	if err := n.Decode(&i); err != nil || i%2 != 0 {
		return NodeProblem(n, "an even number")
	}
	*e = even(i)
	return nil
}

// TestDecodeKeepsTheDefaultOfAProblem: what is wrong, or has something wrong inside, is left as it was;
// what stands beside it is decoded.
func TestDecodeKeepsTheDefaultOfAProblem(t *testing.T) {
	d := parsed(t, "block:\n  a: 4\n  b: x\n  list: [2, 3]\n  m: {x: 5}\n  n: [1, y]\n  in: {c: 7, d: z}\n")
	v := struct {
		A    even            `yaml:"a"`
		B    int             `yaml:"b"`
		List []even          `yaml:"list,omitempty"`
		M    map[string]even `yaml:"m,omitempty"`
		N    []int           `yaml:"n,omitempty"`
		Deep struct {
			C int `yaml:"c"`
			D int `yaml:"d"`
		} `yaml:"in"`
	}{A: 8, B: 9}
	got := Join(d.Decode("block", &v))
	want := "s.yaml:3:6: block.b: is the text \"x\", must be a whole number\n" +
		"s.yaml:4:13: block.list[1]: is 3, must be an even number\n" +
		"s.yaml:5:10: block.m.x: is 5, must be an even number\n" +
		"s.yaml:6:10: block.n[1]: is the text \"y\", must be a whole number\n" +
		"s.yaml:7:17: block.in.d: is the text \"z\", must be a whole number"
	if got == nil || got.Error() != want {
		t.Errorf("got %v\nwant %s", got, want)
	}
	if v.A != 4 || v.B != 9 || v.List != nil || v.M != nil || v.N != nil || v.Deep.C != 7 || v.Deep.D != 0 {
		t.Errorf("decoded: %+v", v)
	}
}

func TestDecodeReplacesListsAndMaps(t *testing.T) {
	d := parsed(t, "l: [3]\nm: {b: 2}\np: null\nn: {}\n")
	type nest struct {
		K int `yaml:"k"`
	}
	one := 1.0
	v := struct {
		L []int          `yaml:"l"`
		M map[string]int `yaml:"m"`
		P *float64       `yaml:"p"`
		N nest           `yaml:"n"`
	}{[]int{1, 2}, map[string]int{"a": 1}, &one, nest{7}}
	if ps := d.Decode("", &v); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	if len(v.L) != 1 || len(v.M) != 1 || v.M["b"] != 2 || v.P != nil || v.N.K != 7 {
		t.Errorf("%+v", v)
	}
}

func TestDecodeMissingPath(t *testing.T) {
	d := parsed(t, "weir: 1\n")
	if ps := d.Decode("dataset", &testDataset{}); len(ps) != 0 {
		t.Error(Join(ps))
	}
	want := "s.yaml:1:1: privacy: is missing, must be a mapping with keys of epsilon, delta, adjacency, accountant, split"
	if err := Join(d.Decode("privacy", &newTestSpec().Privacy)); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if ps := d.Decode("a..b", &testDataset{}); len(ps) != 1 {
		t.Error("a malformed path is no problem")
	}
	if ps := d.Decode("", testDataset{}); len(ps) != 1 {
		t.Error("a target that is not a pointer is no problem")
	}
}

func TestSet(t *testing.T) {
	d := parsed(t, smallSpec)
	for _, kv := range [][2]string{{"privacy.epsilon", "0.5"}, {"privacy.split.train", "1"}, {"stages.a.columns[1]", "v"},
		{"stages.a.columns[2]", "u"}, {"dataset.missing", "[a, 3]"}, {`dataset.columns."x.y"`, "{type: integer}"}} {
		if err := d.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	spec := newTestSpec()
	if ps := append(check(d, specSchema(t)), d.Decode("", spec)...); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	if spec.Privacy.Epsilon != 0.5 || spec.Privacy.Split["train"] != 1 || spec.Dataset.Columns["x.y"].Type != "integer" ||
		!d.Has("stages.a.columns[2]") {
		t.Errorf("%+v", spec)
	}
}

func TestSetReportsItsPlace(t *testing.T) {
	d := parsed(t, smallSpec)
	for path, value := range map[string]string{"privacy.epsilon": "-1", "stages.z": "{kind: bounds, outsid: clip}",
		"seeds": "3", "dataset.privacy_unit.column": "c"} {
		if err := d.Set(path, value); err != nil {
			t.Fatal(err)
		}
	}
	want := "--set dataset.privacy_unit.column: dataset.privacy_unit.max_rows: is missing, must be a whole number of at " +
		"least 1\n" +
		"--set privacy.epsilon: is -1, must be a number above 0 or inf\n" +
		"--set seeds: is an unknown key, must be one of weir, name, dataset, privacy, seed, stages; did you mean seed?\n" +
		"--set stages.z: stages.z.outsid: is an unknown key, must be one of kind, from, outside, columns; did you mean " +
		"outside?"
	if err := Join(check(d, specSchema(t))); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, kv := range [][2]string{{"", "1"}, {"a..b", "1"}, {"name.x", "1"}, {"stages.a.columns[5]", "x"},
		{"stages.a[0]", "x"},
		{"seed", "a: b"}, {"seed", "- a"}, {"name", "a #b"}, {"seed", "*x"}, {"seed", "&x 1"}, {"seed", "[1"},
		{"new.list[0]", "1"}, {`"x`, "1"}} {
		d := parsed(t, smallSpec)
		err := d.Set(kv[0], kv[1])
		if err == nil || !strings.HasPrefix(err.Error(), "--set "+kv[0]) {
			t.Errorf("--set %s=%s: error %v", kv[0], kv[1], err)
		}
		if ps := check(d, specSchema(t)); len(ps) > 0 {
			t.Errorf("--set %s=%s has changed the document: %v", kv[0], kv[1], Join(ps))
		}
	}
}

func TestAt(t *testing.T) {
	d := parsed(t, smallSpec)
	for path, want := range map[string][2]int{"": {1, 1}, "name": {2, 7}, "dataset": {3, 1}, "dataset.csv.delimiter": {4,
		20},
		"stages.a.columns[1]": {10, 36}, "stages.a.nothing": {10, 6}, "nowhere.at.all": {1, 1}, "stages": {8, 1}} {
		if l, c := d.At(path); l != want[0] || c != want[1] {
			t.Errorf("%s: at %d:%d, want %v", path, l, c, want)
		}
	}
	p := d.Problem("stages.z.from[0]", "the name of a stage above", DidYouMean("b", []string{"B"}))
	if want := `s.yaml:9:32: stages.z.from[0]: is the text "a", must be the name of a stage above; did you mean B?`; p.
		Error() != want {
		t.Errorf("got %s\nwant %s", p, want)
	}
}

func TestJoin(t *testing.T) {
	a, b := Problem{File: "f", Line: 2, Column: 1, Found: "x"}, Problem{File: "f", Line: 1, Column: 9, Found: "y"}
	err := Join([]Problem{a, b, a})
	var ps Problems
	var one Problem
	if !errors.As(err, &ps) || len(ps) != 2 || ps[0] != b || !errors.As(err, &one) {
		t.Errorf("%v", err)
	}
	if Join(nil) != nil {
		t.Error("no problems are an error")
	}
}
