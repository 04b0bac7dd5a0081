package schema

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The expected texts of this file follow from the tags beside them and JSON Schema 2020-12.

func TestOf(t *testing.T) {
	type inner struct {
		A int `yaml:"a" min:"1"`
	}
	type settings struct {
		Steps   int            `yaml:"steps" doc:"Steps." required:"true" min:"1"`
		Epsilon Float          `yaml:"epsilon" exclusiveMin:"0"`
		Scope   string         `yaml:"scope" enum:"a|b"`
		Columns []string       `yaml:"columns,omitempty" format:"columns" minItems:"1" unique:"true"`
		Stop    *float64       `yaml:"stop" min:"0.5" unit:"s"`
		Inner   inner          `yaml:"inner,inline"`
		Shares  map[string]int `yaml:"shares,omitempty" max:"9" minItems:"2"`
		Skipped chan int       `yaml:"-"`
	}
	s, err := Of(&settings{Epsilon: Float(math.Inf(1)), Scope: "b", Inner: inner{A: 2}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"steps":{"description":"Steps.","type":"integer","format":"int64","minimum":1},` +
		`"epsilon":{"anyOf":[{"type":"number","exclusiveMinimum":0},{"const":"inf"}],"default":"inf"},` +
		`"scope":{"type":"string","enum":["a","b"],"default":"b"},` +
		`"columns":{"type":"array","items":{"type":"string","format":"column"},"minItems":1,"uniqueItems":true},` +
		`"stop":{"type":["number","null"],"format":"double","minimum":0.5,"x-unit":"s"},` +
		`"a":{"type":"integer","format":"int64","minimum":1,"default":2},` +
		`"shares":{"type":"object","additionalProperties":{"type":"integer","format":"int64","maximum":9},"minProperties":2}},` +
		`"additionalProperties":false,"required":["steps"]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestOfRefuses(t *testing.T) {
	type self struct {
		Next []self `yaml:"next"`
	}
	for want, v := range map[string]any{
		"has no yaml key": struct{ A int }{},
		"is declared twice": struct {
			A int `yaml:"a"`
			B int `yaml:"a"`
		}{},
		"must be a number": struct {
			A int `yaml:"a" min:"x"`
		}{},
		"must be on a setting of type": struct {
			A string `yaml:"a" min:"1"`
		}{},
		"own rules": struct {
			A int `yaml:"a" min:"1"`
		}{},
		"time.Duration": struct {
			A time.Duration `yaml:"a"`
		}{},
		"holds itself": self{},
		"cannot be a setting": struct {
			A chan int `yaml:"a"`
		}{},
		"keys must be text": struct {
			A map[int]int `yaml:"a"`
		}{},
		"has the option": struct {
			A int `yaml:"a,omitemty"`
		}{},
		"regular expression": struct {
			A string `yaml:"a" pattern:"("`
		}{},
		"NaN": struct {
			A float64 `yaml:"a"`
		}{math.NaN()},
		"is nil": (*self)(nil),
	} {
		if _, err := Of(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: error %v, want one with %q", v, err, want)
		}
	}
}

func TestPublishIsStableJSON(t *testing.T) {
	s := specSchema(t)
	a, err := s.Publish("https://weir.example/spec", "a weir spec", "of a test")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := specSchema(t).Publish("https://weir.example/spec", "a weir spec", "of a test")
	if string(a) != string(b) || !json.Valid(a) {
		t.Error("two derivations differ, or are not JSON")
	}
	for _, want := range []string{`"$schema": "https://json-schema.org/draft/2020-12/schema"`, `"const": "impute_knn"`,
		`"neighbors"`} {
		if !strings.Contains(string(a), want) {
			t.Errorf("the schema lacks %s", want)
		}
	}
}

func TestUnionRefusesASettingTwice(t *testing.T) {
	a, _ := Of(testCommon{})
	if _, err := Union("kind", map[string]*Schema{"x": a}, a); err == nil || !strings.Contains(err.Error(),
		`"from" is declared twice`) {
		t.Errorf("error %v", err)
	}
	if _, err := a.With([]string{"stages", "*"}, a); err == nil {
		t.Error("With takes a path that the schema does not have")
	}
}

// TestSettingsOfLists: the settings of a list's items stand under path[], settings of a mapping's under
// path.NAME, or nobody finds them.
func TestSettingsOfLists(t *testing.T) {
	type item struct {
		From string `yaml:"from" required:"true" doc:"Where from."`
	}
	s, err := Of(struct {
		List []item `yaml:"list,omitempty"`
		Deep []struct {
			In []item `yaml:"in,omitempty"`
		} `yaml:"deep,omitempty"`
		Map map[string]item `yaml:"map,omitempty"`
	}{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Setting{}
	for _, one := range s.Settings() {
		got[one.Path] = one
	}
	for _, path := range []string{"list[].from", "deep[].in[].from", "map.NAME.from"} {
		if one := got[path]; one.Doc != "Where from." || !one.Required {
			t.Errorf("%s: %+v", path, one)
		}
	}
}

func TestSettings(t *testing.T) {
	s, _ := Of(newTestSpec())
	got := map[string]Setting{}
	for _, one := range s.Settings() {
		got[one.Path] = one
	}
	want := Setting{Path: "privacy.delta", Accepted: "a number of at least 0 and below 1", Default: "0.00001"}
	if diff := cmp.Diff(want, got["privacy.delta"]); diff != "" {
		t.Error(diff)
	}
	if w := got["weir"]; !w.Required || w.Doc != "Language version." || w.Default != "" {
		t.Errorf("weir: %+v", w)
	}
}

// TestWordsAreTold: names of a list are told apart whatever is in them.
func TestWordsAreTold(t *testing.T) {
	names := []string{"b", "Paris, TX", "New York", ""}
	if got, want := Words(names), `b, "Paris, TX", "New York", ""`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	if p := UnknownName("town", "category", "c", names); p.Accepted != "one of "+Words(names) {
		t.Errorf("%s, must list the names so", p.Accepted)
	}
}
