package auditreport

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime/dataset"
)

const (
	datasetID = "ds-0123456789abcdef0123456789abcdef"
	digest    = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	canary    = "73313.5" // of all figures that were computed from rows
)

// study is a ledger and a folder of runs.
type study struct {
	t      *testing.T
	dir    string
	ledger string
	l      *ledger.Ledger
	now    time.Time
}

func newStudy(t *testing.T) *study {
	t.Helper()
	s := &study{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)}
	s.ledger = filepath.Join(s.dir, "patients.csv"+dataset.LedgerSuffix)
	l, err := ledger.Open(disk.Disk{}, s.ledger, datasetID, s.clock)
	if err != nil {
		t.Fatal(err)
	}
	s.l = l
	return s
}

// clock returns the hour after the last one.
func (s *study) clock() time.Time {
	s.now = s.now.Add(time.Hour)
	return s.now
}

// run charges one Gaussian release under a budget, if there is one, and leaves record, release and figures.
func (s *study) run(n int, budget float64) *record.Run {
	s.t.Helper()
	id := fmt.Sprintf("20261127-12%02d%02d-%032x", n/60, n%60, n)
	event := privacy.Gaussian{NoiseMultiplier: 5}
	var limit *ledger.Cap
	if budget > 0 {
		limit = &ledger.Cap{Epsilon: budget, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: "gaussian"}
	}
	written, err := s.l.Append(limit, ledger.Charge{ID: id + "/train/marginals", Run: id, Spec: digest, Version: "1",
		Stage: "train", Name: "marginals", Recipe: digest, Adjacency: privacy.AddRemove, Event: event})
	if err != nil {
		s.t.Fatal(err)
	}
	proven, finished := 0.5, s.now
	r := &record.Run{Weir: "1.0", ID: id, Name: "study", Commit: "fa23d33563ba0000", Status: record.Done,
		Started: s.now, Finished: &finished, SpecDigest: digest, Spec: "weir: 1\n",
		Dataset: record.Dataset{Name: "patients.csv", ID: datasetID, Version: "1", Ledger: s.ledger, Unit: "row",
			LedgerCount: s.l.Head().Count, LedgerHead: s.l.Head().Hash},
		Plan: json.RawMessage(`{"stages":[],"findings":[` +
			`{"rule":"W33","level":"warning","message":"promises | little"},` +
			`{"rule":"W17","level":"warning","message":"thirty runs","acknowledged":"all of them are released"},` +
			`{"rule":"W25","level":"note","message":"only noted"}]}`),
		Terms: record.Terms{Adjacency: privacy.AddRemove, Accountant: "zcdp", Claims: "proven", Delta: 1e-6, Proven: &proven},
		Charges: []record.Charge{{Stage: "train", Name: "marginals", Event: privacy.JSON{Event: event}, ID: written[0].ID,
			Ledger: written[0].Hash}},
		Stages: []record.Stage{{ID: "train", Kind: "independent", Seconds: 73313.5}}}
	r.Release = []record.File{{Path: "release/sample.csv", SHA256: privacy.Digest([]byte("age\n1\n")), Bytes: 6}}
	s.write(r, "release/sample.csv", "age\n1\n")
	s.write(r, "internal/metrics.json", `{"metrics":{"utility.auroc":`+canary+`},"notes":{"utility":"`+canary+`"}}`)
	s.save(r)
	return r
}

// save writes the record of a run.
func (s *study) save(r *record.Run) {
	text, err := json.Marshal(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write(r, "run.json", string(text))
}

func (s *study) write(r *record.Run, name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, "runs", "study", r.ID, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// request asks for the study.
func (s *study) request() Request {
	s.t.Helper()
	accountant, err := account.ByName("zcdp")
	if err != nil {
		s.t.Fatal(err)
	}
	return Request{Ledgers: []string{s.ledger}, Runs: []string{filepath.Join(s.dir, "runs")}, Accountant: accountant}
}

// report gathers the study.
func (s *study) report() Report {
	s.t.Helper()
	r, err := Gather(s.request())
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// TestSpent: n releases with noise sigma are one with sigma over the square root of n, for the accountant and for the
// filter alike (their mu^2 add up), and what the filter has spent and left is the budget.
func TestSpent(t *testing.T) {
	s := newStudy(t)
	for i := range 3 {
		s.run(i, 2)
	}
	a := s.report().Accounts[0]
	accountant, err := account.ByName("zcdp")
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range a.Course {
		joined := privacy.Gaussian{NoiseMultiplier: 5 / math.Sqrt(float64(i+1))}
		want, err := accountant.Epsilon([]privacy.Event{joined}, privacy.AddRemove, 1e-6)
		if err != nil || p.Fixed == nil || math.Abs(*p.Fixed-want) > 1e-9 {
			t.Errorf("after %d runs: %v, must be %v: %v", i+1, p.Fixed, want, err)
		}
		if p.Filter == nil || i > 0 && *p.Filter <= *a.Course[i-1].Filter {
			t.Errorf("after %d runs: by the filter %v", i+1, p.Filter)
		}
	}
	if len(a.Course) != 3 || *a.Course[2].Fixed != *a.Fixed.Value || a.Delta != 1e-6 || len(a.Charges) != 3 ||
		len(a.Runs) != 3 || len(a.Disagree) > 0 {
		t.Errorf("%+v", a)
	}
	if b := a.Budget; b == nil || b.Epsilon != 2 || math.Abs(b.Left+*b.Spent.Value-2) > 1e-12 ||
		*b.Spent.Value != *a.Course[2].Filter {
		t.Errorf("%+v", a.Budget)
	}
	if r := a.Runs[0]; r.Commit != "fa23d33563ba0000" || r.Charges != 1 || *r.Proven != .5 || len(r.Release) != 1 ||
		len(r.Warnings) != 2 {
		t.Errorf("%+v", r)
	}
}

// TestFormerLedgersAreTold: a run that found the ledger of before gone says where that was, in every form; it disagrees
// with nothing, since the data may only have been moved.
func TestFormerLedgersAreTold(t *testing.T) {
	s := newStudy(t)
	s.run(1, 2)
	r := s.run(2, 2)
	r.Dataset.Former = "/before/patients.csv.weir-ledger.jsonl"
	s.save(r)
	report := s.report()
	if report.Disagrees() {
		t.Errorf("%q", report.Faults())
	}
	for form, text := range forms(t, report) {
		if !strings.Contains(text, r.Dataset.Former) {
			t.Errorf("%s says nothing of the ledger that was gone", form)
		}
	}
}

// TestDisagreements: each way in which record, ledger, budget and release can part is told, by run.
func TestDisagreements(t *testing.T) {
	for _, c := range []struct {
		want   string
		change func(s *study, first *record.Run)
	}{
		{"is missing or has changed", func(s *study, r *record.Run) { s.write(r, "release/sample.csv", "age\n2\n") }},
		{"release/more.csv: is not in the record", func(s *study, r *record.Run) { s.write(r, "release/more.csv", "") }},
		{"and the ledger has none", func(s *study, r *record.Run) { r.Charges[0].ID = "other"; s.save(r) }},
		{"disagree on the charge", func(s *study, r *record.Run) {
			r.Charges[0].Event = privacy.JSON{Event: privacy.Gaussian{NoiseMultiplier: 50}}
			s.save(r)
		}},
		{"is a charge that its record does not list", func(s *study, r *record.Run) { r.Charges = nil; s.save(r) }},
		{"names another spec than its record", func(s *study, r *record.Run) { r.SpecDigest = "sha256:other"; s.save(r) }},
		{"the ledger is not one that goes on", func(s *study, r *record.Run) { r.Dataset.LedgerCount = 9; s.save(r) }},
		{"no record of it lies here", func(s *study, r *record.Run) {
			if err := os.RemoveAll(filepath.Join(s.dir, "runs", "study", r.ID)); err != nil {
				s.t.Fatal(err)
			}
		}},
		{"its record cannot be read", func(s *study, r *record.Run) { s.write(r, "run.json", "{") }},
		{"was charged without the budget of line 2", func(s *study, _ *record.Run) { s.run(7, 0) }},
		{"was charged under a looser budget than line 2", func(s *study, _ *record.Run) { s.run(7, 20) }},
		{"is exceeded", func(s *study, _ *record.Run) {
			for i := range 20 {
				s.run(10+i, 0)
			}
		}},
		{"line 1: ", func(s *study, _ *record.Run) {
			text, err := os.ReadFile(s.ledger)
			if err == nil {
				err = os.WriteFile(s.ledger, []byte(strings.Replace(string(text), `"prev":"sha256:`, `"prev":"sha256:0`, 2)), 0o644)
			}
			if err != nil {
				s.t.Fatal(err)
			}
		}},
	} {
		s := newStudy(t)
		first := s.run(1, 2)
		s.run(2, 2)
		if r := s.report(); r.Disagrees() {
			t.Fatalf("%s: before anything was changed", r.Faults())
		}
		c.change(s, first)
		r := s.report()
		if !r.Disagrees() || !strings.Contains(r.Faults(), c.want) ||
			!strings.Contains(r.Text(1000), "WHAT WAS FOUND") {
			t.Errorf("%q, must say %q", r.Faults(), c.want)
		}
	}
}

// TestBudgetsOfEachLine: each line is held to the budget before it, and not to an earlier one.
func TestBudgetsOfEachLine(t *testing.T) {
	s := newStudy(t)
	var ids []string
	for i, budget := range []float64{1, 3, 2, 0} {
		ids = append(ids, s.run(i, budget).ID)
	}
	want := "line 2, of run " + ids[1] + ", was charged under a looser budget than line 1; " +
		"line 4, of run " + ids[3] + ", was charged without the budget of line 3"
	if got := s.report().Faults(); got != want {
		t.Errorf("%s, must be %s", got, want)
	}
}

// TestTestsHaveLedgersOfTheirOwn: a run with a fixed noise seed is told only of a ledger that it charged.
func TestTestsHaveLedgersOfTheirOwn(t *testing.T) {
	s := newStudy(t)
	s.run(1, 0)
	r := s.run(2, 0)
	r.Insecure = true
	s.save(r)
	if a := s.report().Accounts[0]; len(a.Runs) != 2 || !a.Runs[1].Test {
		t.Errorf("%+v, must have the test that charged", a.Runs)
	}
	r.ID = strings.Replace(r.ID, "-12", "-16", 1)
	r.Charges = nil
	s.save(r)
	if a := s.report().Accounts[0]; len(a.Runs) != 2 {
		t.Errorf("%+v, must not have the test that charged nothing here", a.Runs)
	}
}

// TestLookedAt: where no folder of runs was looked at the report says so, and a run of a second folder is found.
func TestLookedAt(t *testing.T) {
	s := newStudy(t)
	first := s.run(1, 0)
	s.run(2, 0)
	from, to := filepath.Join(s.dir, "runs", "study", first.ID), filepath.Join(s.dir, "other", "study", first.ID)
	if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.Rename(from, to)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		runs         []string
		faults, text string
	}{
		{nil, "", "No record and no release was looked at"},
		{[]string{"runs"}, "no record of it lies here", "no record of it lies here"},
		{[]string{"runs", "other"}, "", "that were looked at say the same"},
	} {
		q := s.request()
		q.Runs = nil
		for _, dir := range c.runs {
			q.Runs = append(q.Runs, filepath.Join(s.dir, dir))
		}
		r, err := Gather(q)
		if err != nil || (c.faults == "") != (r.Faults() == "") || !strings.Contains(r.Text(1000), c.text) {
			t.Errorf("%v: %v, %q:\n%s", c.runs, err, r.Faults(), r.Text(1000))
		}
	}
}

// TestJudged: what a judge of single runs finds is a disagreement, and a run that is not done has no release.
func TestJudged(t *testing.T) {
	s := newStudy(t)
	r := s.run(1, 0)
	q := s.request()
	q.Judge = func(dir string, rec *record.Run) ([]string, error) {
		return []string{"PRIVACY.md of " + filepath.Base(dir) + " differs"}, errors.New("no model")
	}
	report, err := Gather(q)
	if want := "PRIVACY.md of " + r.ID + " differs; run " + r.ID + ": it cannot be judged: no model"; err != nil ||
		!strings.Contains(report.Faults(), want) {
		t.Errorf("%v: %q, must say %q", err, report.Faults(), want)
	}
	r.Status = record.Failed
	s.save(r)
	if faults := s.report().Faults(); !strings.Contains(faults, "says that it is failed, and it has a release") {
		t.Error(faults)
	}
}

// TestOwnersCopy: charges that the copy beside a ledger has and the ledger lacks are told, and that there is no copy.
func TestOwnersCopy(t *testing.T) {
	s := newStudy(t)
	s.run(1, 0)
	short, err := os.ReadFile(s.ledger)
	if err != nil {
		t.Fatal(err)
	}
	s.run(2, 0)
	whole, err := os.ReadFile(s.ledger)
	if err != nil {
		t.Fatal(err)
	}
	const without = "No copy that its owner keeps"
	if text := s.report().Text(1000); !strings.Contains(text, without) {
		t.Error(text)
	}
	beside := filepath.Join(s.dir, "patients.csv"+dataset.KeptSuffix)
	if err := os.WriteFile(beside, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := s.report(); r.Disagrees() || strings.Contains(r.Text(1000), without) {
		t.Error(r.Text(1000))
	}
	if err := os.WriteFile(s.ledger, short, 0o644); err != nil {
		t.Fatal(err)
	}
	q := s.request()
	q.Runs = nil
	if r, err := Gather(q); err != nil || !strings.Contains(r.Faults(), "has 1 charges and lacks 1 of those") {
		t.Errorf("%v: %q", err, r.Faults())
	}
}

// TestUnprovenChargeAgrees: the ledger has no event of a stage of which nothing is proven, and the record has one. That
// is no disagreement; where the plan does not call the stage unproven, it is.
func TestUnprovenChargeAgrees(t *testing.T) {
	for _, unproven := range []bool{true, false} {
		s := newStudy(t)
		r := s.run(1, 0)
		written, err := s.l.Append(nil, ledger.Charge{ID: r.ID + "/detector/train", Run: r.ID, Spec: digest, Version: "1",
			Stage: "detector", Name: "train", Recipe: digest, Adjacency: privacy.AddRemove, Unproven: "W14: one step"})
		if err != nil {
			t.Fatal(err)
		}
		r.Charges = append(r.Charges, record.Charge{Stage: "detector", Name: "train", Event: r.Charges[0].Event,
			ID: written[0].ID, Ledger: written[0].Hash})
		if unproven {
			r.Plan = json.RawMessage(`{"stages":[{"id":"detector","unproven":{"rule":"W14","why":"one step"}}]}`)
		}
		s.save(r)
		if faults := s.report().Faults(); unproven != (faults == "") ||
			!unproven && !strings.Contains(faults, "disagree on the charge") {
			t.Errorf("unproven: %v: %q", unproven, faults)
		}
	}
}

// TestNoFigureOfRows: nothing that a run measured is on any form of the report, nor how long it took.
func TestNoFigureOfRows(t *testing.T) {
	s := newStudy(t)
	s.run(1, 2)
	for name, text := range forms(t, s.report()) {
		if strings.Contains(text, canary) || strings.Contains(text, "auroc") || strings.Contains(text, "73313") {
			t.Errorf("%s: has a figure against real rows", name)
		}
		for _, want := range []string{"0.5 at delta 1e-06", "fa23d33563ba", "all of them are released", "W33"} {
			if name != "JSON" && !strings.Contains(text, want) {
				t.Errorf("%s: lacks %q", name, want)
			}
		}
	}
}

// forms returns a report in all its forms.
func forms(t *testing.T, r Report) map[string]string {
	t.Helper()
	page, err := r.Page()
	if err != nil {
		t.Fatal(err)
	}
	object, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{"text": r.Text(1000), "Markdown": r.Markdown(),
		"page": strings.ReplaceAll(string(page), "<wbr>", ""),
		"JSON": string(object)}
}

// TestWarningsWithoutAReasonComeFirst, and equal ones of the runs of a spec are one line.
func TestWarningsWithoutAReasonComeFirst(t *testing.T) {
	s := newStudy(t)
	s.run(1, 0)
	s.run(2, 0)
	rows := s.report().warnings().Rows
	if len(rows) != 2 || rows[0][1] != "W33" || rows[0][4] != "NO REASON GIVEN" || rows[0][5] != "2" ||
		rows[1][4] != "all of them are released" {
		t.Errorf("%q", rows)
	}
}

// TestMarkdownAndPageHoldAnyText: names of strangers open no tag and no cell, and the page is well formed.
func TestMarkdownAndPageHoldAnyText(t *testing.T) {
	s := newStudy(t)
	r := s.run(1, 2)
	r.Name = "</td><script>alert(1)</script>|"
	s.save(r)
	all := forms(t, s.report())
	for _, name := range []string{"page", "Markdown"} {
		if strings.Contains(all[name], "<script") {
			t.Errorf("%s: a name became a tag", name)
		}
	}
	for line := range strings.Lines(all["Markdown"]) {
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if strings.Contains(line, "alert") && bars != 7 && bars != 8 { // of warnings and of runs
			t.Errorf("%d bars: %s", bars, line)
		}
	}
	page := strings.Replace(all["page"], "<!DOCTYPE html>\n", "", 1)
	page = regexp.MustCompile(`<meta([^>]*)>`).ReplaceAllString(page, "<meta$1/>")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, axis := range []string{">composed epsilon at delta 1e-06<", " UTC</text>"} {
		if !strings.Contains(page, axis) {
			t.Errorf("the picture does not name its axis %s", axis)
		}
	}
	if !strings.Contains(page, `<path class="fixed" d="M`) || !strings.Contains(page, `<path class="capped" d="M`) {
		t.Error("the page has no picture of the course")
	}
}

// TestCourseIsThinned: a ledger of many runs is composed a bounded number of times, the last charge among them.
func TestCourseIsThinned(t *testing.T) {
	s := newStudy(t)
	for i := range 100 {
		s.run(i, 0)
	}
	a := s.report().Accounts[0]
	if n := len(a.Course); n > mostPoints+1 || n < mostPoints-1 || *a.Course[n-1].Fixed != *a.Fixed.Value {
		t.Errorf("%d points, the last %v of %v", n, a.Course[n-1].Fixed, a.Fixed.Value)
	}
}

// TestAxes: the greatest value is within the picture, and rules lie at round numbers, three to eight of them.
func TestAxes(t *testing.T) {
	for _, most := range []float64{1e-3, 0.07, 0.5, 1, 1.3, 2, 3.9, 7, 14.9, 123, 5e4} {
		a := &Account{Course: []Point{{Fixed: &most}}}
		x, known := axesOf(a)
		if n := x.most / x.step; !known || x.most < most || n < 3.2 || n > 8 {
			t.Errorf("up to %g: %+v", most, x)
		}
	}
}

// TestReportsOfEqualFilesAreEqual: no clock is in them; they tell up to the last charge or start of a run.
func TestReportsOfEqualFilesAreEqual(t *testing.T) {
	s := newStudy(t)
	s.run(1, 0)
	last := s.run(2, 0) // charged at 14:00
	one, other := forms(t, s.report()), forms(t, s.report())
	for name, text := range one {
		if text != other[name] || !strings.Contains(text, "2026-11-27 14:00") && !strings.Contains(text, "T14:00:00Z") {
			t.Errorf("%s: must be equal twice, as of 14:00\n%s", name, text)
		}
	}
	charged := time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)
	if r := s.gathered(s.ledger); r.AsOf == nil || !r.AsOf.Equal(charged) {
		t.Errorf("without records as of %v, must be as of the last charge, %v", r.AsOf, charged)
	}
	last.ID = strings.Replace(last.ID, "-12", "-16", 1)
	last.Started, last.Charges = last.Started.Add(2*time.Hour), nil
	later := last.Started.Add(time.Hour)
	last.Finished = &later
	s.save(last)
	if r := s.report(); r.AsOf == nil || !r.AsOf.Equal(last.Started) {
		t.Errorf("as of %v, must be as of the start of the last run, %v", r.AsOf, last.Started)
	}
}

// TestDatasetsAreNamed: a dataset is called as the specs of its runs call it, with its id.
func TestDatasetsAreNamed(t *testing.T) {
	s := newStudy(t)
	s.run(1, 0)
	copied := s.run(2, 0)
	copied.Dataset.Name = "copy.csv"
	s.save(copied)
	s.run(3, 0) // under the first name again
	for name, text := range forms(t, s.report()) {
		if want := "patients.csv, copy.csv (" + datasetID + ")"; name != "JSON" && strings.Count(text, want) < 4 {
			t.Errorf("%s must name %s in each section\n%s", name, want, text)
		}
	}
	q := s.request()
	q.Runs = nil
	if r, err := Gather(q); err != nil || r.Accounts[0].title() != datasetID {
		t.Errorf("%v: %s, must be the id alone, since no record names it", err, r.Accounts[0].title())
	}
}

// TestTextFitsATerminal: prose and tables are broken for the columns of a terminal, and a row is one line elsewhere.
func TestTextFitsATerminal(t *testing.T) {
	s := newStudy(t)
	r := s.run(1, 2)
	r.Plan = json.RawMessage(`{"stages":[],"findings":[{"rule":"W45","level":"warning","message":"` +
		strings.Repeat("noise drowns it ", 30) + `"}]}`)
	s.save(r)
	report := s.report()
	whole := report.Text(0)
	if !strings.Contains(whole, strings.Repeat("noise drowns it ", 30)) {
		t.Errorf("a pipe gets broken lines\n%s", whole)
	}
	const table = 150 // wide enough for a name of a run, of 49 characters, beside the rest
	for _, columns := range []int{60, 80, table} {
		text := report.Text(columns)
		for line := range strings.Lines(text) {
			if len(line) > columns+1 && !strings.Contains(line, s.ledger) {
				t.Errorf("%d columns, and a terminal of %d: %s", len(line)-1, columns, line)
			}
		}
		for word := range strings.FieldsSeq(whole) {
			if columns < table && word == strings.ToUpper(word) {
				continue // the head of a table, which each row names in its own way
			}
			if !strings.Contains(text, word) {
				t.Errorf("a terminal of %d columns gets no %q\n%s", columns, word, text)
			}
		}
		if columns == table && len(strings.Fields(whole)) != len(strings.Fields(text)) {
			t.Errorf("a pipe gets other words\n%s\nthan a terminal\n%s", whole, text)
		}
	}
}
