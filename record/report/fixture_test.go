package report

import (
	"math"

	"weir/privacy"
	"weir/record"
)

func pointer(x float64) *float64 { return &x }

// full returns a made-up report that has every part.
func full() *Report {
	nan := math.NaN()
	return &Report{
		Name: "study", Source: "patients.csv",
		Privacy: Privacy{Proven: pointer(0.99952), Published: pointer(0.5), Budget: 1, Delta: 1e-6, Adjacency: "replace_one",
			Unit: "row", Accountant: "pld",
			Claims: "published", ByAddition: pointer(1.2), Spends: []Spend{
				{Stage: "histogram", Line: privacy.Line{Mechanism: "discrete Gaussian", Sensitivity: "1", Uses: 1},
					Cost: privacy.Cost{NoiseMultiplier: pointer(3), Share: pointer(0.3), Alone: pointer(0.4),
						Cumulative: pointer(0.4)}},
				{Stage: "train", Line: privacy.Line{Mechanism: "DP-SGD", Sensitivity: "2C", Uses: 1000},
					Cost: privacy.Cost{NoiseMultiplier: pointer(1), Share: pointer(0.7), Alone: pointer(0.8),
						Cumulative: pointer(0.99952), Published: pointer(0.5)}},
			}},
		Findings: []record.Finding{{Rule: "W07", Level: "warning", Message: "delta is above one over the rows",
			Fix: "a smaller delta"}},
		Released: []Artifact{{Name: "sample", Form: "table", Class: "released", Rows: 63000, Columns: 2}},
		Groups: []Group{
			{Stage: "marginals", Kind: "marginals", Declared: declared("marginals"), Figures: []Figure{
				{Name: "total_variation", Value: 0.06}, {Name: "total_variation_independent", Value: 0.001},
				{Name: "total_variation", Column: "age", Value: 0.1},
				{Name: "total_variation", Column: "region", Value: 0.02},
				{Name: "kl", Value: nan, Note: "infinite: a value occurs in one table only"},
			}},
			{Stage: "utility", Kind: "downstream", Declared: declared("downstream"), Figures: []Figure{
				{Name: "auroc", Value: 0.74}, {Name: "auroc_low", Value: 0.725}, {Name: "auroc_high", Value: 0.775},
				{Name: "auroc_real_train", Value: 0.8},
				{Name: "auroc", Column: "a", Value: 0.7}, {Name: "auroc_real_train", Column: "a", Value: 0.75},
				{Name: "auroc", Column: "b", Value: 0.72}, {Name: "auroc_real_train", Column: "b", Value: 0.8},
				{Name: "auroc", Column: "c", Value: 0.8}, {Name: "auroc_real_train", Column: "c", Value: 0.85},
			}},
		},
		Tables: &Tables{RealRows: 7000, SyntheticRows: 63000, Real: "split.test", Synthetic: "sample"},
		Columns: []Column{
			{Name: "age", Type: "integer", Doc: "Age in years.", TotalVariation: 0.1, Edges: []float64{0, 50, 100},
				Real: []float64{0.5, 0.5}, Synthetic: []float64{0.6, 0.4}, Beyond: 2,
				RealSummary: Summary{50, 20, 1, 50, 99}, SynSummary: Summary{45, 21, 1, 44, 99}},
			{Name: "region", Type: "categorical", Labels: []string{"north", "south & <west>"}, Real: []float64{0.25, 0.75},
				Synthetic: []float64{0.5, 0.5}, TotalVariation: 0.3,
				RealMissing: 0.2, RealSummary: Summary{nan, nan, nan, nan, nan}, SynSummary: Summary{nan, nan, nan, nan, nan}},
		},
		Relations: &Relations{Measure: "Pearson correlation", Names: []string{"age", "region", "flat"},
			Real:      [][]float64{{nan, 0.5, nan}, {0.5, nan, nan}, {nan, nan, nan}},
			Synthetic: [][]float64{{nan, -0.1, nan}, {-0.1, nan, nan}, {nan, nan, nan}}},
		Shares: []Point{{0.25, 0.5, "region=north"}, {0.75, 0.5, "region=south"}},
		Projection: &Projection{Explained: [2]float64{0.6, 0.3}, Real: []Point{{X: 1, Y: 2}, {X: 0, Y: 1}},
			Synthetic: []Point{{X: 3, Y: 1}}, Note: "Fitted on 2 rows."},
		Curves: []Classifier{{Name: "learnt from sample", FPR: []float64{0, 1}, TPR: []float64{0.5, 1},
			Precision: []float64{1, 0.5}, Recall: []float64{0.5, 1}, AUROC: 0.75, Average: 0.75},
			{Name: "learnt from split.train", FPR: []float64{0, 1}, TPR: []float64{1, 1}, Precision: []float64{1, 0.5},
				Recall: []float64{1, 1}, AUROC: 1, Average: 1}},
		Groupings: []Grouping{{Column: "region", Target: "smoker = yes", Parts: []RowGroup{
			{Name: "north", Real: 5000, Synthetic: 45000, RealShare: 0.71, SyntheticShare: 0.7, Variation: 0.03,
				VariationOther: 0.02,
				Losses:         []GroupLoss{{"age", 0.05, 0.02}, {"smoker", 0.01, 0.02}},
				PrevalenceReal: 0.2, PrevalenceSynthetic: 0.25, FromSynthetic: GroupScore{0.75, 0.7, 0.8}, FromReal: GroupScore{0.8,
					nan, nan}},
			{Name: "south & <west>", Real: 1990, Synthetic: 17900, RealShare: 0.28, SyntheticShare: 0.29, Variation: 0.09,
				VariationOther: 0.03,
				Losses:         []GroupLoss{{"age", 0.18, 0.05}}, PrevalenceReal: nan, PrevalenceSynthetic: nan,
				FromSynthetic: GroupScore{nan, nan, nan}, FromReal: GroupScore{nan, nan, nan}},
			{Name: "missing values", Real: 10, Synthetic: 0, RealShare: 0.001, Variation: nan, VariationOther: nan,
				PrevalenceReal: 0, PrevalenceSynthetic: nan, FromSynthetic: GroupScore{nan, nan, nan}, FromReal: GroupScore{nan,
					nan, nan}},
		}}},
		Variation: "As in stage marginals.",
		LeftOut:   []string{"Column note: is text."},
	}
}
