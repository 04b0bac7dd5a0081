package sweep

import (
	"math"
	"strings"
	"testing"
)

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
	Of(e).matrix(&b)
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
	if text := string(Of(e).Markdown()); strings.Contains(text, "<img") || strings.Contains(text, "\n# title") {
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
	if note := Of(e).MatrixNote(); !strings.Contains(note, "no run has u.tv2: table.csv has the names") {
		t.Error(note)
	}
	e.Figures = e.Figures[:1]
	if note := Of(e).MatrixNote(); strings.Contains(note, "no run") {
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
	Of(e).matrix(&b)
	if !strings.Contains(b.String(), "| new | 4.500 ± 0.707 †2 |") || strings.Count(b.String(), "†") != 2 || !strings.Contains(b.String(), "†2 is of two runs with a note: one class.") {
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
	one, other := Of(e), Of(e)
	other.Name = "second"
	text := string((&Together{Name: "both", Bills: []OnOne{{Dataset: "file.csv", Bill: e.Bill}}, Tables: []*Table{one, other}}).Markdown())
	for _, want := range []string{"DATASET     file.csv", "Over study, second.", "| new, epsilon 0.5 | u.a | +4.5000 ±1.521", "## second", "Of 4 differences"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	other.Claims = "published"
	if text := string((&Together{Name: "both", Tables: []*Table{one, other}}).Markdown()); strings.Contains(text, "Mean differences") {
		t.Error("proven and published runs are averaged")
	}
}
