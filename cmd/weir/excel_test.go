package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

// TestWorkbook goes the way of a laboratory's workbook: the draft names its sheets until one is named, init writes
// where the table lies, and a run and a comparison read it there.
func TestWorkbook(t *testing.T) {
	t.Parallel()
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
	for _, want := range []string{`csv: {sheet: "Lab", range: "B3:J"}`, "name: \"day\"\n    type: date",
		"name: \"at\"\n    type: datetime", "name: \"clock\"\n    type: time", "name: \"money\"\n    type: numeric"} {
		if code != exitDone || !strings.Contains(draft, want) {
			t.Fatalf("code %d, %s; draft lacks %q:\n%s", code, errs, want, draft)
		}
	}
	s.write("domain.yaml", strings.ReplaceAll(draft, "UNDECIDED", "public"))
	domain := s.path("domain.yaml")
	code, _, errs = s.weir("init", s.path("new"), "--from", domain, "--data", data, "--sheet", "Lab", "--range", "B3:J",
		"--rows-public", "40")
	if code != exitDone || !strings.Contains(s.read("new/pipeline.yaml"), `csv: {sheet: "Lab", range: "B3:J"}`) {
		t.Fatalf("code %d, %s\n%s", code, errs, s.read("new/pipeline.yaml"))
	}
	code, out, errs := s.weir("run", s.path("new/pipeline.yaml"), "--yes", "--out", s.path("runs"))
	record := regexp.MustCompile(`record +(\S+)/run\.json`).FindStringSubmatch(out)
	if code != exitDone || record == nil {
		t.Fatalf("code %d, %s\n%s", code, errs, out)
	}
	code, out, errs = s.weir("evaluate", "--domain", domain, "--real", data, "--sheet", "Lab", "--range", "B3:J",
		"--synthetic", record[1]+"/release/sample.parquet", "--metrics", "marginals")
	if code != exitDone {
		t.Errorf("code %d, %s\n%s", code, errs, out)
	}
}

// TestHiddenRowsOfAWorkbook: whoever drafts, runs or compares is told where Excel does not show what is read, an
// experiment once.
func TestHiddenRowsOfAWorkbook(t *testing.T) {
	s := study{t, t.TempDir()}
	book := excelize.NewFile()
	for i, cell := range []any{"age", 31, 42, 53, 64} {
		book.SetCellValue("Sheet1", "A"+strconv.Itoa(i+1), cell)
	}
	book.SetRowVisible("Sheet1", 3, false)
	if err := book.SaveAs(s.path("lab.xlsx")); err != nil {
		t.Fatal(err)
	}
	s.write("domain.yaml", "columns:\n  - {name: age, type: integer, bounds: [0, 99]}\n")
	s.write("real.csv", "age\n31\n")
	spec := "weir: 1\nname: lab\ndataset: {file: lab.xlsx, domain: domain.yaml, rows_public: 4}\nprivacy: {epsilon: 1, " +
		"delta: 1e-5, adjacency: replace_one}\n" +
		"stages:\n  train: {kind: independent}\n  sample: {kind: sample, rows: 4}\n"
	s.write("spec.yaml", spec)
	s.write("several.yaml", spec+"experiment: {repeats: 2}\n")
	const told = "lab.xlsx: row 3 of the sheet is hidden"
	for command, args := range map[string][]string{
		"infer":      {"domain", "infer", s.path("lab.xlsx"), "--page", "none"},
		"run":        {"run", s.path("spec.yaml"), "--yes", "--out", s.path("runs")},
		"experiment": {"run", s.path("several.yaml"), "--yes", "--out", s.path("runs2"), "--insecure-noise-seed", "1"},
		"evaluate": {"evaluate", "--domain", s.path("domain.yaml"), "--real", s.path("lab.xlsx"), "--synthetic",
			s.path("real.csv"), "--metrics", "marginals"},
	} {
		code, out, errs := s.weir(args...)
		if code != exitDone || strings.Count(out+errs, told) != 1 {
			t.Errorf("%s: exit code %d, must say once that a row is hidden:\n%s%s", command, code, out, errs)
		}
	}
}
