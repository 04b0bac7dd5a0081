package main

import "testing"

// TestPurposesAreLines: the first sentence of every kind, which `weir kinds` prints beside its name, fits a line.
func TestPurposesAreLines(t *testing.T) {
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range reg.Names() {
		if purpose := reg.Kind(name).Summary(); len(purpose) > 100 {
			t.Errorf("%s: the first sentence has %d bytes, must be at most 100: %s", name, len(purpose), purpose)
		}
	}
}
