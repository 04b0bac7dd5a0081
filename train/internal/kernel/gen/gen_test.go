package main

import (
	"os"
	"testing"
)

// TestCheckedInIsGenerated: the checked-in assembly is what the generator writes.
func TestCheckedInIsGenerated(t *testing.T) {
	for name, want := range files() {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s differs from the generator: run go generate in train/internal/kernel", name)
		}
	}
}
