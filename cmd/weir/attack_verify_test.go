package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVerifySeesWhatWasEdited: each of these once passed.
func TestVerifySeesWhatWasEdited(t *testing.T) {
	edit := func(s study, path, old, new string) {
		data, err := os.ReadFile(path)
		s.must(err)
		if !strings.Contains(string(data), old) {
			s.t.Fatalf("%s does not hold %q", path, old)
		}
		s.must(os.WriteFile(path, []byte(strings.Replace(string(data), old, new, 1)), 0o600))
	}
	t.Setenv("TMPDIR", t.TempDir()) // others on this machine may be verifying, too
	s := newStudy(t, 400)
	s.edit("spec.yaml", "rows: 50}\n", "rows: 50}\n  marginals: {kind: marginals, real: complete, synthetic: sample, "+
		"ways: [1]}\n")
	s.result()
	dir := onlyRun(t, s)
	s.editRecord(dir, func(map[string]any) {}) // that a record was written again is no difference
	honest := func() {
		before := leftKeys(t)
		if code, out, errs := s.weir("verify", dir); code != exitDone {
			t.Fatalf("an honest run: exit code %d: %s%s", code, out, errs)
		}
		if after := leftKeys(t); after != before {
			t.Errorf("verify leaves %d files behind", after-before)
		}
	}
	honest()
	restore := s.snapshot()
	for name, change := range map[string]func(s study, dir string){
		"PRIVACY.md": func(s study, dir string) {
			edit(s, filepath.Join(dir, "release/PRIVACY.md"), "epsilon = 0.9", "epsilon = 0.1")
		},
		"a stray file": func(s study, dir string) {
			s.must(os.WriteFile(filepath.Join(dir, "release/more.csv"), nil,
				0o644))
		},
		"a missing file": func(s study, dir string) { s.must(os.Remove(filepath.Join(dir, "release/domain.yaml"))) },
		"epsilon": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) { r["terms"].(map[string]any)["epsilon_proven"] = 0.1 })
		},
		"charges":    func(s study, dir string) { s.editRecord(dir, func(r map[string]any) { r["charges"] = []any{} }) },
		"unfinished": func(s study, dir string) { s.editRecord(dir, func(r map[string]any) { r["status"] = "running" }) },
		"the ledger": func(s study, dir string) { s.write("data.csv.weir-ledger.jsonl", "") },
		"a charge twice": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) { r["charges"] = append(r["charges"].([]any), r["charges"].([]any)[0]) })
		},
		"the ledger's name and a charge's": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) {
				d := r["dataset"].(map[string]any)
				d["ledger"] = ""
				delete(d, "ledger_head")
				delete(d, "ledger_count")
				r["charges"].([]any)[0].(map[string]any)["id"] = "forged"
			})
		},
		"the ledger's name": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) { r["dataset"].(map[string]any)["ledger"] = "" })
		},
		"the ledger's head": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) { delete(r["dataset"].(map[string]any), "ledger_head") })
		},
		"the ledger's count": func(s study, dir string) {
			s.editRecord(dir, func(r map[string]any) { delete(r["dataset"].(map[string]any), "ledger_count") })
		},
		"a signature": func(s study, dir string) { s.editRecord(dir, func(r map[string]any) { r["signed_by"] = "DPO" }) },
		"a key beside the figures": func(s study, dir string) {
			edit(s, filepath.Join(dir, "internal/metrics.json"), "{", `{"approved": true, `)
		},
		"a link to the same": func(s study, dir string) {
			file := filepath.Join(dir, "release/sample.csv")
			s.must(os.Rename(file, s.path("elsewhere.csv")))
			s.must(os.Symlink(s.path("elsewhere.csv"), file))
		},
		"an empty folder": func(s study, dir string) { s.must(os.Mkdir(filepath.Join(dir, "release/more"), 0o755)) },
		"a figure": func(s study, dir string) {
			edit(s, filepath.Join(dir, "internal/metrics.json"), `": 0.`, `": 0.1`)
		},
		"a figure's note": func(s study, dir string) {
			edit(s, filepath.Join(dir, "internal/metrics.json"), `"notes": {`, `"notes": {"marginals.any": "approved", `)
		},
		"no figures": func(s study, dir string) { s.must(os.Remove(filepath.Join(dir, "internal/metrics.json"))) },
		"the rows":   func(s study, dir string) { s.edit("data.csv", "7,75433,b,1", "7,75434,b,1") },
	} {
		t.Run(name, func(t *testing.T) {
			change(study{t, s.dir}, dir)
			code, out, errs := s.weir("verify", dir)
			if code != exitMismatch {
				t.Errorf("exit code %d, must be %d: %s%s", code, exitMismatch, out, errs)
			}
		})
		restore()
	}
	honest()
}
