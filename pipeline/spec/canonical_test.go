package spec

import (
	"reflect"
	"strings"
	"testing"
)

// TestEveryKeyIsInTheCanonicalForm: the digest of a spec is of its canonical form, so a key
// that is not in it could change what is released under the name of an earlier run.
func TestEveryKeyIsInTheCanonicalForm(t *testing.T) {
	files := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[canonicalSpec]()) {
		files[key(f)] = true
	}
	keys := 0
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Spec]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" {
			continue
		}
		if keys++; !files[name] {
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
