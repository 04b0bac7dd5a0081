package schema

import (
	"testing"

	"gopkg.in/yaml.v3"
)

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

// specSchema is the whole schema, as pipeline builds it.
func specSchema(t testing.TB) *Schema {
	t.Helper()
	of := func(v any) *Schema {
		s, err := Of(v)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	kinds := map[string]*Schema{"bounds": of(testBounds{Outside: "missing"}),
		"impute_knn": of(testImpute{Neighbors: 3, Scope: "table"})}
	u, err := Union("kind", kinds, of(testCommon{}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := of(newTestSpec()).With([]string{"stages", "*"}, u)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
