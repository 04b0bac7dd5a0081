package main

import (
	"os"
	"testing"
)

// TestPageIsTheOwnersAlone: the private page of a draft is read by nobody else, also where a file that all could read
// was there before.
func TestPageIsTheOwnersAlone(t *testing.T) {
	s := study{t, t.TempDir()}
	s.write("a.csv", "age,ward\n30,a\n40,b\n")
	for range 2 {
		if code, _, errs := s.weir("domain", "infer", s.path("a.csv")); code != exitDone {
			t.Fatalf("code %d, %s", code, errs)
		}
		page := s.path("a.csv.weir-private.md")
		info, err := os.Stat(page)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, mode %v; must be 0600", err, info.Mode())
		}
		if err := os.Chmod(page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
