package main

import (
	"os"
	"strings"
	"testing"
)

// TestDamagedLedgerIsRefused: a ledger whose end may have been charges stays as it is, with
// exit code 4, whoever has the dataset's head; it was begun anew with one charge.
func TestDamagedLedgerIsRefused(t *testing.T) {
	t.Parallel()
	s := newStudy(t, 60)
	const name = "data.csv.weir-ledger.jsonl"
	for range 3 {
		s.result("--fresh")
	}
	whole := s.read(name)
	for what, text := range map[string]string{
		"newlines stripped": strings.ReplaceAll(whole, "\n", ""),
		"CR ends":           strings.ReplaceAll(whole, "\n", "\r"),
		"NULs":              strings.Repeat("\x00", len(whole)),
		"garbage":           "garbage",
	} {
		s.write(name, text)
		code, _, errs := s.run("--fresh")
		if code != exitMismatch || !strings.Contains(errs, name) || !strings.Contains(errs, "restore") {
			t.Errorf("%s: exit code %d: %s", what, code, errs)
		}
		if s.read(name) != text {
			t.Errorf("%s: the file was changed", what)
		}
	}
	s.write(name, whole)
	s.result("--fresh")
}

// TestRemnantIsSaid: what a crash left is removed with a warning, and verify names the file
// that keeps it.
func TestRemnantIsSaid(t *testing.T) {
	s := newStudy(t, 60)
	const name = "data.csv.weir-ledger.jsonl"
	s.result()
	whole := s.read(name)
	torn := `{"prev":"` + whole[strings.LastIndex(whole, "sha256:"):len(whole)-2-1] + `"`
	s.write(name, whole+torn)
	code, _, errs := s.run("--fresh")
	if code != exitDone || !strings.Contains(errs, name+".remnant-1") || strings.Count(s.read(name), "\n") != 2 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if s.read(name+".remnant-1") != torn {
		t.Error("the removed bytes are not kept")
	}
	if info, err := os.Stat(s.path(name + ".remnant-1")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("they are kept with mode %v: %v", info.Mode(), err)
	}
	code, _, errs = s.weir("ledger", "verify", s.path("data.csv"), "--runs", s.path("runs"))
	if code != exitDone || !strings.Contains(errs, name+".remnant-1") {
		t.Errorf("verify: exit code %d: %s", code, errs)
	}
	_, out, _ := s.weir("ledger", "verify", s.path("data.csv"), "--runs", s.path("runs"), "--json")
	if !strings.Contains(out, "remnant-1") {
		t.Errorf("verify --json: %s", out)
	}
}
