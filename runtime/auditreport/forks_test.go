package auditreport

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/runtime/dataset"
)

// copied copies the ledger of the study, and opens the copy.
func (s *study) copied() (*ledger.Ledger, string) {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "patients.csv"+dataset.LedgerSuffix)
	text, err := os.ReadFile(s.ledger)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := ledger.Open(disk.Disk{}, path, datasetID, s.clock)
	if err != nil {
		s.t.Fatal(err)
	}
	return l, path
}

// gathered reports on ledgers alone.
func (s *study) gathered(ledgers ...string) Report {
	s.t.Helper()
	q := s.request()
	q.Ledgers, q.Runs = ledgers, nil
	r, err := Gather(q)
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestForksAreToldAndAddedUp: two ledgers of one dataset that part after a common charge disagree, and what they come
// to together is three releases more than what they share: four Gaussians of multiplier 5 are one of 5 / sqrt(4). The
// filter adds up mu^2: three have 0.12, by Balle and Wang 2018, theorem 8, an epsilon of 1.51 at delta 1e-6, within the
// budget; four have 0.16, of epsilon 1.77, which is not.
func TestForksAreToldAndAddedUp(t *testing.T) {
	const budget = 1.6
	s := newStudy(t)
	s.run(0, budget)
	other, path := s.copied()
	same := filepath.Join(t.TempDir(), "again"+dataset.LedgerSuffix)
	if err := os.Symlink(s.ledger, same); err != nil {
		t.Fatal(err)
	}
	s.run(1, budget)
	s.run(3, budget)
	main := s.l
	s.l = other
	s.run(2, budget)
	s.l = main

	r := s.gathered(s.ledger, same, path)
	if len(r.Accounts) != 2 || !r.Disagrees() || len(r.Accounts[1].Disagree) > 0 {
		t.Fatalf("%d accounts, must be 2 that disagree, which the first one tells: %s", len(r.Accounts), r.Faults())
	}
	accountant, err := account.ByName("zcdp")
	if err != nil {
		t.Fatal(err)
	}
	four := privacy.Gaussian{NoiseMultiplier: 5. / 2}
	want, err := accountant.Epsilon([]privacy.Event{four}, privacy.AddRemove, 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{s.ledger + " lacks 1 charge of " + path + ", which lacks 2 charges of it",
		"together: 4 charges, composed epsilon " + bound(want, "").text(), " spent of 1.6, which is exceeded",
		"weir ledger merge"} {
		if !strings.Contains(r.Faults(), part) {
			t.Errorf("%s: must say %q", r.Faults(), part)
		}
	}
	for _, title := range []string{"Charges on " + datasetID + ", ledger " + s.ledger, "Charges on " + datasetID +
		", ledger " + path} {
		if !strings.Contains(r.Text(0), title) {
			t.Errorf("%s: must have a part %q", r.Text(0), title)
		}
	}
	if r := s.gathered(s.ledger, same); r.Disagrees() || len(r.Accounts) != 1 {
		t.Errorf("one ledger, named twice: %d accounts, %s", len(r.Accounts), r.Faults())
	}
}

// TestStaleLedgersAreTold: a ledger that is the beginning of another is another ledger, whichever is named first, and
// two that cannot be read are two.
func TestStaleLedgersAreTold(t *testing.T) {
	s := newStudy(t)
	s.run(0, 0)
	_, stale := s.copied()
	s.run(1, 0)
	want := stale + " lacks 1 charge of " + s.ledger
	for _, ledgers := range [][]string{{s.ledger, stale}, {stale, s.ledger}} {
		if r := s.gathered(ledgers...); len(r.Accounts) != 2 || !strings.Contains(r.Faults(), want) {
			t.Errorf("%d accounts, %s: must be 2, and say %q", len(r.Accounts), r.Faults(), want)
		}
	}
	for _, path := range []string{s.ledger, stale} {
		if err := os.WriteFile(path, []byte("{}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := s.gathered(s.ledger, stale)
	if len(r.Accounts) != 2 || !strings.Contains(r.Faults(), s.ledger) || !strings.Contains(r.Faults(), stale) {
		t.Errorf("%d accounts, %s: must be 2 that cannot be read", len(r.Accounts), r.Faults())
	}
}

// TestForksAreAddedUpInTheirOrder: what ledgers come to together does not depend on which is named first: the budget
// is the one that was named last in time. A ledger that is the beginning of another lacks charges, and the other none.
func TestForksAreAddedUpInTheirOrder(t *testing.T) {
	s := newStudy(t)
	s.run(0, 2)
	second, path := s.copied()
	third, start := s.copied()
	main := s.l
	s.run(1, 2)
	s.l = second
	s.run(2, 3)
	s.l = main
	s.run(3, 2.5)
	if third.Head().Count != 1 {
		t.Fatal("the third ledger went on")
	}
	q := s.request()
	q.Runs = nil
	for _, names := range [][]string{{s.ledger, path, start}, {start, s.ledger, path}, {path, start, s.ledger}} {
		q.Ledgers = names
		r, err := Gather(q)
		if err != nil {
			t.Fatal(err)
		}
		faults := r.Faults()
		for _, part := range []string{"together: 4 charges", "spent of 2.5"} {
			if strings.Count(faults, part) != 1 {
				t.Errorf("%v: %s: must say once %q", names, faults, part)
			}
		}
		if strings.Contains(faults, " 0 charges") {
			t.Errorf("%v: %s: what lacks nothing is not to be named", names, faults)
		}
	}
}

// TestEqualLedgersKeepWhatDisagrees: of two ledgers with the same charges, the second one lacks a charge of the copy
// that its owner keeps; that is told, whichever is named first.
func TestEqualLedgersKeepWhatDisagrees(t *testing.T) {
	s := newStudy(t)
	s.run(0, 2)
	_, path := s.copied()
	l, more := s.copied()
	main := s.l
	s.l = l
	s.run(1, 2)
	s.l = main
	text, err := os.ReadFile(more)
	if err == nil {
		err = os.WriteFile(strings.TrimSuffix(path, dataset.LedgerSuffix)+dataset.KeptSuffix, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	q := s.request()
	q.Runs = nil
	for _, names := range [][]string{{s.ledger, path}, {path, s.ledger}, {s.ledger, path, path}} {
		q.Ledgers = names
		r, err := Gather(q)
		if err != nil || strings.Count(r.Faults(), "has 1 charges and lacks 1 of those") != 1 ||
			strings.Contains(r.Faults(), "together") {
			t.Errorf("%v: %v: %q", names, err, r.Faults())
		}
	}
}

// TestCopiedRunIsOneRun: a run whose folder lies in two folders of runs is listed once, with all that disagrees in
// either, in one line each.
func TestCopiedRunIsOneRun(t *testing.T) {
	s := newStudy(t)
	r := s.run(0, 2)
	copies := filepath.Join(t.TempDir(), "runs")
	if err := os.CopyFS(copies, os.DirFS(filepath.Join(s.dir, "runs"))); err != nil {
		t.Fatal(err)
	}
	s.write(r, "release/sample.csv", "age\n2\n")
	q := s.request()
	q.Runs = []string{copies, q.Runs[0]}
	report, err := Gather(q)
	if err != nil || len(report.Accounts[0].Runs) != 1 || strings.Count(report.Faults(), "run "+r.ID) != 1 {
		t.Errorf("%v: %d runs, %q; must be one with one fault", err, len(report.Accounts[0].Runs), report.Faults())
	}
	r.Dataset.LedgerHead = digest
	s.save(r)
	q.Runs = q.Runs[1:]
	if report, err = Gather(q); err != nil || !strings.Contains(report.Faults(), "of its earlier head: ") ||
		strings.Contains(report.Faults(), "\n") {
		t.Errorf("%v: %q, must be one line on the head", err, report.Faults())
	}
}
