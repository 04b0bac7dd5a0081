//go:build long

package specs_test

import (
	"path/filepath"
	"testing"

	"weir/specs"
)

// TestEverySpecIsSound audits every embedded spec and every example, shrunken, on rows of nobody.
func TestEverySpecIsSound(t *testing.T) {
	for i, name := range specs.Names() {
		if testing.Short() && i%20 > 0 {
			continue
		}
		t.Run(name, func(t *testing.T) { sound(t, name, embedded(name), shrunken, 8) })
	}
	if testing.Short() {
		return
	}
	examples, err := filepath.Glob("../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range examples {
		if planned := example(path); filepath.Ext(path[:len(path)-len(".yaml")]) != ".domain" {
			t.Run(filepath.Base(filepath.Dir(path))+"-"+filepath.Base(path), func(t *testing.T) {
				sound(t, path, planned, shrunken, 8)
			})
		}
	}
}
