package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestWorkbook goes the way of a laboratory's workbook: the draft names its sheets until one is named, init writes where
// the table lies, and a run and a comparison read it there.
func TestWorkbook(t *testing.T) {
	s := study{t, t.TempDir()}
	book, err := os.ReadFile("../../runtime/table/testdata/excel/lab.xlsx")
	if err != nil {
		t.Fatal(err)
	}
	s.write("lab.xlsx", string(book))
	data := s.path("lab.xlsx")
	code, _, errs := s.weir("domain", "infer", data, "--page", "none")
	if code != exitFailed || !strings.Contains(errs, "has 2 sheets") || !strings.Contains(errs, "Notes, Lab") {
		t.Fatalf("code %d, %s", code, errs)
	}
	code, draft, errs := s.weir("domain", "infer", data, "--page", "none", "--sheet", "Lab", "--range", "B3:J")
	for _, want := range []string{`csv: {sheet: "Lab", range: "B3:J"}`, "name: \"day\"\n    type: date", "name: \"at\"\n    type: datetime", "name: \"clock\"\n    type: time", "name: \"money\"\n    type: numeric"} {
		if code != exitDone || !strings.Contains(draft, want) {
			t.Fatalf("code %d, %s; draft lacks %q:\n%s", code, errs, want, draft)
		}
	}
	s.write("domain.yaml", strings.ReplaceAll(draft, "UNDECIDED", "public"))
	domain := s.path("domain.yaml")
	code, _, errs = s.weir("init", s.path("new"), "--from", domain, "--data", data, "--sheet", "Lab", "--range", "B3:J", "--rows-public", "40")
	if code != exitDone || !strings.Contains(s.read("new/pipeline.yaml"), `csv: {sheet: "Lab", range: "B3:J"}`) {
		t.Fatalf("code %d, %s\n%s", code, errs, s.read("new/pipeline.yaml"))
	}
	code, out, errs := s.weir("run", s.path("new/pipeline.yaml"), "--yes", "--out", s.path("runs"))
	record := regexp.MustCompile(`record +(\S+)/run\.json`).FindStringSubmatch(out)
	if code != exitDone || record == nil {
		t.Fatalf("code %d, %s\n%s", code, errs, out)
	}
	code, out, errs = s.weir("evaluate", "--domain", domain, "--real", data, "--sheet", "Lab", "--range", "B3:J", "--synthetic", record[1]+"/release/sample.parquet", "--metrics", "marginals")
	if code != exitDone {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
}
