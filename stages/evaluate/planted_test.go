package evaluate

import (
	"math"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// planted returns tables of known quality: train and held-out rows of one
// distribution, against which several synthetic tables are judged.
func planted() map[string]arrow.Record {
	fresh := pipelinetest.WardRows(12, 1500)
	return map[string]arrow.Record{
		"copies":    pipelinetest.WardRows(11, 1500), // the training rows themselves
		"fresh":     fresh,
		"constants": pipelinetest.BlankWards(fresh, false),
		"apart":     withSecondColumn(fresh, pipelinetest.WardRows(13, 1500)),
	}
}

// withSecondColumn returns the columns of one table with the second column of another one.
func withSecondColumn(one, other arrow.Record) arrow.Record {
	columns := slices.Clone(one.Columns())
	columns[1] = other.Column(1)
	return array.NewRecord(one.Schema(), columns, one.NumRows())
}

// judge judges one synthetic table.
func judge(t *testing.T, s pipeline.Stage, synth arrow.Record) map[string]pipeline.Metric {
	return figures(t, s, map[string]pipelinetest.Input{
		"real":       pipelinetest.WardInput(pipelinetest.WardRows(10, 1500), pipeline.Private),
		"synthetic":  pipelinetest.WardInput(synth, pipeline.Released),
		"real_train": pipelinetest.WardInput(pipelinetest.WardRows(11, 1500), pipeline.Private),
	})
}

type bounds struct {
	key       string
	low, high float64
}

func within(t *testing.T, list map[string]pipeline.Metric, want ...bounds) {
	t.Helper()
	for _, b := range want {
		m, ok := list[b.key]
		if !ok || !(m.Value >= b.low && m.Value <= b.high) {
			t.Errorf("%s is %v (%s), must be between %v and %v", b.key, m.Value, m.Note, b.low, b.high)
		}
	}
}

// TestDisclosureCatchesCopies: copies of the training rows are caught, fresh rows are not: a fair coin of
// 1500 throws leaves 0.43 to 0.57 with probability below 1e-6, and an AUROC of
// 1500 against 1500 leaves 0.44 to 0.56 likewise (standard deviation 0.0105).
func TestDisclosureCatchesCopies(t *testing.T) {
	tables := planted()
	copied := judge(t, stage("disclosure", nil), tables["copies"])
	within(t, copied, bounds{"exact_matches", 1, 1}, bounds{"unique_matches", 1, 1}, bounds{"dcr.median", 0, 0},
		bounds{"closer_to_train", 1, 1},
		bounds{"membership_auroc", 0.99, 1}, bounds{"membership_power", 0.99, 1}, bounds{"membership_power_low", 0.99, 1},
		bounds{"attribute_inference_advantage", 0.2, 1})
	fresh := judge(t, stage("disclosure", nil), tables["fresh"])
	within(t, fresh, bounds{"exact_matches", 0, 0.01}, bounds{"closer_to_train", 0.43, 0.57}, bounds{"membership_auroc",
		0.44, 0.56},
		bounds{"membership_power", 0, 0.12}, bounds{"attribute_inference_advantage", -0.05, 0.05})
}

// TestComparisonsOfPlantedTables: fresh rows are as near as other real rows; constants are far, and told apart.
func TestComparisonsOfPlantedTables(t *testing.T) {
	tables := planted()
	m := judge(t, stage("marginals", nil), tables["fresh"])
	near, distance := m["total_variation_2way_real_train"].Value, m["total_variation_2way_independent"].Value
	within(t, m, bounds{"total_variation_2way", 0.8 * near, 1.2 * near}, bounds{"equivalent_subsample", 0.5, 1},
		bounds{"total_variation_2way_independent", near, 1})
	within(t, judge(t, stage("marginals", nil), tables["constants"]), bounds{"total_variation_2way", distance, 1},
		bounds{"equivalent_subsample", 0, 0.1},
		bounds{"total_variation", 0.5, 1}, bounds{"nist_2018_score", 0, 1e5})
	// Fresh rows lose no mean, quantile, share or correlation beyond chance (told with a probability of at most .02, and
	// the rows are fixed); a column of other rows loses its correlations.
	within(t, m, bounds{"statistic_loss", 0, 0}, bounds{"statistic_loss_real_train", 0, 0}, bounds{"mean_real.age", 50,
		58},
		bounds{"statistic_loss.age:mean", 0, 0})
	within(t, judge(t, stage("marginals", nil), tables["constants"]), bounds{"statistic_loss", 1, 1},
		bounds{"statistic_loss.age:standard_deviation", 1, 1}, bounds{"mean_synthetic.age", 40, 40})
	within(t, judge(t, stage("associations", nil), tables["fresh"]), bounds{"pearson_loss", 0, 0},
		bounds{"spearman_loss", 0, 0}, bounds{"pearson_loss_real_train", 0, 0})
	within(t, judge(t, stage("associations", nil), tables["apart"]), bounds{"pearson_loss", 0.5, 0.9},
		bounds{"spearman_loss.age:pressure", 0.5, 0.9}, bounds{"spearman_loss.age:weight", 0, 0})
	// Standard deviations of the AUROC of 900 held-out rows: 0.019.
	within(t, judge(t, stage("detectability", nil), tables["fresh"]), bounds{"auroc", 0.4, 0.6}, bounds{"pmse", 0, 0.02})
	within(t, judge(t, stage("detectability", nil), tables["constants"]), bounds{"auroc", 0.99, 1},
		bounds{"pmse", 0.2, 0.25})
	within(t, judge(t, stage("associations", nil), tables["fresh"]), bounds{"pearson_real.age:pressure", 0.5, 0.9},
		bounds{"pearson_synthetic.age:pressure", 0.5, 0.9},
		bounds{"mixed_max_difference", 0, 0.2}, bounds{"cramers_v_p_real.region:smoker", 0, 1e-6})
	p := judge(t, stage("projection", nil), tables["fresh"])
	far := judge(t, stage("projection", nil), tables["constants"])
	within(t, p, bounds{"wasserstein", 0, 0.5}, bounds{"explained_variance_ratio", 0.3, 0.9})
	if !(far["wasserstein"].Value > 2*p["wasserstein"].Value) || math.IsNaN(p["wasserstein"].Value) {
		t.Errorf("constants are at %v, fresh rows at %v", far["wasserstein"].Value, p["wasserstein"].Value)
	}
}

// TestDisclosureWithoutControl: without rows that the model saw there is no control, and nothing that needs
// one has a value.
func TestDisclosureWithoutControl(t *testing.T) {
	list := figures(t, stage("disclosure", nil), pipelinetest.WardPorts(pipelinetest.WardRows(1, 60),
		pipelinetest.WardRows(2, 60), nil))
	for _, key := range []string{"closer_to_train", "membership_auroc", "attribute_inference_advantage"} {
		if m := list[key]; !math.IsNaN(m.Value) || m.Note == "" {
			t.Errorf("%s is %v with note %q", key, m.Value, m.Note)
		}
	}
	if m, ok := list["exact_matches_control"]; ok {
		t.Errorf("matches of a control that is not there: %v", m.Value)
	}
}

// TestIndependentColumnsAreReal: independent columns are drawn from real rows, not from those to judge.
func TestIndependentColumnsAreReal(t *testing.T) {
	m := judge(t, stage("marginals", nil), planted()["constants"])
	if v := m["total_variation_independent"].Value; !(v < 0.2) {
		t.Errorf("single columns of independent columns are at %v beside %v", v, m["total_variation"].Value)
	}
}
