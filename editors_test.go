package weir_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// addresses returns the $id of each published schema. Editors and repositories refer to them: none may ever change.
func addresses() map[string]string {
	return map[string]string{
		"schema/pipeline.schema.json": "https://json.schemastore.org/weir-pipeline-1.json",
		"schema/domain.schema.json":   "https://json.schemastore.org/weir-domain-1.json",
	}
}

// TestSchemasServeEditors: each published schema stands under its address and says of every setting and every kind what
// it is, which an editor shows at its word. Each example is one that the schema accepts.
func TestSchemasServeEditors(t *testing.T) {
	for file, id := range addresses() {
		text := read(t, file)
		var doc map[string]any
		if err := json.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatal(err)
		}
		if doc["$id"] != id || doc["title"] == nil || doc["description"] == nil {
			t.Errorf("%s: has the $id %v, the title %v and the description %v, must have all, the first %s", file, doc["$id"],
				doc["title"], doc["description"], id)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource(id, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		w := &settingsWalk{t: t, file: file, id: id, compiler: c}
		w.walk(doc, "#")
		if w.examples < 3 {
			t.Errorf("%s: has %d examples: the check has gone blind", file, w.examples)
		}
	}
}

// settingsWalk goes through all settings of a schema.
type settingsWalk struct {
	t        *testing.T
	file, id string
	compiler *jsonschema.Compiler
	examples int
}

func (w *settingsWalk) walk(v any, place string) {
	switch v := v.(type) {
	case []any:
		for i, one := range v {
			w.walk(one, fmt.Sprintf("%s/%d", place, i))
		}
	case map[string]any:
		named, _ := v["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(named)) {
			w.setting(named[name], place+"/properties/"+name)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.walk(v[key], place+"/"+key)
		}
	}
}

// setting checks one setting. What only tells a kind from others (if) is shown nowhere.
func (w *settingsWalk) setting(v any, place string) {
	s, _ := v.(map[string]any)
	described := s["description"] != nil && s["description"] != ""
	if enum, ok := s["enum"].([]any); ok && !described {
		list, _ := s["enumDescriptions"].([]any)
		described = len(list) == len(enum) && !slices.Contains(list, any(""))
	}
	if !described && s["$ref"] == nil && !strings.HasSuffix(place, "/if/properties/kind") {
		w.t.Errorf("%s: %s says nothing of itself", w.file, place)
	}
	examples, _ := s["examples"].([]any)
	for _, example := range examples {
		w.examples++
		if shape, err := w.compiler.Compile(w.id + place); err != nil {
			w.t.Errorf("%s: %s: %v", w.file, place, err)
		} else if err := shape.Validate(example); err != nil {
			w.t.Errorf("%s: %s: refuses its example %v: %v", w.file, place, example, err)
		}
	}
}

// TestSchemaStoreEntries: packaging/editors/schemastore.json has an entry for each schema, of the keys that the catalog
// of SchemaStore takes (its schema-catalog.json of 2026: name, description and url, which begins with https, are
// required; fileMatch and versions may stand), and its patterns are of files of ours alone.
func TestSchemaStoreEntries(t *testing.T) {
	var entries []struct {
		Name, Description, URL string
		FileMatch              []string
		Versions               map[string]string
	}
	d := json.NewDecoder(strings.NewReader(read(t, "packaging/editors/schemastore.json")))
	d.DisallowUnknownFields()
	if err := d.Decode(&entries); err != nil {
		t.Fatal(err)
	}
	urls := slices.Sorted(maps.Values(addresses()))
	for _, e := range entries {
		index := slices.Index(urls, e.URL)
		if index < 0 || e.Name == "" || e.Description == "" || e.Versions["1"] != e.URL || len(e.FileMatch) == 0 {
			t.Errorf("entry %+v: must have a name, a description, files, and one of the addresses %v", e, urls)
			continue
		}
		urls = slices.Delete(urls, index, index+1)
		for _, pattern := range e.FileMatch {
			if !strings.HasPrefix(pattern, "*.weir") {
				t.Errorf("%s: matches %s, must match files that are named for weir", e.Name, pattern)
			}
		}
	}
	if len(urls) > 0 {
		t.Errorf("no entry for %v", urls)
	}
}
