package main

import (
	"strings"
	"testing"
)

// TestDamagedOwnerFileStopsRunsAlone: who looks at a spec or a ledger is told of an owner file that is damaged, and
// goes on by the ledger. A run that would charge the dataset is stopped, by an error that names the file and the way
// on.
func TestDamagedOwnerFileStopsRunsAlone(t *testing.T) {
	t.Parallel()
	for _, ours := range []string{"one/data.csv.weir-owner.json", "ledgers/spent.weir-owner.json"} {
		s, run := elsewhere(t)
		run(0, "one")
		whole := s.read(ours)
		s.write(ours, whole[:len(whole)/2])
		spec, at := s.path("one/spec.yaml"), []string{"--out", s.path("one/runs")}
		for _, args := range [][]string{
			append([]string{"plan", spec}, at...), append([]string{"check", spec}, at...),
			{"ledger", "show", s.path("ledgers/spent.weir-ledger.jsonl")},
		} {
			code, out, errs := s.weir(args...)
			if code != 0 || args[0] == "plan" && !strings.Contains(out, "spent so far     epsilon 0.99") ||
				args[0] == "ledger" && !strings.Contains(out, "train") {
				t.Errorf("%s, weir %s: exit code %d: %s%s", ours, args[0], code, out, errs)
			}
			told := args[0] == "plan" || args[0] == "ledger" && strings.HasPrefix(ours, "ledgers")
			if n := strings.Count(errs, "is damaged"); told && n != 1 {
				t.Errorf("%s, weir %s: says %d times that it is damaged, must once: %s", ours, args[0], n, errs)
			}
		}
		if errs := run(1, "one"); !strings.Contains(errs, s.path(ours)+": is damaged: it is not JSON as weir writes it") ||
			!strings.Contains(errs, "restore it from a backup") {
			t.Errorf("%s: a run is stopped without a way on: %s", ours, errs)
		}
	}
}
