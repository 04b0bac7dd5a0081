package evaluate

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/schema"
)

// withBaseline judges fresh rows beside a baseline.
func withBaseline(t *testing.T, s pipeline.Stage, baseline arrow.Record) map[string]pipeline.Metric {
	in := pipelinetest.WardPorts(pipelinetest.WardRows(10, 600), pipelinetest.WardRows(12, 500), pipelinetest.WardRows(11,
		600))
	in["baseline"] = pipelinetest.WardInput(baseline, pipeline.Released)
	return figures(t, s, in)
}

// TestBaselineIsUsed: each question gives its figure of the connected baseline, which is
// the figure of the same rows as the synthetic table.
func TestBaselineIsUsed(t *testing.T) {
	fresh, flat := pipelinetest.WardRows(12, 500), pipelinetest.BlankWards(pipelinetest.WardRows(12, 500), false)
	for kind, names := range map[string][]string{
		"marginals": {"total_variation", "total_variation_2way", "total_variation_3way",
			"probability_mean_absolute_error"},
		"associations":  {"mixed_mean_absolute_difference", "covariance_frobenius_difference"},
		"detectability": {"auroc", "pmse"}, "projection": {"wasserstein"},
		"dimension_wise_prediction": {"mean_absolute_difference"}, "downstream": {"auroc", "accuracy"},
	} {
		s := stage(kind, nil)
		switch kind {
		case "downstream":
			s = downstream("smoker", nil)
		case "dimension_wise_prediction":
			s = dimension()
		}
		same, other := withBaseline(t, s, fresh), withBaseline(t, s, flat)
		for _, name := range names {
			a, b := same[name], same[name+"_baseline"]
			// Which rows a sub-sample of the question takes is drawn for each table.
			if drawn := kind == "projection" || kind == "detectability"; math.IsNaN(b.Value) || !drawn && a.Value != b.Value {
				t.Errorf("%s: %s is %v, of the same rows as a baseline %v", kind, name, a.Value, b.Value)
			}
			if v := other[name+"_baseline"]; v.Value == b.Value {
				t.Errorf("%s: %s of constants as a baseline is %v too", kind, name, v.Value)
			}
		}
	}
}

// TestSimulatedBaseline: in a run with a budget the marginals stand beside independent
// columns with the noise of that budget: the less epsilon, the worse, and at much
// epsilon the figures without noise; without a budget there are none. The noise comes from
// the analytic Gaussian mechanism (testdata/golden of account holds it to 1e-9): 3.73
// is its multiplier at epsilon 1 and delta 1e-5, times the root of 2 and of 5 columns.
// A unit of four rows moves counts by four, so that its noise is four times as large.
func TestSimulatedBaseline(t *testing.T) {
	unit := 1
	run := func(plan *pipeline.Plan) map[string]pipeline.Metric {
		env := pipelinetest.Env(2)
		env.Plan = plan
		in := pipelinetest.WardPorts(pipelinetest.WardRows(10, 1500), pipelinetest.WardRows(12, 1500),
			pipelinetest.WardRows(11, 1500))
		real := in["real"]
		real.Header.Stability = pipeline.Rows(unit)
		in["real"] = real
		out, err := pipelinetest.Run(t, stage("marginals", overrides{"ways": []int{1, 2}}), env, pipelinetest.Tables(in))
		if err != nil {
			t.Fatal(err)
		}
		list, err := pipeline.ReadMetrics(t.Context(), out["out"])
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]pipeline.Metric{}
		for _, v := range list {
			m[v.Key()] = v
		}
		return m
	}
	eval := func(epsilon float64) map[string]pipeline.Metric {
		p := &pipeline.Plan{Delta: 1e-5, Adjacency: privacy.ReplaceOne}
		p.Budget = schema.Float(epsilon)
		return run(p)
	}
	little, some, much := eval(0.1), eval(1), eval(1000)
	const name = "total_variation_2way_baseline"
	if !(little[name].Value > some[name].Value && some[name].Value > much[name].Value) {
		t.Errorf("epsilon 0.1, 1 and 1000 give %v, %v and %v", little[name].Value, some[name].Value, much[name].Value)
	}
	if a, b := much[name].Value, much["total_variation_2way_independent"].Value; math.Abs(a-b) > 0.1*b {
		t.Errorf("at epsilon 1000 %v, without noise %v", a, b)
	}
	if note := some[name].Note; !strings.Contains(note, "noise of 11.8 rows") || !strings.Contains(note,
		"nothing is spent") {
		t.Errorf("the note is %q", note)
	}
	unit = 4
	units := eval(1)[name]
	if !strings.Contains(units.Note, "noise of 47.2 rows") || units.Value <= some[name].Value {
		t.Errorf("of units of four rows it is %v, of rows %v: %q", units.Value, some[name].Value, units.Note)
	}
	for _, none := range []map[string]pipeline.Metric{run(nil), eval(math.Inf(1))} {
		if m, ok := none[name]; ok {
			t.Errorf("a baseline of %v without a budget", m.Value)
		}
	}
}

// TestRowsAndMajority: every question says of how many rows it speaks, and beside accuracy
// stands what the commonest class gives.
func TestRowsAndMajority(t *testing.T) {
	in := map[string]pipelinetest.Input{"real": rows(230, 1), "synthetic": rows(40, 2), "real_train": rows(70, 3)}
	m := figures(t, downstream("outcome", nil), in)
	for key, want := range map[string]float64{"rows.real": 230, "rows.synthetic": 40, "rows.real_train": 70} {
		if m[key].Value != want {
			t.Errorf("%s is %v, must be %v", key, m[key].Value, want)
		}
	}
	ones, all := 0., 0.
	for _, v := range values(in["real"], 2) {
		if v != nil {
			all++
		}
		if v == "1" {
			ones++
		}
	}
	if got := m["accuracy_majority"].Value; got != math.Max(ones, all-ones)/all {
		t.Errorf("the commonest class has %v, must be %v of %v", got, math.Max(ones, all-ones), all)
	}
	for _, name := range []string{"auroc", "accuracy", "f1", "auroc_real_train", "auroc_loss"} {
		low, high := m[name+"_low"], m[name+"_high"]
		if low.Name == "" || high.Name == "" || !(low.Value <= m[name].Value && m[name].Value <= high.Value) {
			t.Errorf("%s is %v, its interval %v to %v", name, m[name].Value, low.Value, high.Value)
		}
	}
	// Learnt from the same rows, scores differ by nothing in every resample.
	same := figures(t, downstream("outcome", nil), map[string]pipelinetest.Input{"real": rows(230, 1),
		"synthetic": rows(70, 3), "real_train": rows(70, 3)})
	if low, high := same["auroc_loss_low"], same["auroc_loss_high"]; low.Name == "" || low.Value != 0 || high.Value != 0 {
		t.Errorf("the loss against the same rows is within %v to %v", low.Value, high.Value)
	}
	if few := figures(t, downstream("outcome", nil), map[string]pipelinetest.Input{"real": rows(15, 1),
		"synthetic": rows(40, 2)}); few["auroc_low"].Name != "" {
		t.Error("15 test rows give an interval")
	}
}
