package learn

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

type bayesInput struct {
	X, XTest [][]float64
	Y, YTest []float64
}

func (b *bayesInput) UnmarshalJSON(raw []byte) error {
	var v struct {
		X     [][]float64 `json:"X"`
		XTest [][]float64 `json:"X_test"`
		Y     []float64   `json:"y"`
		YTest []float64   `json:"y_test"`
	}
	err := json.Unmarshal(raw, &v)
	b.X, b.XTest, b.Y, b.YTest = v.X, v.XTest, v.Y, v.YTest
	return err
}

type bayesParams struct {
	Data, Target, Criterion string
	VarSmoothing            float64 `json:"var_smoothing"`
	Alpha                   float64
	MaxDepth                *int `json:"max_depth"`
	MinSamplesSplit         int  `json:"min_samples_split"`
	MinSamplesLeaf          int  `json:"min_samples_leaf"`
}

func scored(t *testing.T, c Classifier, x Matrix, y Labels) Scorer {
	t.Helper()
	s, err := c.Fit(context.Background(), x, y, Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestGoldenBayesLDATree: values of scikit-learn 1.2.1 (testdata/golden/METRICS.md section 5).
func TestGoldenBayesLDATree(t *testing.T) {
	checkBayes(t, goldenCases(t, "models_bayes_lda_tree.json"))
}

func TestBayesLDATree(t *testing.T) { checkBayes(t, copiedCases(t, "bayes_lda_tree.json")) }

func checkBayes(t *testing.T, cases []goldenCase) {
	t.Helper()
	tables := tablesOf(cases)
	extended := func(f func(*testing.T, bayesParams, bayesInput) map[string]any) func(*testing.T,
		goldenCase) map[string]any {
		return func(t *testing.T, c goldenCase) map[string]any {
			p, raw := decode[bayesParams](t, c.Params), c.Input
			if p.Data != "" {
				raw = tables[p.Data]
			}
			return f(t, p, decode[bayesInput](t, raw))
		}
	}
	checkGolden(t, cases, map[string]func(*testing.T, goldenCase) map[string]any{
		"gaussian_nb": extended(func(t *testing.T, p bayesParams, in bayesInput) map[string]any {
			s := scored(t, GaussianNB{p.VarSmoothing}, fromRows(in.X), labels(in.Y))
			m := s.(*gaussianNB)
			return map[string]any{"proba": firstRows(s.Scores(fromRows(in.XTest)), 1e6), "priors": m.priors, "means": m.mean,
				"variances": m.variance, "epsilon": m.epsilon}
		}),
		"bernoulli_nb": extended(func(t *testing.T, p bayesParams, in bayesInput) map[string]any {
			s := scored(t, BernoulliNB{p.Alpha}, fromRows(in.X), labels(in.Y))
			return map[string]any{"proba": firstRows(s.Scores(fromRows(in.XTest)), 1e6), "feature_prob": s.(*bernoulliNB).share}
		}),
		"lda":           extended(goldenLDA),
		"decision_tree": extended(goldenTree),
	}, map[string]bool{"largest_difference_between_solvers": true})
}

func goldenLDA(t *testing.T, p bayesParams, in bayesInput) map[string]any {
	if strings.Contains(p.Target, ">") {
		for i, v := range in.Y {
			in.Y[i] = min(v, 1)
		}
	}
	x, y, test := fromRows(in.X), labels(in.Y), fromRows(in.XTest)
	s := scored(t, LDA{}, x, y)
	mean, _ := classMoments(x, y)
	var priors []float64
	for _, n := range y.counts() {
		priors = append(priors, float64(n)/float64(x.Rows))
	}
	m := s.(*logit)
	return map[string]any{
		"proba": firstRows(s.Scores(test), 1e6), "proba_lsqr_solver": firstRows(scored(t, LDA{DivideByN: true}, x,
			y).Scores(test), 1e6),
		"priors": priors, "means": mean, "decision": m.Decision(test).Cols[0], "coef": m.Coef[0], "intercept": m.Intercept[0],
	}
}

func goldenTree(t *testing.T, p bayesParams, in bayesInput) map[string]any {
	g := Growth{Criterion: Criterion(p.Criterion), MinSplit: p.MinSamplesSplit, MinLeaf: p.MinSamplesLeaf}
	if p.MaxDepth != nil {
		g.MaxDepth = *p.MaxDepth
	}
	x, test := fromRows(in.X), fromRows(in.XTest)
	if g.Criterion == MSE || g.Criterion == friedman {
		m, err := RegressionTree{g}.Fit(context.Background(), x, in.Y, Run{Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		tree := m.(*meanTrees).list[0]
		return map[string]any{"nodes": nodesOf(tree, 1), "predict": m.Predict(test),
			"feature_importances": tree.importances(len(x.Cols))}
	}
	s := scored(t, DecisionTree{g}, x, labels(in.Y))
	tree, proba := s.(*trees).list[0], s.Scores(test)
	return map[string]any{
		"nodes": nodesOf(tree, tree.width), "predict": Predict(proba), "proba": firstRows(proba, 1e6),
		"feature_importances": tree.importances(len(x.Cols)),
	}
}

func nodesOf(tree *Tree, width int) []map[string]any {
	var list []map[string]any
	for i, n := range tree.Nodes {
		m := map[string]any{"feature": nil, "threshold": nil, "left": nil, "right": nil, "n": n.N, "impurity": n.Impurity,
			"value": tree.value(int32(i))[:width]}
		if n.Feature >= 0 {
			m["feature"], m["threshold"], m["left"], m["right"] = n.Feature, n.Threshold, n.Left, n.Right
		}
		list = append(list, m)
	}
	return list
}
