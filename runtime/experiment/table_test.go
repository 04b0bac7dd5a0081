package experiment

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStudent: the quantiles of Student's t in tables (NIST/SEMATECH e-Handbook, 1.3.6.7.2: .975).
func TestStudent(t *testing.T) {
	for degrees, want := range map[int]float64{1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 29: 2.045} {
		if got := quantile(degrees); math.Abs(got-want) > 0.0005 {
			t.Errorf("%d degrees of freedom: %.4f, must be %.3f", degrees, got, want)
		}
	}
}

// TestSummary: of 1, 2, 3, 4, 5 the mean is 3, the deviation sqrt(10/4), and half the interval
// 2.776 of it over sqrt(5), which is 1.963.
func TestSummary(t *testing.T) {
	s := Summarize([]float64{5, 1, 4, 2, 3})
	if s.N != 5 || *s.Mean != 3 || math.Abs(*s.SD-math.Sqrt(2.5)) > 1e-12 || math.Abs(s.Half()-1.963) > 0.001 ||
		math.Abs(*s.Low-1.037) > 0.001 || !s.Clear() {
		t.Errorf("%+v: mean %v sd %v low %v", s, *s.Mean, *s.SD, *s.Low)
	}
	if s := Summarize([]float64{7}); *s.Mean != 7 || s.SD != nil || s.Low != nil || s.High != nil ||
		!math.IsNaN(s.Half()) || s.Clear() {
		t.Errorf("of one value: %+v", s)
	}
	if s := Summarize([]float64{7.97758, 7.97758, 7.97758, 7.97758, 7.97758}); *s.Mean != 7.97758 || *s.SD != 0 {
		t.Errorf("of equal values: mean %v sd %v", *s.Mean, *s.SD)
	}
	if s := Summarize(nil); s.N != 0 || s.Mean != nil || s.Words(3) != "–" {
		t.Errorf("of none: %+v", s)
	}
	if s := Summarize([]float64{-1, 1}); s.Clear() {
		t.Error("an interval around 0 is clear of it")
	}
}

// study has two epsilons, two cells and two repeats; one run lacks the metric b.
func study() Experiment {
	e := Experiment{Name: "study", Grid: []string{"privacy.epsilon"}, Own: []string{"stages.train.kind"},
		Cells:    []string{"plain", "new"},
		Headline: []string{"u.a", "u.b"}, Bill: Bill{Runs: 8, Delta: 1e-6, NaiveDelta: 8e-6, Adjacency: "replace_one",
			Accountant: "pld"}}
	for i, eps := range []float64{0.5, 2} {
		for j, cell := range e.Cells {
			for r := range 2 {
				run := RunRow{ID: "r" + string(rune('0'+len(e.Runs))), Cell: cell, Repeat: r + 1, Seed: uint64(100 + r),
					Proven: &eps, Delta: 1e-6,
					Settings: map[string]string{"privacy.epsilon": map[bool]string{true: "0.5", false: "2"}[i == 0],
						"stages.train.kind": cell},
					Metrics: map[string]float64{"u.a": float64(10*i + 4*j + r), "u.b": float64(r)}}
				if i == 1 && j == 1 && r == 1 {
					delete(run.Metrics, "u.b")
				}
				e.Runs = append(e.Runs, run)
			}
		}
	}
	return e
}

// TestTable: means are of the runs that have a metric; differences pair repeats at the same
// point of the grid.
func TestTable(t *testing.T) {
	tb := Tabulate(study())
	if len(tb.Rows) != 4 || strings.Join(tb.Metrics, " ") != "u.a u.b" {
		t.Fatalf("%d rows of %v", len(tb.Rows), tb.Metrics)
	}
	last := tb.Rows[3]
	if a, b := last.Metrics["u.a"], last.Metrics["u.b"]; a.N != 2 || *a.Mean != 14.5 || b.N != 1 || *b.Mean != 0 ||
		b.SD != nil || last.Runs != 2 {
		t.Errorf("the last row is %+v", last)
	}
	if b := last.Metrics["u.b"]; b.Words(last.Runs) != "0.0000 (1)" {
		t.Errorf("a metric that one of two runs has is %q", b.Words(last.Runs))
	}
	if len(tb.Differences) != 4 {
		t.Fatalf("%d differences, must be 4: of one cell at two epsilons in two metrics", len(tb.Differences))
	}
	// a differs by 4 in every pair, whatever the repeat: no spread is left.
	if d := tb.Differences[0]; d.Cell != "new" || d.Against != "plain, epsilon 0.5" || d.Metric != "u.a" || d.N != 2 ||
		*d.Mean != 4 || *d.SD != 0 {
		t.Errorf("the first difference is %+v", d)
	}
	if d := tb.Differences[3]; d.N != 1 || d.SD != nil {
		t.Errorf("a pair with a missing value counts: %+v", d)
	}
	e := study()
	e.Baseline = "new"
	if d := Tabulate(e).Differences[0]; d.Cell != "plain" || d.Against != "new, epsilon 0.5" || *d.Mean != -4 {
		t.Errorf("against another baseline: %+v", d)
	}
	e.Runs[0].Seed = 999
	if d := Tabulate(e).Differences[0]; d.N != 1 {
		t.Errorf("runs of different public seeds are paired: %+v", d)
	}
}

// TestBaselineWithoutCells: other settings are compared at the same epsilon, epsilons alone with
// the first one.
func TestBaselineWithoutCells(t *testing.T) {
	run := func(eps, steps string, x float64) RunRow {
		return RunRow{ID: eps + " " + steps, Settings: map[string]string{"privacy.epsilon": eps, "s.t.steps": steps},
			Metrics: map[string]float64{"u.a": x}}
	}
	both := Tabulate(Experiment{Grid: []string{"privacy.epsilon", "s.t.steps"}, Runs: []RunRow{run("1", "10", 1),
		run("1", "20", 3), run("2", "10", 10), run("2", "20", 14)}})
	if len(both.Differences) != 2 || *both.Differences[0].Mean != 2 || *both.Differences[1].Mean != 4 ||
		both.Differences[1].Against != "epsilon 2, steps 10" {
		t.Errorf("%+v", both.Differences)
	}
	one := Tabulate(Experiment{Grid: []string{"privacy.epsilon"}, Runs: []RunRow{run("1", "", 1), run("2", "", 3),
		run("3", "", 10)}})
	if len(one.Differences) != 2 || *one.Differences[0].Mean != 2 || *one.Differences[1].Mean != 9 {
		t.Errorf("%+v", one.Differences)
	}
}

// TestOneValueBesideEpsilon: a setting of the grid with one value is none that differs.
func TestOneValueBesideEpsilon(t *testing.T) {
	run := func(eps string, x float64) RunRow {
		return RunRow{ID: eps, Settings: map[string]string{"privacy.epsilon": eps, "s.t.steps": "10"},
			Metrics: map[string]float64{"u.a": x}}
	}
	tb := Tabulate(Experiment{Grid: []string{"s.t.steps", "privacy.epsilon"}, Runs: []RunRow{run("1", 1), run("2", 3),
		run("3", 10)}})
	if len(tb.Differences) != 2 || *tb.Differences[1].Mean != 9 {
		t.Errorf("%+v", tb.Differences)
	}
}

// TestARunCountsOnce: a value that stands twice in the grid makes no second sample.
func TestARunCountsOnce(t *testing.T) {
	e := study()
	want := Tabulate(e)
	e.Runs = append(e.Runs, e.Runs[:2]...)
	if got := Tabulate(e).Rows[0]; got.Runs != 2 || got.Metrics["u.a"].N != 2 ||
		*got.Metrics["u.a"].High != *want.Rows[0].Metrics["u.a"].High {
		t.Errorf("%+v", got)
	}
}

// TestValuesKeepTheirPlace: a text of the spec begins no line, no cell and no element.
func TestValuesKeepTheirPlace(t *testing.T) {
	e := study()
	for i := range e.Runs {
		e.Runs[i].Settings["privacy.epsilon"] += "\n::error::\t<b>|`x`"
	}
	tb := Tabulate(e)
	var b bytes.Buffer
	if err := tb.Print(&b, 100); err != nil || strings.Contains(b.String(), "\n::") || !strings.Contains(b.String(),
		`0.5\n::error::\t<b>`) {
		t.Errorf("%v\n%s", err, b.String())
	}
	if md := string(tb.Markdown()); strings.Contains(md, "\n::") || strings.Contains(md, "<b>") ||
		!strings.Contains(md, "&lt;b>\\|\\`x\\`") {
		t.Errorf("%s", md)
	}
}

// TestFiles: the columns are as docs/spec.md says; what is missing is empty, never 0.
func TestFiles(t *testing.T) {
	files := Tabulate(study()).Files()
	want := map[string]string{
		"table": "cell privacy.epsilon stages.train.kind epsilon_published epsilon_proven delta runs metric n mean " +
			"sd low high",
		"differences": "cell privacy.epsilon stages.train.kind against metric n mean sd low high",
		"runs": "cell privacy.epsilon stages.train.kind repeat public_seed run epsilon_published epsilon_proven " +
			"delta metric value",
		"times": "cell privacy.epsilon stages.train.kind repeat run stage seconds",
	}
	rows := map[string]int{"table": 8, "differences": 4, "runs": 16}
	for _, f := range files {
		var names []string
		for _, c := range f.Columns {
			names = append(names, c.Name)
			if len(c.Values) != rows[f.Name] {
				t.Errorf("%s.%s has %d values, must have %d", f.Name, c.Name, len(c.Values), rows[f.Name])
			}
		}
		if strings.Join(names, " ") != want[f.Name] {
			t.Errorf("%s has the columns %v", f.Name, names)
		}
	}
	singles := files[2].Columns
	if last := singles[len(singles)-1].Values; last[15] != "" || last[13] != "0" {
		t.Errorf("the values of u.b at the end are %q, must be 0 and empty", []string{last[13], last[15]})
	}
	if _, err := json.Marshal(Tabulate(study())); err != nil {
		t.Error(err)
	}
}

// TestPrint fits 100 columns, and says every headline metric once.
func TestPrint(t *testing.T) {
	e := study()
	for _, m := range []string{"u.total_variation_2way", "u.total_variation_3way", "utility.accuracy", "utility.auroc"} {
		e.Headline = append(e.Headline, m)
		for i := range e.Runs {
			e.Runs[i].Metrics[m] = -0.123
		}
	}
	tb := Tabulate(e)
	var b bytes.Buffer
	if err := tb.Print(&b, 100); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > 100 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
		}
	}
	if n := strings.Count(b.String(), "total_variation_3way"); n != 3 { // in one block and two differences
		t.Errorf("a metric stands %d times in\n%s", n, b.String())
	}
	for i := range tb.Rows {
		tb.Rows[i].Published = tb.Rows[i].Proven
	}
	b.Reset()
	if err := tb.Print(&b, 100); err != nil || !strings.Contains(b.String(), "PUBLISHED  PROVEN") {
		t.Errorf("published epsilons are not shown: %v\n%s", err, b.String())
	}
	tb = Tabulate(e)
	md := string(tb.Markdown())
	if !strings.Contains(md, "| new | 2 | 2 | 2 | 14.5000 ±6.3531 | 0.0000 (1) |") || !strings.Contains(md, "Internal") {
		t.Errorf("the Markdown is\n%s", md)
	}
}

// TestTimes: of eight stages the six that took longest in some row are shown, in the order of the plan; means are
// over the runs that have one, and times.csv has a line for each run and stage.
func TestTimes(t *testing.T) {
	e := study()
	e.Stages = []string{"h", "g", "f", "e", "d", "c", "b", "a"}
	for i := range e.Runs {
		e.Runs[i].Seconds = map[string]float64{"a": 1, "b": 2, "c": 3, "d": float64(i), "e": 0.5, "f": 0.25, "g": 0.125}
	}
	delete(e.Runs[1].Seconds, "d")
	table := Tabulate(e)
	if got := strings.Join(table.Longest(), ""); got != "fedcba" {
		t.Errorf("%s are shown, must be fedcba", got)
	}
	if got := table.Rows[0].SecondsOf("d") + " " + table.Rows[1].SecondsOf("d") + " " +
		table.Rows[0].SecondsOf("h"); got != "0.00 2.50 –" {
		t.Errorf("seconds are %s, must be of run 0 alone, of runs 2 and 3, and of none", got)
	}
	files := table.Files()
	times := files[len(files)-1]
	if last := times.Columns[len(times.Columns)-1]; times.Name != "times" || len(last.Values) != 64 ||
		last.Values[12] != "" || last.Values[4] != "0" {
		t.Errorf("%s: %d lines: %v", times.Name, len(last.Values), last.Values)
	}
	if text := string(table.Markdown()); !strings.Contains(text, "## Seconds") || !strings.Contains(text,
		"| plain | 2 | 2 | 2 | 0.25 | 0.50 | 4.50 |") {
		t.Errorf("no seconds in\n%s", text)
	}
	if e.Stages = nil; len(Tabulate(e).Longest()) > 0 || strings.Contains(string(Tabulate(e).Markdown()), "Seconds") {
		t.Error("seconds of no stage")
	}
}

// five pairs whose differences have mean 1 and deviation 1/2: t is 4.472.
func five() Difference {
	half := math.Sqrt(0.125)
	return Difference{Cell: "new", Metric: "u.a", Summary: Summarize([]float64{1, 1 + 2*half, 1 - 2*half, 1, 1})}
}

// TestVerdictCounts: the quantiles of 4 degrees of freedom are 2.776 at .975 and 4.604 at .995, which five
// comparisons ask for (NIST/SEMATECH e-Handbook, 1.3.6.7.2), so that t of 4.472 is beyond chance alone, and not
// as one of five.
func TestVerdictCounts(t *testing.T) {
	d := five()
	if math.Abs(*d.SD-0.5) > 1e-12 || *d.Mean != 1 {
		t.Fatalf("mean %g, sd %g", *d.Mean, *d.SD)
	}
	if !d.beyond(1) || !d.Clear() {
		t.Error("one comparison of t = 4.472 is within chance")
	}
	if d.beyond(5) {
		t.Error("one of five comparisons of t = 4.472 is beyond chance")
	}
	table := func(n int) *Table {
		tb := &Table{Experiment: Experiment{Name: "study", Figures: []string{"u.a"}}}
		for range n {
			tb.Differences = append(tb.Differences, d)
		}
		other := d
		other.Metric = "u.b" // which the experiment is not about
		single := Difference{Metric: "u.a", Summary: Summarize([]float64{9})}
		tb.Differences = append(tb.Differences, other, single)
		return tb
	}
	if v := Judge([]*Table{table(1)}); v.Compared != 1 || v.Above != 1 || v.Below != 0 || len(v.Beyond) != 1 {
		t.Errorf("of one: %+v", v)
	}
	// Of two tables the family is one.
	if v := Judge([]*Table{table(3), table(2)}); v.Compared != 5 || v.Above != 5 || len(v.Beyond) != 0 {
		t.Errorf("of five: %+v", v)
	}
	if text := (Verdict{}).Text(); !strings.Contains(text, "No verdict") {
		t.Errorf("of none: %s", text)
	}
}

// TestMatrix: a line a cell, a column a combination; sd over n-1, and what a paper prints beside.
func TestMatrix(t *testing.T) {
	e := study()
	e.Figures, e.Printed = []string{"u.a", "u.b"}, map[string]map[string][]float64{"plain": {"2": {0.25, 7}}}
	var b strings.Builder
	Tabulate(e).matrix(&b)
	for _, want := range []string{"| cell | epsilon 0.5 | epsilon 2 |",
		"| plain | 0.500 ± 0.707 / 0.500 ± 0.707 | 10.500 ± 0.707 / 0.500 ± 0.707 (0.250 / 7.000) |",
		"| new | 4.500 ± 0.707 / 0.500 ± 0.707 | 14.500 ± 0.707 / 0.000 |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no line %q in\n%s", want, b.String())
		}
	}
}

// TestFiguresAreInert: the names of figures come from a spec, and begin no line and no tag of a document.
func TestFiguresAreInert(t *testing.T) {
	e := study()
	e.Figures = []string{"<img src=x>\n# title"}
	if text := string(Tabulate(e).Markdown()); strings.Contains(text, "<img") || strings.Contains(text, "\n# title") {
		t.Errorf("figures are written as they are:\n%s", text)
	}
}

// TestAlikeIsNotJudged: two accuracies on the same few rows often differ by the same share in both pairs. An interval
// without width is no finding, even where sums leave the last bit of the deviation.
func TestAlikeIsNotJudged(t *testing.T) {
	table := &Table{Experiment: Experiment{Name: "study", Figures: []string{"u.a"}}}
	for _, values := range [][]float64{{-0.0013, -0.0013}, {0.79 - 0.78, 0.80 - 0.79}, {0, 0}} {
		d := Difference{Cell: "new", Metric: "u.a", Summary: Summarize(values)}
		if d.Clear() || strings.Contains(d.words(), "*") {
			t.Errorf("%v: %s is marked", values, d.words())
		}
		table.Differences = append(table.Differences, d)
	}
	v := Judge([]*Table{table})
	if v.Compared != 0 || v.Above+v.Below+len(v.Beyond) != 0 || v.Alike != 3 {
		t.Errorf("%+v", v)
	}
	if text := v.Text(); !strings.Contains(text, "Not judged") || strings.Contains(text, "No verdict") {
		t.Error(text)
	}
	table.Differences = append(table.Differences, five())
	if v = Judge([]*Table{table}); v.Compared != 1 || len(v.Beyond) != 1 || !strings.Contains(v.Text(), "Not judged") {
		t.Errorf("beside another: %+v", v)
	}
}

// TestAbsentFiguresAreTold: a figure of a misspelt name would be a line of dashes.
func TestAbsentFiguresAreTold(t *testing.T) {
	e := study()
	e.Figures = []string{"u.a", "u.tv2"}
	if note := Tabulate(e).MatrixNote(); !strings.Contains(note, "no run has u.tv2: table.csv has the names") {
		t.Error(note)
	}
	e.Figures = e.Figures[:1]
	if note := Tabulate(e).MatrixNote(); strings.Contains(note, "no run") {
		t.Error(note)
	}
}

// TestMatrixMarksNotes: a figure that some runs have for a reason that makes it none, such as learners of one
// class, is marked, with how many and why.
func TestMatrixMarksNotes(t *testing.T) {
	e := study()
	e.Figures = []string{"u.a"}
	e.Runs[2].Notes = map[string]string{"u.a.lda": "one class", "u.a.svm": "one class"}
	e.Runs[3].Notes = map[string]string{"u.a.lda": "one class"}
	var b strings.Builder
	Tabulate(e).matrix(&b)
	if !strings.Contains(b.String(), "| new | 4.500 ± 0.707 †2 |") || strings.Count(b.String(), "†") != 2 ||
		!strings.Contains(b.String(), "†2 is of two runs with a note: one class.") {
		t.Errorf("the notes are not told:\n%s", b.String())
	}
}

// TestTogether: the mean over two experiments of differences of 4 and 5 is 4.5, and the bill says its dataset. Equal
// variances from two pairs each have 2 degrees of freedom by Welch, whose quantile is 4.303 (NIST/SEMATECH e-Handbook,
// 1.3.6.7.2), times the root of 2 (1/2)/2/2^2, which is 1.521; the normal law would say .693.
func TestTogether(t *testing.T) {
	e := study()
	for _, r := range e.Runs {
		if r.Cell == "new" && r.Repeat == 2 {
			r.Metrics["u.a"]++
		}
	}
	e.Figures, e.Dataset, e.Claims = []string{"u.a"}, "file.csv", "proven"
	one, other := Tabulate(e), Tabulate(e)
	other.Name = "second"
	text := string((&Series{Name: "both", Bills: []DatasetBill{{Dataset: "file.csv", Bill: e.Bill}},
		Tables: []*Table{one, other}}).Markdown())
	for _, want := range []string{"DATASET     file.csv", "Over study, second.",
		"| new, epsilon 0.5 | u.a | +4.5000 ±1.521", "## second", "Of 4 differences"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "A part of") {
		t.Errorf("experiments with their first repeat are called parts in\n%s", text)
	}
	other.Runs = slices.Clone(other.Runs) // both share the runs of e
	for i := range other.Runs {
		other.Runs[i].Repeat += 3
	}
	text = string((&Series{Name: "both", Tables: []*Table{one, other}}).Markdown())
	if want := "## second\n\nA part of the experiment: repeats 4 to "; strings.Count(text, "A part of") != 1 ||
		!strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	other.Claims = "published"
	if text := string((&Series{Name: "both", Tables: []*Table{one, other}}).Markdown()); strings.Contains(text,
		"Mean differences") {
		t.Error("proven and published runs are averaged")
	}
}
