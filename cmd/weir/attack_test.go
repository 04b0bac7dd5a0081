package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each test here is an attack that once worked on the built program.

// unfinish turns the one run of a study into one that was killed just before its
// record said done.
func unfinish(t *testing.T, s study) (dir string) {
	t.Helper()
	dir = onlyRun(t, s)
	s.editRecord(dir, func(rec map[string]any) { rec["status"] = "running"; delete(rec, "finished") })
	if err := os.RemoveAll(filepath.Join(dir, "release")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func onlyRun(t *testing.T, s study) string {
	t.Helper()
	found, err := filepath.Glob(s.path("runs/study/*/run.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("runs: %v %v, must be one", found, err)
	}
	return filepath.Dir(found[0])
}

// editRecord changes run.json of a run.
func (s study) editRecord(dir string, change func(map[string]any)) {
	s.t.Helper()
	path := filepath.Join(dir, "run.json")
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	var rec map[string]any
	if err := json.Unmarshal(data, &rec); err != nil {
		s.t.Fatal(err)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		s.t.Fatal(err)
	}
	rec["plan"] = raw["plan"] // in its own order: verify compares its bytes, and would find nothing else
	change(rec)
	if data, err = json.MarshalIndent(rec, "", "  "); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s study) charges() int { return strings.Count(s.read("data.csv.weir-ledger.jsonl"), "\n") }

// withReference imputes income from a public file.
func withReference(s study) {
	s.write("reference.csv", "id,income,group,flag\n1,30000,a,0\n2,40000,b,1\n3,50000,c,0\n")
	s.edit("spec.yaml", "  complete: {kind: impute_constant, numbers: {income: 50000}}\n",
		"  reference: {kind: read, file: reference.csv, class: public, like: features, csv: {extra: ignore}}\n"+
			"  complete: {kind: impute_knn, from: clean, scope: reference, reference: reference, neighbors: 1}\n")
}

// TestAnotherReferenceIsAnotherCharge: a run killed just before its record says
// done, run again with another reference file, once drew the same noise on other
// values and released twice for one charge.
func TestAnotherReferenceIsAnotherCharge(t *testing.T) {
	s := newStudy(t, 400)
	withReference(s)
	first := s.result()
	model := released(t, first, "train.model")
	unfinish(t, s)
	s.edit("reference.csv", "1,30000", "1,31000")
	second := s.result()
	if s.charges() != 2 {
		t.Errorf("the ledger has %d charges, must have 2: another recipe is another charge", s.charges())
	}
	if released(t, second, "train.model") == model {
		t.Error("the model is the same: the noise was used again")
	}
}

// TestResumedRunKeepsItsCharge: the same with nothing changed costs nothing and
// gives the same bytes.
func TestResumedRunKeepsItsCharge(t *testing.T) {
	s := newStudy(t, 400)
	want := released(t, s.result(), "sample.csv")
	unfinish(t, s)
	if got := released(t, s.result(), "sample.csv"); got != want || s.charges() != 1 {
		t.Errorf("%d charges, same bytes: %v; must be one and the same", s.charges(), got == want)
	}
}

// TestChangedRowsAreAnotherVersion: rows changed between kill and resume are refused before any charge,
// and say so to the owner only; as another version they have a new key and a new charge.
func TestChangedRowsAreAnotherVersion(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	unfinish(t, s)
	s.edit("data.csv", "7,75433,b,1", "7,75434,b,1")
	code, out, errs := s.run()
	if code != exitPrivacy || !strings.Contains(errs, "dataset.version: is 1") || out != "" || s.charges() != 1 {
		t.Errorf("exit code %d, %d charges; must be refused, and told on stderr alone: %s %s", code, s.charges(), out, errs)
	}
	if code, _, errs := s.run("--set", "dataset.version=2"); code != exitDone {
		t.Errorf("exit code %d, under a new version: %s", code, errs)
	}
	if s.charges() != 2 {
		t.Errorf("the ledger has %d charges, must have 2", s.charges())
	}
}

// TestDeletedLedgerIsSeen: the ledger removed between kill and resume, or cut
// after a run, once let a release go out whose charge was nowhere.
func TestDeletedLedgerIsSeen(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	unfinish(t, s)
	if err := os.Remove(s.path("data.csv.weir-ledger.jsonl")); err != nil {
		t.Fatal(err)
	}
	code, _, errs := s.run()
	if code != exitPrivacy || !strings.Contains(errs, "ledger") {
		t.Errorf("exit code %d, must be %d: %s", code, exitPrivacy, errs)
	}
	if found, _ := filepath.Glob(s.path("runs/study/*/release/sample.csv")); len(found) > 0 {
		t.Errorf("released without a charge: %v", found)
	}
}

// TestSwappedKeyIsSeen: an interrupted run goes on with its own key only. Where what it made
// is gone too, nothing can be taken from it.
func TestSwappedKeyIsSeen(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	dir := unfinish(t, s)
	s.must(os.RemoveAll(s.path("runs/cache")))
	if err := os.WriteFile(filepath.Join(dir, "internal", "noise.key"), []byte(strings.Repeat("ab", 32)+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, _, errs := s.run()
	if !strings.Contains(errs, "key") || s.charges() != 2 {
		t.Errorf("%d charges, must be 2 and a word about the key: %s", s.charges(), errs)
	}
}

// TestNoDigestOfTheTableLeavesTheOwner: knowing all rows but one, a plain digest
// of the table tells the last one. Nothing but the owner's side may hold one, of
// the file or of any private table that was made of it.
func TestNoDigestOfTheTableLeavesTheOwner(t *testing.T) {
	s := newStudy(t, 400)
	s.result()
	secrets := map[string]string{}
	note := func(path string, data []byte) {
		sum := sha256.Sum256(data)
		secrets[hex.EncodeToString(sum[:])] = path
	}
	note("data.csv", []byte(s.read("data.csv")))
	s.walk(func(path string, data []byte) {
		if strings.Contains(path, "/cache/") || strings.Contains(path, "/internal/") {
			note(path, data)
		}
	})
	checked := 0
	s.walk(func(path string, data []byte) {
		if strings.Contains(path, "/internal/") || strings.Contains(path, "/cache/") || strings.Contains(path, "owner") ||
			strings.Contains(path, "/datasets/") {
			return
		}
		checked++
		for digest, of := range secrets {
			if strings.Contains(string(data), digest) && !isReleased(s, of) {
				t.Errorf("%s holds the digest of %s", path, of)
			}
		}
	})
	if checked < 8 {
		t.Errorf("only %d files were searched", checked)
	}
}

// isReleased: the stored form of a released model is the released file itself.
func isReleased(s study, path string) bool {
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	same := false
	s.walk(func(other string, text []byte) {
		same = same || strings.Contains(other, "/release/") && string(text) == string(data)
	})
	return same
}

func (s study) walk(visit func(path string, data []byte)) {
	s.t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		visit(path, data)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// TestPrivateCountsDoNotShow: under add_remove the number of rows decides nothing
// that anyone sees: one row more at the edge of what float32 sums are paid for, ten
// times as many, or none at all end alike.
func TestPrivateCountsDoNotShow(t *testing.T) {
	t.Parallel()
	want := ""
	for _, n := range []int{0, 1, 312, 313, 314, 4000} {
		s := newStudy(t, n)
		s.edit("spec.yaml", fmt.Sprintf(", rows_public: %d", n), "")
		s.edit("spec.yaml", "replace_one", "add_remove")
		s.edit("spec.yaml", "expected_batch_size: 16", "expected_batch_size: 16, sampling_rate: 0.5")
		code, out, errs := s.run()
		seen := strings.ReplaceAll(fmt.Sprint(code, out, errs), s.dir, "DIR")
		seen = runID.ReplaceAllString(seconds.ReplaceAllString(underWay.ReplaceAllString(seen, ""), "TIME"), "ID")
		if want == "" {
			want = seen
		}
		if code != exitDone || seen != want {
			t.Errorf("%d rows: exit code %d, and what shows differs:\n%s\nfrom\n%s", n, code, seen, want)
		}
	}
}
