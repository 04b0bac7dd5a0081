package evaluate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/stages/internal/prediction"
)

// TestComparisonsOfOddTables: every figure of odd tables is a value or has a stated reason.
func TestComparisonsOfOddTables(t *testing.T) {
	usual := pipelinetest.WardRows(1, 40)
	odd := map[string]arrow.Record{
		"no rows": pipelinetest.WardRows(1, 0), "one row": usual.NewSlice(0, 1), "two rows": usual.NewSlice(0, 2),
		"all missing": pipelinetest.BlankWards(usual, true), "all constant": pipelinetest.BlankWards(usual, false),
		"usual": usual,
		"huge":  pipelinetest.HugeWards(40),
	}
	for _, name := range comparisons() {
		for realName, real := range odd {
			for synthName, synth := range odd {
				for i, train := range []arrow.Record{nil, pipelinetest.WardRows(3, 0), pipelinetest.WardRows(3, 30),
					pipelinetest.BlankWards(usual, true)} {
					if i > 0 && realName != "usual" && synthName != "usual" {
						continue
					}
					t.Run(name+"/"+realName+"/"+synthName, func(t *testing.T) {
						figures(t, stage(name, nil), pipelinetest.WardPorts(real, synth, train))
					})
				}
			}
		}
	}
}

// TestNothingToJudgeIsNoError: tables without a single batch give notes, as tables without rows do.
func TestNothingToJudgeIsNoError(t *testing.T) {
	stages := []pipeline.Stage{
		stage("downstream", overrides{"target": "smoker", "models": prediction.ClassifierNames()}),
		stage("dimension_wise_prediction", nil),
		stage("regression_discovery", overrides{"model": "logistic", "target": "smoker", "columns": []string{"age",
			"region"}}),
	}
	for _, name := range comparisons() {
		stages = append(stages, stage(name, nil))
	}
	for _, s := range stages {
		in := pipeline.Tables{}
		for _, port := range []string{"real", "synthetic", "real_train"} {
			in[port] = pipeline.FromRecords(pipelinetest.WardInput(pipelinetest.WardRows(1, 0), pipeline.Private).Header)
		}
		if s == stages[2] {
			delete(in, "real_train")
		}
		if _, err := pipelinetest.Run(t, s, pipelinetest.Env(2), in); err != nil {
			t.Errorf("%T: %v", s, err)
		}
	}
}

// TestPlansRefuseWhatCannotBeCompared: what tables hold as different things cannot be compared, and that is known
// before anything is paid for.
func TestPlansRefuseWhatCannotBeCompared(t *testing.T) {
	real, other := rows(3, 1).Header, rows(3, 1).Header
	other.Domain = other.Domain.Clone()
	for i, change := range []func(*domain.Column){
		func(c *domain.Column) { *c = domain.Column{Name: "outcome", Type: domain.Integer} },
		func(c *domain.Column) { c.Type = domain.Text },
		func(c *domain.Column) {
			c.Type, c.Encoding = domain.Boolean, &domain.Encoding{Form: domain.MinMax, Width: 1}
		},
	} {
		change(&other.Domain.Columns[2])
		in := pipeline.Headers{"real": real, "synthetic": other}
		fit := stage("regression_discovery", overrides{"model": "linear", "target": "level", "columns": []string{"outcome"}})
		for _, s := range []pipeline.Stage{downstream("outcome", nil), fit} {
			if _, err := s.Plan(in); err == nil || !strings.Contains(err.Error(), "synthetic") {
				t.Errorf("change %d, %T: %v, must name the table", i, s, err)
			}
		}
	}
}

// TestLostStatisticsAreWordedToDiffer: the statistics that lost most are written as people read them: dates as dates,
// and numbers with the digits by which they differ.
func TestLostStatisticsAreWordedToDiffer(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "seen", Type: domain.Date, Bounds: &[2]float64{18000, 19000}},
		{Name: "price", Type: domain.Numeric, Bounds: &[2]float64{0, 2}}}}
	table := func(seed uint64, day int, price float64) pipelinetest.Input {
		rng := rand.New(rand.NewPCG(seed, 4))
		columns := make([][]any, 2)
		for range 600 {
			columns[0] = append(columns[0], day+rng.IntN(3))
			columns[1] = append(columns[1], price+rng.Float64()*1e-5)
		}
		return input(d, columns...)
	}
	real := table(1, 18262, 1.05060)
	note := func(synthetic pipelinetest.Input) string {
		in := map[string]pipelinetest.Input{"real": real, "synthetic": synthetic, "real_train": table(3, 18262, 1.05060)}
		return figures(t, stage("marginals", overrides{"ways": []int{1}}), in)["statistic_loss"].Note
	}
	if got := note(table(2, 18322, 1.05060)); !strings.Contains(got,
		"seen quantile_95 2020-01-03 real, 2020-03-03 synthetic") {
		t.Errorf("the note is %q", got)
	}
	if got := note(table(2, 18262, 1.05054)); !strings.Contains(got, "price mean 1.0506 real, 1.0505 synthetic") {
		t.Errorf("the note is %q", got)
	}
}
