package plots

import (
	"context"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/record/report"
	"weir/schema"
	"weir/stages/evaluate"
	"weir/stages/internal/columns"
	"weir/stages/metric"
)

// gathered returns a table of figures, one undefined.
func gathered(name string) pipelinetest.Input {
	h := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private,
		Stability: pipeline.Unbounded()}
	t := pipeline.WriteMetrics(h, []pipeline.Metric{
		{Name: name, Value: 0.25}, {Name: name, Column: "age", Value: math.NaN(), Note: "the real column is empty"},
	})
	h = t.Header
	for r, err := range t.Open(context.Background()) {
		if err != nil {
			panic(err)
		}
		return pipelinetest.Input{Header: h, Rows: r}
	}
	panic("no batch")
}

func newReport() pipeline.Stage { return &settings{Plots: 3, Rows: 50} }

// pageOf runs a report and returns its page and the names of its files.
func pageOf(t *testing.T, s *settings, env *pipeline.Env, in map[string]pipelinetest.Input) (page string,
	names []string) {
	t.Helper()
	out, err := pipelinetest.Run(t, s, env, pipelinetest.Tables(in))
	if err != nil {
		t.Fatal(err)
	}
	files, err := pipeline.ReadFiles(t.Context(), out["out"])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name)
	}
	if text, _, _ := strings.Cut(string(files[0].Data), "<script>"); strings.Contains(text, "NaN") {
		t.Error("the page shows NaN")
	}
	return string(files[0].Data), names
}

func TestReportDrawsEverything(t *testing.T) {
	in := pipelinetest.WardPorts(pipelinetest.WardRows(1, 300), pipelinetest.WardRows(2, 400),
		pipelinetest.WardRows(3, 300))
	in["metrics.0"] = gathered("total_variation")
	page, names := pageOf(t, &settings{Target: "smoker", Plots: 40, Rows: 50}, pipelinetest.Env(2), in)
	for _, want := range []string{"report.html", "plots-column-001-age.svg", "plots-column-005-smoker.png",
		"plots-associations-difference.svg",
		"plots-dimension-wise-probability.svg", "plots-projection.png", "plots-roc.svg", "plots-precision-recall.svg"} {
		if !strings.Contains(strings.Join(names, " ")+" ", want+" ") {
			t.Errorf("no %s among %v", want, names)
		}
	}
	for _, want := range []string{"300 real rows (real) against 400 synthetic rows (synthetic)", "learnt from synthetic",
		"learnt from real_train",
		"Column patient: is text", "the real column is empty", "50 real and 50 synthetic rows are drawn"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestReportOfOddTables: whatever the rows are, a page comes out that says what
// it has not drawn.
func TestReportOfOddTables(t *testing.T) {
	constant := func(n int) [][]any {
		columns := make([][]any, 6)
		for i, v := range []any{40, 120.0, 70.0, "north", "no", "p"} {
			for range n {
				columns[i] = append(columns[i], v)
			}
		}
		return columns
	}
	some, none := pipelinetest.WardRows(1, 50), pipelinetest.WardRows(1, 0)
	flat := pipelinetest.Rows(pipelinetest.WardDomain(), constant(20)...)
	for name, in := range map[string]map[string]pipelinetest.Input{
		"empty synthetic": pipelinetest.WardPorts(some, none, some), "empty real": pipelinetest.WardPorts(none, some, some),
		"both empty": pipelinetest.WardPorts(none, none, none),
		"one row": pipelinetest.WardPorts(pipelinetest.WardRows(1, 1), pipelinetest.WardRows(2, 1),
			pipelinetest.WardRows(3, 1)), "constant": pipelinetest.WardPorts(flat, flat,
			flat), "constant synthetic": pipelinetest.WardPorts(some, flat, some),
		"all missing": pipelinetest.WardPorts(some, pipelinetest.BlankWards(some, true), some),
		"real missing": pipelinetest.WardPorts(pipelinetest.BlankWards(some, true),
			some, some), "one category": pipelinetest.WardPorts(flat, some, some),
		"huge":           pipelinetest.WardPorts(pipelinetest.HugeWards(40), some, pipelinetest.HugeWards(30)),
		"huge synthetic": pipelinetest.WardPorts(some, pipelinetest.HugeWards(40), some),
	} {
		t.Run(name, func(t *testing.T) {
			page, _ := pageOf(t, &settings{Target: "smoker", Plots: 2, Rows: 20}, pipelinetest.Env(1), in)
			if !strings.Contains(page, "What is not on this page") || !strings.Contains(page, `id="columns-title"`) {
				t.Error("the page does not say what it leaves out")
			}
		})
	}
}

// planned returns a run's plan with a report at its end.
func planned(epsilon pipeline.EpsilonPair, budget schema.Float) *pipeline.Plan {
	noise, share, alone := 1.1, 1.0, 0.9
	return &pipeline.Plan{Name: "clinic-study", Digest: "sha256:0",
		Dataset: pipeline.DatasetPlan{Source: pipeline.Declared{Kind: "demo", Name: "demo: cardio", Place: "cardio"},
			PrivacyUnit: "row"},
		Adjacency: privacy.ReplaceOne, Accountant: "pld", Claims: pipeline.ClaimsPublished, Budget: budget, Delta: 1e-6,
		Epsilon: epsilon,
		Findings: []pipeline.Finding{{Rule: "W33", Level: pipeline.LevelNote, Stage: "train",
			Message: "a note of the audit"}},
		Steps: []*pipeline.Step{
			{ID: "train", Kind: "dp_wgan", Spends: []pipeline.Planned{{Line: privacy.Line{Name: "train", Mechanism: "DP-SGD",
				Uses: 10}}}, Cost: privacy.Cost{NoiseMultiplier: &noise, Share: &share, Alone: &alone, Cumulative: &alone},
				First:   "model",
				Outputs: map[string]pipeline.Output{"model": {Form: pipeline.FormModel, Class: pipeline.Released}}},
			{ID: "sample", Kind: "sample", First: "out", Write: []string{"csv"},
				Outputs: map[string]pipeline.Output{"out": {Form: pipeline.FormTable, Class: pipeline.Released, Rows: 630,
					Columns: 5}}},
			{ID: "utility", Kind: "downstream", First: "out", Settings: []byte(`{"target": "smoker", "positive": "no"}`),
				Outputs: map[string]pipeline.Output{"out": {Form: pipeline.FormMetrics, Class: pipeline.Private}}},
			{ID: "test", Kind: "report", First: "out", Inputs: map[string][]pipeline.Ref{"metrics": {{Stage: "utility"}},
				"real": {{Stage: "split", Port: "test"}}, "synthetic": {{Stage: "sample"}}}},
		}}
}

func TestReportShowsThePlan(t *testing.T) {
	number := func(x float64) *float64 { return &x }
	in := map[string]pipelinetest.Input{"metrics.0": gathered("auroc")}
	for _, c := range []struct {
		name    string
		epsilon pipeline.EpsilonPair
		budget  schema.Float
		want    []string
	}{
		{"proven", pipeline.EpsilonPair{Proven: number(0.87654321)}, 1, []string{`<p class="big">0.87655</p>`,
			"rounded up, at delta"}},
		{"published without proven", pipeline.EpsilonPair{Published: number(6.45), Reason: "stage train: rule W37"}, 10,
			[]string{`<p class="big">none</p>`, "stage train: rule W37", `<p class="big">6.45</p>`}},
		{"no privacy", pipeline.EpsilonPair{Reason: "no privacy is claimed"}, schema.Float(math.Inf(1)),
			[]string{"No privacy is claimed", "None: no privacy is claimed."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := pipelinetest.Env(1)
			env.Plan = planned(c.epsilon, c.budget)
			page, _ := pageOf(t, &settings{Plots: 40, Rows: 50}, env, in)
			for _, want := range append(c.want, "clinic-study", "<strong>train</strong> – model, released",
				"<strong>sample</strong> – table, released, 630 rows × 5 columns",
				"W33 note", "a note of the audit", "utility", "downstream, 2 figures") {
				found := false
				for _, form := range strings.Split(want, "|") {
					found = found || strings.Contains(page, form)
				}
				if !found {
					t.Errorf("the page lacks %q", want)
				}
			}
			if strings.Contains(page, "NOT PRIVATE") {
				t.Error("a run with real noise is said to be a test")
			}
			env.Insecure = true
			if page, _ := pageOf(t, &settings{Plots: 40, Rows: 50}, env, in); !strings.Contains(page, "NOT PRIVATE.") {
				t.Error("a run with noise from a seed is not said to be a test")
			}
			if strings.Contains(page, "<strong>utility</strong> – ") {
				t.Error("private figures are said to leave")
			}
		})
	}
}

// TestReportTakesItsTarget from the stage downstream of the plan.
func TestReportTakesItsTarget(t *testing.T) {
	in := pipelinetest.WardPorts(pipelinetest.WardRows(1, 200), pipelinetest.WardRows(2, 200),
		pipelinetest.WardRows(3, 200))
	delete(in, "real_train")
	in["metrics.0"] = gathered("auroc")
	env := pipelinetest.Env(1)
	env.Plan = planned(pipeline.EpsilonPair{}, 1)
	page, _ := pageOf(t, &settings{Plots: 40, Rows: 50}, env, in)
	if !strings.Contains(page, "ROC curves on real rows; area under the curve: learnt from sample ") ||
		!strings.Contains(page, "real rows (split.test)") {
		t.Error("no curve of the target of downstream")
	}
}

// TestReportHasOneTotalVariation: the page shows for each column the number that the
// stage marginals of the same tables has, whatever its settings are; by settings of another
// stage the number is another one.
func TestReportHasOneTotalVariation(t *testing.T) {
	// values beyond the bounds, so that each setting shows
	real, synthetic := pipelinetest.WardRows(1, 300), pipelinetest.HugeWards(400)
	refs := []pipeline.Ref{{Stage: "split", Port: "test"}, {Stage: "sample"}}
	for _, c := range []struct {
		bins    int
		outside string
		by      string
	}{{100, "clip", "As in stage judge. Numbers are counted in 100 equal bins"},
		{2, "own_bins", "As in stage judge. Numbers are counted in 2 equal bins"},
		{0, "", "Numbers are counted in 100 equal bins between their declared bounds"}} {
		env := pipelinetest.Env(1)
		env.Plan = planned(pipeline.EpsilonPair{}, 1)
		want := metric.UsualBinning()
		if c.bins > 0 {
			want = metric.Binning{Bins: c.bins, Declared: true, OwnBins: c.outside == "own_bins"}
			other := &pipeline.Step{ID: "other", Kind: "marginals", Settings: []byte(`{"bins": 3}`),
				Inputs: map[string][]pipeline.Ref{"real": refs[1:], "synthetic": refs[1:]}}
			judge := &pipeline.Step{ID: "judge", Kind: "marginals", Settings: fmt.Appendf(nil,
				`{"bins": %d, "edges": "declared", "outside": %q}`, c.bins, c.outside),
				Inputs: map[string][]pipeline.Ref{"real": refs[:1], "synthetic": refs[1:]}}
			env.Plan.Steps = append(env.Plan.Steps, other, judge)
		}
		page, _ := pageOf(t, &settings{Plots: 40, Rows: 50}, env, pipelinetest.WardPorts(real, synthetic, nil))
		frames, err := evaluate.Read(t.Context(), tablesIn(real, synthetic))
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range want.CodeAll(frames["real"], frames["synthetic"], 1).Columns {
			number := fmt.Sprintf("%.4g", column.TotalVariation())
			row := `<th scope="row">` + column.Name + `</th><td>` + string(pipelinetest.WardDomain().Column(column.Name).Type) +
				`(?: <span class="dim of">[^<]*</span>)?</td><td class="n">` + regexp.QuoteMeta(number) + `</td>`
			if !regexp.MustCompile(row).MatchString(page) {
				t.Errorf("%d bins: the page lacks %s", c.bins, row)
			}
			for _, form := range []string{`<span class="name">` + column.Name + `</span><span class="amount">` + number,
				"Total variation " + number + "."} {
				if !strings.Contains(page, form) {
					t.Errorf("%d bins: the page lacks %q of %s", c.bins, form, column.Name)
				}
			}
		}
		if !strings.Contains(page, c.by) {
			t.Errorf("the page does not say %q", c.by)
		}
	}
}

func tablesIn(real, synthetic arrow.Record) pipeline.Tables {
	return pipelinetest.Tables(pipelinetest.WardPorts(real, synthetic, nil))
}

func TestReportRefuses(t *testing.T) {
	in := pipelinetest.WardPorts(pipelinetest.WardRows(1, 5), pipelinetest.WardRows(2, 5), pipelinetest.WardRows(3, 5))
	headers := func(skip string) pipeline.Headers {
		h := pipeline.Headers{}
		for port, i := range maps.All(in) {
			if port != skip {
				h[port] = i.Header
			}
		}
		return h
	}
	for _, c := range []struct {
		stage *settings
		in    pipeline.Headers
		want  string
	}{
		{&settings{}, headers("synthetic"), "both, or neither"}, {&settings{}, headers("real"), "both, or neither"},
		{&settings{Target: "smokr"}, headers(""), "did you mean smoker?"}, {&settings{Target: "region"}, headers(""),
			"two categories"},
	} {
		if _, err := c.stage.Plan(c.in); err == nil || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%+v: %v, must say %q", c.stage, err, c.want)
		}
	}
}

func TestHistogram(t *testing.T) {
	for _, c := range []struct {
		name       string
		column     drawable
		edges      int
		lo, hi     float64
		beyond     int
		real, last float64 // first and last real share
	}{
		{"constant", drawable{real: []float64{5, 5}, synthetic: []float64{5}}, 2, 4.5, 5.5, 0, 1, 1},
		// 0 to 30 in whole numbers: 31 values in bins of width 2, 16 bins from -0.5 to 31.5.
		{"whole", drawable{real: []float64{0, 30}, synthetic: []float64{7}, whole: true}, 17, -0.5, 31.5, 0, 0.5, 0.5},
		{"declared bounds", drawable{real: []float64{-150, 1, 2, 16020}, synthetic: []float64{1}, bounds: &[2]float64{0, 10}},
			31, 0, 10, 2, 0.25, 0.25},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.column.draw()
			if len(got.Edges) != c.edges || got.Edges[0] != c.lo || math.Abs(got.Edges[len(got.Edges)-1]-c.hi) > 1e-12 ||
				got.Beyond != c.beyond {
				t.Errorf("edges %v, %d beyond; must be %d from %g to %g and %d", got.Edges, got.Beyond, c.edges, c.lo, c.hi,
					c.beyond)
			}
			if got.Real[0] != c.real || got.Real[len(got.Real)-1] != c.last {
				t.Errorf("shares %v", got.Real)
			}
		})
	}
}

// drawable is a column of numbers in both tables.
type drawable struct {
	real, synthetic []float64
	whole           bool
	bounds          *[2]float64
}

func (d drawable) draw() report.Column {
	c := columns.Column{Name: "x", Type: domain.Numeric, Bounds: d.bounds}
	if d.whole {
		c.Type = domain.Integer
	}
	real, synthetic := c, c
	real.Numbers, synthetic.Numbers = d.real, d.synthetic
	return drawColumn(&real, &synthetic, len(d.real), len(d.synthetic))
}

// BenchmarkReport is the default report of a table of Cardio's size: 70,000 real
// rows to test and to train on, 63,000 synthetic ones.
func BenchmarkReport(b *testing.B) {
	in := pipelinetest.Tables(pipelinetest.WardPorts(pipelinetest.WardRows(1, 70000), pipelinetest.WardRows(2, 63000),
		pipelinetest.WardRows(3, 70000)))
	b.ReportAllocs()
	for b.Loop() {
		s := Kinds()[0].New().(*settings)
		s.Target = "smoker"
		if _, err := pipelinetest.Run(b, s, pipelinetest.Env(2), in); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReportOfNothing: tables without a single batch are drawn as tables without rows are.
func TestReportOfNothing(t *testing.T) {
	in := pipelinetest.WardPorts(pipelinetest.WardRows(1, 0), pipelinetest.WardRows(1, 0), pipelinetest.WardRows(1, 0))
	none := pipeline.Tables{}
	for port, i := range in {
		none[port] = pipeline.FromRecords(i.Header)
	}
	if _, err := pipelinetest.Run(t, &settings{Target: "smoker", Plots: 2, Rows: 20}, pipelinetest.Env(2), none); err !=
		nil {
		t.Error(err)
	}
}

func TestConformance(t *testing.T) {
	all := pipelinetest.WardPorts(pipelinetest.WardRows(1, 60), pipelinetest.WardRows(2, 80), pipelinetest.WardRows(3, 40))
	all["metrics.0"], all["metrics.1"] = gathered("total_variation"), gathered("auroc")
	private := maps.Clone(all) // tables with a private number of rows
	for port, i := range private {
		if i.Header.Class == pipeline.Private && i.Header.Form == pipeline.FormTable {
			i.Header.Terms.Adjacency = privacy.AddRemove
			private[port] = i
		}
	}
	pipelinetest.CheckKinds(t, Kinds(), map[string][]pipelinetest.Case{"report": {
		{Name: "everything", In: all, Stage: func() pipeline.Stage {
			return &settings{Target: "smoker", Groups: []string{"region"}, Plots: 1, Rows: 20}
		}},
		{Name: "figures alone", In: map[string]pipelinetest.Input{"metrics.0": gathered("auroc")}, Stage: newReport},
		{Name: "nothing", In: map[string]pipelinetest.Input{}, Stage: newReport},
		{Name: "add_remove", In: private, Stage: func() pipeline.Stage { return &settings{Rows: 20} }},
	}})
}
