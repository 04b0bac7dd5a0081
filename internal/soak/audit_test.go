package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/stattest"
	"weir/runtime"
	"weir/runtime/audit"
	"weir/runtime/files"
)

// TestAuditOfRandomSpecs: the audit of a spec that nobody wrote, on rows that nobody chose, finds nothing where the
// soak finds nothing: it knows which distances can be compared.
func TestAuditOfRandomSpecs(t *testing.T) {
	s := newSoak(t, 11)
	compared, audits, cases := 0, 0, uint64(16)
	if stattest.Long {
		cases = 300
	}
	for n := range cases {
		c, err := s.draw(n)
		if err != nil {
			t.Fatal(err)
		}
		if c.spec == "" || len(c.world.one) == 0 {
			continue
		}
		report, err := s.auditOf(t, c)
		if err != nil {
			continue // the run itself fails, as the soak has it
		}
		audits++
		for _, f := range report.Faults {
			t.Errorf("case %d: %s: %s (%s)\n%s", n, f.Stage, f.Text, strings.Join(f.Seen, "; "), c.spec)
		}
		for _, line := range report.Stages {
			if line.Reached != nil && *line.Reached > 0 {
				compared++
			}
		}
	}
	if audits < 6 || compared < 4 {
		t.Errorf("%d audits compared the inputs of %d mechanisms: the check is blind", audits, compared)
	}
}

// auditOf audits a case on its first table.
func (s *soak) auditOf(t *testing.T, c *testCase) (*audit.Report, error) {
	t.Helper()
	dir := filepath.Join(s.dir, "audit")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := c.world.lay(dir, c.spec, false); err != nil {
		t.Fatal(err)
	}
	folder, err := files.OpenFolder(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	plan, err := compiled(c.spec, folder, s.reg)
	if err != nil {
		t.Fatal(err)
	}
	opts := runtime.Local(filepath.Join(dir, "rehearsals"))
	opts.Dir, opts.Clock = dir, time.Now
	subject, err := audit.Open(plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer subject.Close()
	return subject.Audit(t.Context(), audit.Settings{Neighbours: 6, Pairs: true, Seed: audit.Seed{byte(c.number)}})
}
