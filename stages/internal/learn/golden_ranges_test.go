package learn

import (
	"encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
)

// rangeLearners returns the learners of models_ranges.json by case id.
func rangeLearners() map[string]Classifier {
	return map[string]Classifier{
		"random_forest":          Forest{Bootstrap: true},
		"extra_trees":            Forest{Growth: Growth{RandomThreshold: true}},
		"adaboost_samme_r":       AdaBoost{Rounds: 50, Real: true},
		"adaboost_samme":         AdaBoost{Rounds: 50},
		"bagging":                Forest{Trees: 10, Bootstrap: true, AllFeatures: true},
		"gradient_boosting":      GradientBoosting{},
		"hist_gradient_boosting": HistBoosting{},
		"linear_svm":             LinearSVM{C: 1},
		"linear_svm_hinge":       LinearSVM{C: 1, Hinge: true},
		"mlp_100":                MLP{Hidden: 100, Epochs: 300, Alpha: 1e-4},
		"decision_tree_depth5":   DecisionTree{Growth{Criterion: Gini, MaxDepth: 5}},
		"decision_tree_full":     DecisionTree{Growth{Criterion: Gini}},
		"logistic_l2":            Logistic{C: 1, Penalty: L2},
		"gaussian_nb":            GaussianNB{1e-9},
		"bernoulli_nb":           BernoulliNB{1},
		"lda":                    LDA{},
	}
}

type rangeParams struct {
	Standardize   bool
	Table, Target string
}

// readTable splits a table of the golden folder into train and test.
func readTable(t testing.TB, p rangeParams) (train, test Matrix, y, yTest Labels) {
	t.Helper()
	f, err := os.Open(filepath.Join(stattest.GoldenDir(t), p.Table))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows, testRows [][]float64
	for _, line := range lines[1:] {
		var row []float64
		var target int
		part := ""
		for j, name := range lines[0] {
			v, err := strconv.ParseFloat(line[j], 64)
			switch {
			case name == "split":
				part = line[j]
			case err != nil:
				t.Fatal(err)
			case name == p.Target:
				target = int(v)
			default:
				row = append(row, v)
			}
		}
		if part == "train" {
			rows, y.Y = append(rows, row), append(y.Y, target)
		} else {
			testRows, yTest.Y = append(testRows, row), append(yTest.Y, target)
		}
	}
	y.Classes, yTest.Classes = 2, 2
	train, test = fromRows(rows), fromRows(testRows)
	if p.Standardize {
		var mean, scale []float64
		train, mean, scale = train.Standardise()
		for j, c := range test.Cols {
			for i := range c {
				c[i] = (c[i] - mean[j]) / scale[j]
			}
		}
	}
	return train, test, y, yTest
}

// TestGoldenRanges: every score lies in the acceptable range of 10 seeds of scikit-learn 1.2.1.
func TestGoldenRanges(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "models_ranges.json", &file)
	learners := rangeLearners()
	for _, c := range file.Cases {
		if c.Kind == "score_reference" {
			continue // the best that any learner could reach; not a test
		}
		l, ok := learners[c.ID]
		if c.Kind != "score_range" || !ok {
			t.Errorf("%s: kind %q of this learner is not tested", c.ID, c.Kind)
			continue
		}
		checkRange(t, c, l)
	}
}

func checkRange(t *testing.T, c goldenCase, l Classifier) {
	x, test, y, yTest := readTable(t, decode[rangeParams](t, c.Params))
	s, err := l.Fit(t.Context(), x, y, Run{Rand: rand.New(rand.NewPCG(1, 2)), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	scores := s.Scores(test)
	positive := make([]bool, len(yTest.Y))
	right := 0.0
	for i, k := range Predict(scores) {
		positive[i] = yTest.Y[i] == 1
		if k == yTest.Y[i] {
			right++
		}
	}
	curve := NewCurve(positive, scores.Cols[1])
	got := map[string]float64{"auroc": curve.AUROC(), "average_precision": curve.AveragePrecision(),
		"accuracy": right / float64(len(positive))}
	for name, raw := range c.Expected {
		var want struct{ Acceptable [2]float64 }
		if json.Unmarshal(raw, &want) != nil {
			continue
		}
		v, ok := got[name]
		if !ok || v < want.Acceptable[0] || v > want.Acceptable[1] {
			t.Errorf("%s: %s is %v, acceptable %v", c.ID, name, v, want.Acceptable)
		}
	}
	t.Logf("%s: %s", c.ID, strings.TrimSpace(strconv.FormatFloat(got["auroc"], 'f', 4, 64)))
}
