package schema

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestTheMeantOption: of two mappings told apart by a constant, the one whose constant stands is explained,
// though the other has fewer faults.
func TestTheMeantOption(t *testing.T) {
	option := func(mark string, settings map[string]any) any {
		settings["type"] = map[string]any{"const": mark}
		return map[string]any{"type": "object", "properties": settings, "additionalProperties": false,
			"required": []string{"type"}}
	}
	number := map[string]any{"type": "number"}
	s := newSchema(ordered(map[string]any{"anyOf": []any{
		option("a", map[string]any{"x": map[string]any{}, "y": map[string]any{}}),
		option("b", map[string]any{"x": number, "y": number}),
	}}).(*object))
	d := parsed(t, "{type: b, x: one, y: two}\n")
	want := "s.yaml:1:14: x: is the text \"one\", must be a number\ns.yaml:1:22: y: is the text \"two\", must be a number"
	if err := Join(check(d, s)); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestCheckKnowsWhatParseRefused: the check does not repeat the problem of an alias.
func TestCheckKnowsWhatParseRefused(t *testing.T) {
	d, ps := Parse("s.yaml", []byte("weir: 1\nname: &n t\nprivacy: {epsilon: 1, adjacency: *n}\n"))
	if len(ps) != 2 {
		t.Fatalf("%v", Join(ps))
	}
	if ps := check(d, specSchema(t)); len(ps) > 0 {
		t.Error(Join(ps))
	}
}

// TestUntypedValues: dates stay text and numbers keep their type where no type is declared.
func TestUntypedValues(t *testing.T) {
	d := parsed(t, "v: [2020-01-01, 1, 1.5, yes, true, ~, {a: b}]\n")
	var v struct {
		V any `yaml:"v"`
	}
	if ps := d.Decode("", &v); len(ps) > 0 {
		t.Fatal(Join(ps))
	}
	want := []any{"2020-01-01", 1, 1.5, "yes", true, nil, map[string]any{"a": "b"}}
	if diff := cmp.Diff(any(want), v.V); diff != "" {
		t.Error(diff)
	}
}

// TestAnyOf: a value that is text or a mapping is explained by the form that was written.
func TestAnyOf(t *testing.T) {
	csv, err := Of(testCSV{Delimiter: ","})
	if err != nil {
		t.Fatal(err)
	}
	s := AnyOf(PathSchema(), csv)
	for text, want := range map[string]string{
		"a.csv":           "",
		"{header: true}":  "",
		"{header: 1}":     "s.yaml:1:10: header: is 1, must be true or false",
		"{headers: true}": "s.yaml:1:2: headers: is an unknown key, must be one of delimiter, header; did you mean header?",
		"[a]": "s.yaml:1:1: is a list of 1 item, must be a path that is not empty or a mapping with keys of " +
			"delimiter, header",
	} {
		got := ""
		if err := Join(check(parsed(t, text), s)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestInfiniteIsRefused: a plain float64 without bounds takes every finite number and no infinite one.
func TestInfiniteIsRefused(t *testing.T) {
	s, err := Of(struct {
		A float64 `yaml:"a"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"1.7976931348623157e308": 0, "-1e-320": 0, ".inf": 1, "-.inf": 1, "inf": 1} {
		if ps := check(parsed(t, "a: "+text), s); len(ps) != want {
			t.Errorf("%s: %d problems, want %d", text, len(ps), want)
		}
	}
}

// testSpec has the shape of a weir spec (docs/design.md section 2), with one setting of every sort.
type testSpec struct {
	Weir    int          `yaml:"weir" doc:"Language version." required:"true" min:"1" max:"1"`
	Name    string       `yaml:"name" required:"true" pattern:"^[a-z][a-z0-9-]*$"`
	Dataset testDataset  `yaml:"dataset"`
	Privacy testPrivacy  `yaml:"privacy" required:"true"`
	Seed    int64        `yaml:"seed"`
	Stages  Ordered[Raw] `yaml:"stages,omitempty"`
}

type testDataset struct {
	File        string           `yaml:"file,omitempty" format:"path"`
	CSV         *testCSV         `yaml:"csv"`
	PrivacyUnit testUnit         `yaml:"privacy_unit,omitempty"`
	RowsPublic  *int             `yaml:"rows_public" min:"1" unit:"rows"`
	Missing     []Text           `yaml:"missing,omitempty"`
	Columns     map[string]testC `yaml:"columns,omitempty"`
}

type testCSV struct {
	Delimiter string `yaml:"delimiter" minLength:"1"`
	Header    bool   `yaml:"header"`
}

func (c *testCSV) SetDefaults() { c.Delimiter, c.Header = ",", true }

type testC struct {
	Type   string      `yaml:"type" required:"true" enum:"numeric|integer|categorical"`
	Bounds *[2]float64 `yaml:"bounds"`
}

type testPrivacy struct {
	Epsilon    Float              `yaml:"epsilon" required:"true" exclusiveMin:"0"`
	Delta      float64            `yaml:"delta" min:"0" exclusiveMax:"1"`
	Adjacency  string             `yaml:"adjacency" required:"true" enum:"add_remove|replace_one"`
	Accountant string             `yaml:"accountant" enum:"pld|rdp|zcdp|moments|advanced"`
	Split      map[string]float64 `yaml:"split,omitempty" exclusiveMin:"0" max:"1"`
}

// testUnit is `row` or {column, max_rows}.
type testUnit struct {
	Column  string
	MaxRows int
}

func (testUnit) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		map[string]any{"const": "row"},
		map[string]any{"type": "object", "additionalProperties": false, "required": []string{"column", "max_rows"},
			"properties": map[string]any{"column": map[string]any{"type": "string"},
				"max_rows": map[string]any{"type": "integer", "minimum": 1}}},
	}}
}

func (u *testUnit) UnmarshalYAML(n *yaml.Node) error {
	*u = testUnit{}
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	var long struct {
		Column  string `yaml:"column"`
		MaxRows int    `yaml:"max_rows"`
	}
	err := n.Decode(&long)
	*u = testUnit(long)
	return err
}

func (u testUnit) MarshalYAML() (any, error) {
	if u.Column == "" {
		return "row", nil
	}
	return map[string]any{"column": u.Column, "max_rows": u.MaxRows}, nil
}

type testBounds struct {
	Outside string   `yaml:"outside" enum:"missing|clip|error"`
	Columns []string `yaml:"columns,omitempty" format:"columns" unique:"true"`
}

type testImpute struct {
	Neighbors int     `yaml:"neighbors" min:"1"`
	Scope     string  `yaml:"scope" enum:"table|shard|reference"`
	Weights   bool    `yaml:"weights"`
	Decay     float64 `yaml:"decay" min:"0"`
}

type testCommon struct {
	From []string `yaml:"from,omitempty" format:"stages"`
}

func newTestSpec() *testSpec {
	return &testSpec{Weir: 1, Privacy: testPrivacy{Delta: 1e-5, Accountant: "pld"}}
}

// specSchema returns the whole schema, as pipeline builds it.
func specSchema(t testing.TB) *Schema {
	t.Helper()
	lookup := func(v any) *Schema {
		s, err := Of(v)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	kinds := map[string]*Schema{"bounds": lookup(testBounds{Outside: "missing"}),
		"impute_knn": lookup(testImpute{Neighbors: 3, Scope: "table"})}
	u, err := Union("kind", kinds, lookup(testCommon{}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := lookup(newTestSpec()).With([]string{"stages", "*"}, u)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestBareSchemasKeepSettings: what a schema has for people is left out of what is compiled, and settings are not,
// whatever they are called.
func TestBareSchemasKeepSettings(t *testing.T) {
	type settings struct {
		Title   string   `yaml:"title" doc:"A title." minLength:"2" example:"ab" required:"true"`
		Default []string `yaml:"default" doc:"Words." unique:"true"`
	}
	s, err := Of(&settings{Title: "xy"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := bare(s.doc).(*object).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"A title.", "description", "examples", "uniqueItems"} {
		if strings.Contains(string(got), word) {
			t.Errorf("%s has %s", got, word)
		}
	}
	d := parsed(t, "title: a\ndefault: [x, x]\n")
	if ps := d.Decode("", &settings{Title: "xy"}); len(ps) != 2 {
		t.Errorf("%v, must be a problem with title and one with default", ps)
	}
}
