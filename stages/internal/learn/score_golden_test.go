package learn

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"weir/internal/stattest"
)

type scoreCase struct {
	ID, Kind string
	Input    struct {
		Y    []float64
		S    []float64
		P    [][]float64
		Yhat []float64
	}
	Params struct {
		Threshold float64 `json:"decision_threshold"`
	}
	Expected map[string]json.RawMessage
	Tol      struct{ Abs, Rel float64 }
}

func scoreFile(t *testing.T, name string) []scoreCase {
	var file struct{ Cases []scoreCase }
	stattest.LoadGolden(t, name, &file)
	return file.Cases
}

// TestGoldenClassification: values of scikit-learn 1.2.1 (testdata/golden/METRICS.md section 4).
func TestGoldenClassification(t *testing.T) {
	checkScores(t, scoreFile(t, "scores_classification.json"))
}

// TestScores: a few of these cases, for a clone without the golden folder.
func TestScores(t *testing.T) {
	raw, err := os.ReadFile("testdata/scores.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []scoreCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	checkScores(t, file.Cases)
}

func TestGoldenRegression(t *testing.T) { checkScores(t, scoreFile(t, "scores_regression.json")) }

func checkScores(t *testing.T, cases []scoreCase) {
	t.Helper()
	handled := map[string]func(scoreCase) map[string]any{
		"binary_scores": binaryScores, "binary_scores_undefined": undefined, "log_loss": logLosses,
		"multiclass_scores": multiScores, "regression_scores": regressionScores,
	}
	for _, c := range cases {
		f, ok := handled[c.Kind]
		if !ok {
			t.Errorf("%s: kind %q is not tested", c.ID, c.Kind)
			continue
		}
		got := f(c)
		for name, raw := range c.Expected {
			if name == "library_message" {
				continue
			}
			g, ok := got[name]
			if !ok {
				t.Errorf("%s: no value for %s", c.ID, name)
				continue
			}
			compareScores(t, c, name, g, raw)
		}
	}
}

func compareScores(t *testing.T, c scoreCase, name string, got any, raw json.RawMessage) {
	t.Helper()
	var want any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	bytes, err := json.Marshal(got)
	if err != nil {
		t.Errorf("%s: %s: %v", c.ID, name, err)
		return
	}
	var plain any
	if err := json.Unmarshal(bytes, &plain); err != nil {
		t.Fatal(err)
	}
	if !nearScore(plain, want, c.Tol.Abs, c.Tol.Rel) {
		t.Errorf("%s: %s is %s, want %s", c.ID, name, bytes, raw)
	}
}

func nearScore(got, want any, abs, rel float64) bool {
	switch w := want.(type) {
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= abs+rel*math.Abs(w)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !nearScore(g[i], w[i], abs, rel) {
				return false
			}
		}
		return true
	case map[string]any:
		g, ok := got.(map[string]any)
		for k := range w {
			if !ok || !nearScore(g[k], w[k], abs, rel) {
				return false
			}
		}
		return true
	}
	return got == want
}

func truths(y []float64) []bool {
	b := make([]bool, len(y))
	for i, v := range y {
		b[i] = v == 1
	}
	return b
}

func ints(x []float64) []int {
	v := make([]int, len(x))
	for i := range x {
		v[i] = int(x[i])
	}
	return v
}

func binaryScores(c scoreCase) map[string]any {
	y, s := truths(c.Input.Y), c.Input.S
	curve, f := NewCurve(y, s), ConfusionAt(y, s, c.Params.Threshold)
	fpr, tpr := curve.ROC()
	precision, recall := curve.PR()
	up := reversed(curve.Threshold)
	return map[string]any{
		"auroc": curve.AUROC(), "average_precision": curve.AveragePrecision(), "auprc_trapezoid": curve.AUPRCTrapezoid(),
		"log_loss": LogLoss(y, s, EpsilonMachine), "brier": Brier(y, s), "accuracy": f.Accuracy(), "f1_binary": f.F1(1),
		"precision": f.Precision(1), "recall": f.Recall(1), "balanced_accuracy": f.BalancedAccuracy(),
		"matthews": f.Matthews(), "cohen_kappa": f.Kappa(), "confusion": f,
		"roc_points": map[string]any{"fpr": fpr, "tpr": tpr, "threshold": curve.Threshold},
		"pr_points":  map[string]any{"precision": reversed(precision), "recall": reversed(recall), "threshold": up},
	}
}

func reversed(x []float64) []float64 {
	r := make([]float64, len(x))
	for i, v := range x {
		r[len(x)-1-i] = v
	}
	return r
}

func undefined(c scoreCase) map[string]any {
	return map[string]any{"auroc_undefined": math.IsNaN(AUROC(truths(c.Input.Y), c.Input.S))}
}

func logLosses(c scoreCase) map[string]any {
	y := truths(c.Input.Y)
	return map[string]any{"eps_machine": LogLoss(y, c.Input.S, EpsilonMachine), "eps_1e-15": LogLoss(y, c.Input.S, 1e-15)}
}

func multiScores(c scoreCase) map[string]any {
	y, predicted := ints(c.Input.Y), ints(c.Input.Yhat)
	for _, row := range c.Input.P {
		predicted = append(predicted, best(row))
	}
	classes := 0
	for i := range y {
		classes = max(classes, y[i]+1, predicted[i]+1)
	}
	f := NewConfusion(y, predicted, classes)
	var perClass, labels []float64
	trueOnly, n := 0.0, 0.0
	for k := range f {
		if f.used(k) {
			perClass, labels = append(perClass, f.F1(k)), append(labels, float64(k))
		}
		if f.truth(k) > 0 {
			trueOnly, n = trueOnly+f.F1(k), n+1
		}
	}
	got := map[string]any{
		"accuracy": f.Accuracy(), "confusion": f, "balanced_accuracy": f.BalancedAccuracy(), "cohen_kappa": f.Kappa(),
		"matthews": f.Matthews(), "f1_per_class": perClass, "labels_used": labels,
		"f1_macro_over_true_labels_only": trueOnly / n,
	}
	for _, a := range []ClassAverage{MicroAverage, MacroAverage, WeightedAverage} {
		got["f1_"+string(a)] = f.Mean(f.F1, a)
		got["precision_"+string(a)] = f.Mean(f.Precision, a)
		got["recall_"+string(a)] = f.Mean(f.Recall, a)
		if c.Input.P != nil {
			got["auroc_ovr_"+string(a)] = AUROCOneVsRest(y, c.Input.P, classes, a)
			got["auroc_ovo_"+string(a)] = AUROCOneVsOne(y, c.Input.P, classes, a)
		}
	}
	if c.Input.P != nil {
		got["log_loss"] = LogLossMulti(y, c.Input.P, EpsilonMachine)
	}
	if classes == 2 {
		got["f1_binary"], got["f1_binary_pos0"] = f.F1(1), f.F1(0)
	}
	return got
}

func best(p []float64) int {
	pos := 0
	for i := range p {
		if p[i] > p[pos] {
			pos = i
		}
	}
	return pos
}

func regressionScores(c scoreCase) map[string]any {
	r := NewRegression(c.Input.Y, c.Input.Yhat)
	return map[string]any{
		"r2": r.R2, "mse": r.MSE, "rmse": r.RMSE, "mae": r.MAE, "explained_variance": r.ExplainedVariance,
		"median_absolute_error": r.MedianAbsoluteError, "max_error": r.MaxError,
	}
}

// TestRegressionEdges: R2 of a constant truth is 1 or 0 (scikit-learn 1.2.1), of one row undefined; no
// rows have no scores.
func TestRegressionEdges(t *testing.T) {
	if r := NewRegression([]float64{4, 4}, []float64{4, 5}); r.R2 != 0 || r.MaxError != 1 {
		t.Errorf("constant truth gives %+v", r)
	}
	if r := NewRegression([]float64{4, 4}, []float64{4, 4}); r.R2 != 1 || r.MSE != 0 {
		t.Errorf("perfect prediction of a constant gives %+v", r)
	}
	if r := NewRegression([]float64{4}, []float64{5}); !math.IsNaN(r.R2) || r.MAE != 1 {
		t.Errorf("one row gives %+v", r)
	}
	if r := NewRegression(nil, nil); !math.IsNaN(r.MAE) {
		t.Errorf("no rows give %+v", r)
	}
}
