package spec

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// TestPrivateCategories: a list that is private makes the column an open set of values, and
// is written as it is read.
func TestPrivateCategories(t *testing.T) {
	const text = "columns:\n  - {name: town, type: categorical, categories: private, missing: [\"?\"]}\n  - {name: job, " +
		"type: text}\n  - {name: sex, type: categorical, categories: [private, f]}\n"
	d, err := ParseDomain("domain.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if c := d.Columns[0]; c.Type != domain.Text || !c.Private() || !c.Nullable {
			t.Errorf("town is %+v, must be text, private and nullable", c)
		}
		if !slices.Equal(d.PrivateCategories(), []string{"town"}) || !slices.Equal(d.Columns[2].Categories,
			[]string{"private", "f"}) {
			t.Errorf("private: %v, sex: %v", d.PrivateCategories(), d.Columns[2].Categories)
		}
		if !(pipeline.Headers{"in": {Domain: d}}).Clone()["in"].Domain.Columns[0].Private() {
			t.Error("a copy of the domain forgets that the list is private")
		}
		written, err := d.YAML()
		if err != nil {
			t.Fatal(err)
		}
		if d, err = ParseDomain("domain.yaml", written); err != nil {
			t.Fatalf("%v\n%s", err, written)
		}
	}
	for column, want := range map[string]string{
		"type: ordinal, categories: private":     "must be private for type categorical alone",
		"type: boolean, categories: private":     "must be private for type categorical alone",
		"type: integer, categories: private":     "must be private for type categorical alone",
		"type: categorical, categories: []":      "at least one value, or the word private",
		"type: categorical, categories: secret":  "private",
		"type: categorical":                      "or private and a stage of kind dp_categories",
		"type: text, categories: [a]":            "given for type text",
		"type: categorical, categories: Private": "private",
	} {
		if _, err := ParseDomain("domain.yaml", []byte("columns:\n  - {name: x, "+column+"}\n")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, must say %q", column, err, want)
		}
	}
}

// TestReleaseOf quotes what YAML would read as something else.
func TestReleaseOf(t *testing.T) {
	if got, want := domain.ReleaseOf([]string{"town", "no", "a: b"}),
		`categories: {kind: dp_categories, columns: [town, "no", "a: b"]}`; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
}

// TestEveryKeyIsInTheCanonicalForm: the digest of a spec is of its canonical form, so a key
// that is not in it could change what is released under the name of an earlier run.
func TestEveryKeyIsInTheCanonicalForm(t *testing.T) {
	retained := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[canonicalSpec]()) {
		retained[key(f)] = true
	}
	keys := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if keys++; !retained[name] {
			t.Errorf("the key %s is not in the canonical form", name)
		}
	}
	if keys < 7 {
		t.Errorf("%d keys were looked at, must be all of a spec", keys)
	}
}

func key(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	return name
}
