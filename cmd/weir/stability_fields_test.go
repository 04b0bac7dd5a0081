package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// format is a form of files that stays: the types that are read from it and written to it.
type format struct {
	room  string
	types []string
	files *regexp.Regexp
	rare  map[string]string // fields that no folder of a version holds, with the reason
}

func formats() map[string]format {
	const database = "is of a table in a database, which .ci/duckdb and .ci/postgres read"
	return map[string]format{
		"ledger": {"privacy/ledger", []string{"Entry", "unitFields", "Origin", "Filter", "CapTerms"},
			regexp.MustCompile(`weir-ledger\.jsonl$`), nil},
		"owner file": {"runtime/dataset", []string{"owner", "content", "record", "sketches", "spot"},
			regexp.MustCompile(`weir-owner\.json$|/datasets/ds-`),
			map[string]string{"tables": database, "sketch_in_database": database}},
		"record": {"record", []string{"Run", "Dataset", "Terms", "Charge", "Remark", "Stage", "File", "Table",
			"Column"},
			regexp.MustCompile(`/run\.json$`),
			map[string]string{"former_ledger": "is of data that were moved, which those of a version were not"}},
		"event": {"cmd/weir", []string{"event"}, regexp.MustCompile(`/events\.jsonl$`), nil},
	}
}

// fields lists the JSON fields of the types.
func (f format) fields(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob(filepath.Join("../..", f.room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found, types := map[string]bool{}, map[string]bool{}
	for _, path := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, _ := n.(*ast.TypeSpec)
			if spec == nil || !slices.Contains(f.types, spec.Name.Name) {
				return true
			}
			if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
				types[spec.Name.Name] = true
				addTags(found, fields.Fields.List)
			}
			return true
		})
	}
	if len(types) != len(f.types) {
		t.Errorf("%s has the types %v, must have %v", f.room, slices.Sorted(maps.Keys(types)), f.types)
	}
	return slices.Sorted(maps.Keys(found))
}

// addTags adds the names that fields have in JSON.
func addTags(found map[string]bool, fields []*ast.Field) {
	for _, field := range fields {
		if field.Tag == nil {
			continue
		}
		tag, _ := strconv.Unquote(field.Tag.Value)
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
			found[name] = true
		}
	}
}

// keys lists the names of fields in the files of a folder that have the format. What stands within has types of its
// own: commands print plans, ledgers and problems, and the accountant reads events.
func (f format) keys(t *testing.T, folder string) []string {
	t.Helper()
	found := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !f.files.MatchString(filepath.ToSlash(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return addValues(found, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(found))
}

// addValues adds the keys of all JSON values of a text.
func addValues(found map[string]bool, text []byte) error {
	for values := json.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		if err := values.Decode(&v); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		addKeys(found, v)
	}
}

func addKeys(found map[string]bool, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			found[name] = true
			if !slices.Contains([]string{"plan", "event", "ledgers", "problems"}, name) {
				addKeys(found, inner)
			}
		}
	case []any:
		for _, inner := range v {
			addKeys(found, inner)
		}
	}
}

// TestEarlierFieldsAreKnown: every field of ledgers, owner files and records of each version is a field today, and the
// newest folder has an example of each field of today, so that none can be renamed unseen.
func TestEarlierFieldsAreKnown(t *testing.T) {
	versions, err := filepath.Glob(stability + "/*")
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range formats() {
		fields := f.fields(t)
		for _, folder := range versions {
			for _, key := range f.keys(t, folder) {
				if !slices.Contains(fields, key) {
					t.Errorf("%s of %s has the field %s, which no type of %s has", name, folder, key, f.room)
				}
			}
		}
		newest := f.keys(t, filepath.Join(stability, minor(nextVersion)))
		for _, field := range fields {
			if slices.Contains(newest, field) == (f.rare[field] != "") {
				t.Errorf("%s: field %s must stand in a file of the newest version, or in rare with the reason", name, field)
			}
		}
	}
}
