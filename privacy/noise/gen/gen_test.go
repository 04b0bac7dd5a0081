package main

import (
	"os"
	"testing"
)

// TestCheckedInIsGenerated: the checked-in table is what the generator writes.
func TestCheckedInIsGenerated(t *testing.T) {
	got, err := os.ReadFile("../ziggurat_table.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != table() {
		t.Error("ziggurat_table.go differs from the generator: run go generate in privacy/noise")
	}
}
