package experiment

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// escape is what a terminal would obey and XML cannot hold, with what HTML would.
const escape = "\x1b[2J\x00\x07\u0085\u202e<b>&\"'"

// TestPartsOfThePageAreTold: no two parts have one name, or a reader cannot tell where a leap leads.
func TestPartsOfThePageAreTold(t *testing.T) {
	page, err := Page(swept([]float64{0.1, 1, 10}, "auto", "plain"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:aria-label|aria-labelledby)="([^"]*)"`).FindAllSubmatch(page, -1) {
		if name := string(m[1]); seen[name] && !strings.Contains(name, "over proven epsilon") {
			t.Errorf("two parts are called %q", name)
		} else {
			seen[name] = true
		}
	}
	if len(seen) < 8 {
		t.Errorf("only %v were read", seen)
	}
}

// swept returns an experiment of kinds at epsilons with three repeats; auroc rises with epsilon.
func swept(epsilons []float64, kinds ...string) *Table {
	e := Experiment{Name: "study", Grid: []string{"privacy.epsilon"}, Cells: kinds, Headline: []string{"utility.auroc",
		"marginals.total_variation_2way"},
		References: map[string]Reference{"utility.auroc": {Metric: "utility.auroc_real_train",
			Words: "learnt from real rows"}},
		Bill: Bill{Runs: 3 * len(epsilons) * len(kinds), Delta: 1e-6, Adjacency: "replace_one",
			Accountant: "pld", Reason: "a reason"}}
	for i := range epsilons {
		for j, kind := range kinds {
			for r := range 3 {
				x := 0.6 + 0.1*float64(i) + 0.02*float64(j) + 0.01*float64(r*r)
				e.Runs = append(e.Runs, RunRow{ID: fmt.Sprintf("20261122-120000-%06d", len(e.Runs)), Cell: kind, Repeat: r + 1,
					Seed: uint64(r), Proven: &epsilons[i],
					Report:   fmt.Sprintf("../../run%d/internal/report.html", len(e.Runs)),
					Settings: map[string]string{"privacy.epsilon": fmt.Sprint(epsilons[i])},
					Metrics: map[string]float64{"utility.auroc": x, "utility.auroc_real_train": 0.9,
						"marginals.total_variation_2way": 1 - x}})
			}
		}
	}
	return Tabulate(e)
}

// TestSweepPage needs nothing beside itself, links the report of each run, has a panel for each
// headline metric in the colours of the page, and no control character, whatever names hold.
func TestSweepPage(t *testing.T) {
	kinds := []string{"auto", "plain" + escape, "c", "d", "e", "f", "g"}
	page, err := Page(swept([]float64{0.1, 1, 10}, kinds...))
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	if n := strings.Count(text, `href="../../run`); n != 63 {
		t.Errorf("%d runs are linked, must be 63", n)
	}
	if strings.Count(text, "<figure>") != 2 || !strings.Contains(text, "Dashed: learnt from real rows, 0.9") ||
		!strings.Contains(text, "Internal: computed from real rows") {
		t.Error("a panel, the reference or the banner is missing")
	}
	if found := regexp.MustCompile(`https?://|src=|@import|#[0-9A-F]{6}\b`).FindString(strings.Split(text,
		"</style>")[1]); found != "" {
		t.Errorf("the page holds %q: it must need nothing else and follow the scheme", found)
	}
	if strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsControl(c) && c != '\n' && c != '\t' ||
			c == '\u202e'
	}) || strings.Contains(text, "<b>") {
		t.Error("a name is not spelled")
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		d := xml.NewDecoder(strings.NewReader(svg))
		for err = nil; err == nil; {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("a drawing is not well-formed: %v", err)
		}
	}
}

// TestSweepWithoutCurves: what has no two proven epsilons is a table with the reason.
func TestSweepWithoutCurves(t *testing.T) {
	one, none := swept([]float64{1}, "a", "b"), swept([]float64{1, 2}, "a")
	published := []float64{3, 4}
	for i := range none.Rows {
		none.Rows[i].Proven = nil
	}
	for why, table := range map[string]*Table{"two proven epsilons": one, "two published epsilons": none} {
		page, err := Page(table)
		if err != nil || !bytes.Contains(page, []byte(why)) || bytes.Contains(page, []byte("<figure>")) {
			t.Errorf("%v: %.80s", err, page)
		}
	}
	for i := range none.Rows {
		none.Rows[i].Published = &published[i]
	}
	if page, err := Page(none); err != nil || !bytes.Contains(page, []byte("over published epsilon")) ||
		!bytes.Contains(page, []byte("epsilon (published)")) {
		t.Errorf("what is published alone has no curves over it: %v", err)
	}
	if _, err := Curve(one, "utility.auroc"); err == nil {
		t.Error("a curve over one epsilon is drawn")
	}
	if svg, err := Curve(swept([]float64{1, 2}, "a"), "utility.auroc"); err != nil ||
		!bytes.Contains(svg, []byte("utility.auroc over proven epsilon")) {
		t.Errorf("%v: %.200s", err, svg)
	}
}

// TestSweepOverSteps: runs that draw from checkpoints of one training have its epsilon, and their
// curve is over the step; the table says whose epsilon it shows.
func TestSweepOverSteps(t *testing.T) {
	const path = "stages.sample.step"
	e, epsilon := Experiment{Name: "study", Grid: []string{path}, Headline: []string{"utility.auroc"}}, 6.45
	for i, step := range []string{"1000", "2000", "20000"} {
		e.Runs = append(e.Runs, RunRow{ID: step, Repeat: 1, Published: &epsilon, Settings: map[string]string{path: step},
			Metrics: map[string]float64{"utility.auroc": 0.6 + 0.1*float64(i)}})
	}
	page, err := Page(Tabulate(e))
	for _, want := range []string{"<figure>", "utility.auroc over step, least to largest: study from 0.6 to 0.8",
		"step, under the epsilon of all steps", "proven epsilon of all steps", "published epsilon of all steps", ">20000<"} {
		if err != nil || !bytes.Contains(page, []byte(want)) {
			t.Errorf("%v: the page does not say %q", err, want)
		}
	}
	var text bytes.Buffer
	if err := Tabulate(e).Print(&text, 100); err != nil || !strings.Contains(text.String(), "PUBLISHED (ALL STEPS)") {
		t.Errorf("%v: %s", err, text.String())
	}
}

// asked returns an experiment over the number of questions and budgets, in cells whose epsilons differ in the
// fifth digit, as the epsilons of equal budgets do, with three repeats.
func asked(budgets, queries []string, cells ...string) *Table {
	e := Experiment{Name: "study", Grid: []string{"privacy.epsilon", "stages.ask.queries"}, Cells: cells,
		Headline: []string{"of.error_tailored"}}
	for i, cell := range cells {
		for _, budget := range budgets {
			for _, q := range queries {
				spent, err := strconv.ParseFloat(budget, 64)
				spent = spent*0.9997 + 1e-4*float64(i)
				for r := range 3 {
					run := RunRow{ID: fmt.Sprint(len(e.Runs)), Cell: cell, Repeat: r,
						Settings: map[string]string{"privacy.epsilon": budget, "stages.ask.queries": q},
						Metrics:  map[string]float64{"of.error_tailored": float64(len(e.Runs))}}
					if err == nil && !math.IsInf(spent, 0) {
						run.Proven = &spent
					}
					e.Runs = append(e.Runs, run)
				}
			}
		}
	}
	return Tabulate(e)
}

// TestSweepShowsRealRowsAndSeconds: what the real rows reach is a line in the picture of answers, and the page has the
// seconds of stages, where there are any.
func TestSweepShowsRealRowsAndSeconds(t *testing.T) {
	e := asked([]string{"1"}, []string{"2", "5"}, "d8").Experiment
	e.Headline = []string{"of.accuracy_synthetic"}
	e.References = map[string]Reference{"of.accuracy_synthetic": {Metric: "of.accuracy_real",
		Words: "the real rows themselves"}}
	e.Stages = []string{"train"}
	for i := range e.Runs {
		e.Runs[i].Metrics = map[string]float64{"of.accuracy_synthetic": 0.5, "of.accuracy_real": 0.875}
		e.Runs[i].Seconds = map[string]float64{"train": 1.25}
	}
	page, err := Page(Tabulate(e))
	for _, want := range []string{"Dashed: the real rows themselves, 0.875.", `id="seconds"`, `>1.25</td>`} {
		if err != nil || !bytes.Contains(page, []byte(want)) {
			t.Errorf("%v: the page does not say %q", err, want)
		}
	}
	if page, err = Page(swept([]float64{1, 2}, "a")); err != nil || bytes.Contains(page, []byte(`"seconds`)) {
		t.Errorf("%v: seconds of no stage", err)
	}
}

// TestSweepOverANumber: one budget is drawn over the number of the grid, a line a cell, each mean with its
// interval; two budgets are too, where it is of queries, for what is asked is from how many on a table wins. What has
// no epsilon to show is not part of another's line, and words are no axis.
func TestSweepOverANumber(t *testing.T) {
	T := []string{"2", "5", "10", "20"}
	one := asked([]string{"1"}, T, "d8", "d16")
	page, err := Page(one)
	for _, want := range []string{">queries, logarithmic<", "of.error_tailored over queries, least to largest: d8, " +
		"epsilon 1 from 1 to 10; d16, epsilon 1 from 13 to 22.", ">20<"} {
		if err != nil || !bytes.Contains(page, []byte(want)) {
			t.Errorf("%v: the page does not say %q", err, want)
		}
	}
	for _, m := range curvesOf(one).marks("of.error_tailored", "d8, epsilon 1") {
		// t of 2 degrees 4.302653, over sqrt 3
		if half := 2.484138; math.Abs(m.high-m.mean-half) > 1e-6 || math.Abs(m.mean-m.low-half) > 1e-6 {
			t.Errorf("the interval of %g is %g to %g", m.mean, m.low, m.high)
		}
	}
	for _, c := range []struct {
		table *Table
		over  string
		lines string
	}{
		{asked([]string{"1", "4"}, T[:2], "d8"), "queries", "d8, epsilon 1|d8, epsilon 4"},
		{asked([]string{"1", "inf"}, T[:2], "d8"), "queries", "d8, epsilon 1|d8, epsilon inf"},
		{asked([]string{"1", "4"}, []string{"few", "many"}, "d8"), "proven epsilon", "d8, queries few|d8, queries many"},
	} {
		if got := curvesOf(c.table); got.axis.over() != c.over || strings.Join(got.lines, "|") != c.lines || got.why != "" {
			t.Errorf("over %s, lines %v, %s; must be over %s, %s", got.axis.over(), got.lines, got.why, c.over, c.lines)
		}
	}
	if c := curvesOf(asked([]string{"1"}, []string{"few", "many"}, "d8", "d16")); !strings.Contains(c.why,
		"two proven epsilons") || !strings.Contains(c.why, "two numbers") {
		t.Errorf("epsilons of equal budgets are an axis: %q", c.why)
	}
}

// TestSweepAxis: logarithmic from a span of four on; what is written of an epsilon is never below it.
func TestSweepAxis(t *testing.T) {
	if curvesOf(swept([]float64{1, 3.9}, "a")).log || !curvesOf(swept([]float64{1, 4}, "a")).log {
		t.Error("the axis is logarithmic elsewhere")
	}
	for e, want := range map[float64]string{0.099975: "0.1", 9.9975: "10", 1: "1", 0.12345: "0.124", 123.4: "124",
		3: "3"} {
		if got := upward(e); got != want {
			t.Errorf("%g is written %s, must be %s", e, got, want)
		}
	}
	marks := curvesOf(swept([]float64{0.1, 0.101, 0.102, 10}, "a")).ticks()
	if len(marks) != 2 || marks[1].Value != math.Log10(10) {
		t.Errorf("ticks that hide each other: %v", marks)
	}
}

// TestSweepSaysItsFigures: the page of an experiment that is about some figures begins with them, beside what a paper
// prints, and with the verdict; the page of another has no such section.
func TestSweepSaysItsFigures(t *testing.T) {
	e := swept([]float64{1, 4}, "plain", "new").Experiment
	page, err := Page(Tabulate(e))
	if err != nil || strings.Contains(string(page), `id="figures"`) {
		t.Errorf("%v; an experiment without figures has a section of them", err)
	}
	e.Figures, e.Printed = e.Headline[:1], map[string]map[string][]float64{"plain": {"1": {0.125}}}
	page, err = Page(Tabulate(e))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="figures"`, "(0.125)", "Not judged: differences that are the same",
		"what the paper prints"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestLongIntervalsLeaveCurves: an interval of two repeats may reach far beyond a score's range; it is cut at three
// times the distance of the means, the caption says so, and short ones stay as they are.
func TestLongIntervalsLeaveCurves(t *testing.T) {
	marks := [][]spot{{{0, 0.5, 0.4, 0.6}, {1, 0.7, -5, 6}}}
	got, cut := fitted(marks, 0.6)
	if want := (spot{1, 0.7, 0.5 - 3*(0.7-0.5), 0.7 + 3*(0.7-0.5)}); !cut || got[0][0] != marks[0][0] ||
		math.Abs(got[0][1].low-want.low) > 1e-12 ||
		math.Abs(got[0][1].high-want.high) > 1e-12 || got[0][1].mean != 0.7 {
		t.Errorf("%v, must be %v and %v", got, marks[0][0], want)
	}
	for _, whole := range [][][]spot{{{{0, 0.5, 0.4, 0.6}, {1, 0.7, 0.6, 0.8}}}, {{{0, 0.5, -9, 9}, {1, 0.5, -9, 9}}}} {
		if got, cut := fitted(whole, math.NaN()); cut || got[0][0] != whole[0][0] || got[0][1] != whole[0][1] {
			t.Errorf("%v is cut to %v", whole, got)
		}
	}
	table := swept([]float64{0.1, 1, 10}, "auto")
	low, high := -9.0, 9.0
	const border = "Intervals that reach the border go on beyond it."
	page, err := Page(table)
	if err != nil || bytes.Contains(page, []byte(border)) {
		t.Errorf("%v: short intervals are said to be cut", err)
	}
	s := table.Rows[0].Metrics["utility.auroc"]
	s.Low, s.High = &low, &high
	table.Rows[0].Metrics["utility.auroc"] = s
	if page, err = Page(table); err != nil || !bytes.Contains(page, []byte(border)) {
		t.Errorf("%v: the page does not say what it cuts", err)
	}
}
