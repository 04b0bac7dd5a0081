package learn

import (
	"context"
	"encoding/json"
	"math"
	"testing"
)

type linearParams struct {
	Data, Target, Penalty string
	C, Alpha              float64
	L1Ratio               float64 `json:"l1_ratio"`
	PenalizeIntercept     bool    `json:"penalize_intercept"`
	ClassWeight           string  `json:"class_weight"`
	Exposure              *string
	Standardize           *bool
	ExtraColumn           string `json:"extra_column"`
	ARows                 [2]int `json:"a_rows"`
	BRows                 [2]int `json:"b_rows"`
	Level                 float64
	lasso                 bool // by the case's kind
}

// linearData finds the shared table of a case.
func linearData(t *testing.T, tables map[string]json.RawMessage, c goldenCase) (linearParams, Matrix, []float64,
	map[string][]float64) {
	t.Helper()
	p := decode[linearParams](t, c.Params)
	raw := decode[map[string]json.RawMessage](t, tables[p.Data])
	x := fromRows(decode[[][]float64](t, raw["X"]))
	columns := map[string][]float64{}
	for name, v := range raw {
		if name != "X" {
			columns[name] = decode[[]float64](t, v)
		}
	}
	if p.Standardize == nil || *p.Standardize {
		x, _, _ = x.Standardise()
	}
	return p, x, columns[p.Target], columns
}

// TestGoldenLinear: values of scikit-learn 1.2.1 and statsmodels 0.13.5 (testdata/golden/METRICS.md section 5).
func TestGoldenLinear(t *testing.T) { checkLinear(t, goldenCases(t, "models_linear.json")) }

func TestLinear(t *testing.T) { checkLinear(t, copiedCases(t, "linear.json")) }

func checkLinear(t *testing.T, cases []goldenCase) {
	t.Helper()
	tables := tablesOf(cases)
	extended := func(f func(*testing.T, linearParams, Matrix, []float64,
		map[string][]float64) map[string]any) func(*testing.T,
		goldenCase) map[string]any {
		return func(t *testing.T, c goldenCase) map[string]any {
			p, x, y, columns := linearData(t, tables, c)
			p.lasso = c.Kind == "lasso"
			return f(t, p, x, y, columns)
		}
	}
	checkGolden(t, cases, map[string]func(*testing.T, goldenCase) map[string]any{
		"standardize": func(t *testing.T, c goldenCase) map[string]any {
			p := decode[linearParams](t, c.Params)
			x := decode[struct{ X [][]float64 }](t, tables[p.Data]).X
			_, mean, scale := fromRows(x).Standardise()
			return map[string]any{"mean": mean, "scale": scale}
		},
		"logistic":             extended(goldenLogistic),
		"logistic_multinomial": extended(goldenMultinomial),
		"ridge":                extended(goldenRegressor),
		"lasso":                extended(goldenRegressor),
		"elastic_net":          extended(goldenRegressor),
		"ols_minimum_norm":     extended(goldenRegressor),
		"poisson_l2":           extended(goldenPoissonL2),
		"glm_binomial":         extended(goldenGLM(Binomial)),
		"glm_poisson":          extended(goldenGLM(Poisson)),
		"ols":                  extended(goldenGLM(Gaussian)),
		"ci_overlap":           extended(goldenOverlap),
	}, nil)
}

func goldenLogistic(t *testing.T, p linearParams, x Matrix, y []float64, _ map[string][]float64) map[string]any {
	l := Logistic{C: p.C, Penalty: Penalty(p.Penalty), PenalizeIntercept: p.PenalizeIntercept,
		Balanced: p.ClassWeight == "balanced"}
	s, err := l.Fit(context.Background(), x, labels(y), Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := s.(*logit)
	zero := make([]bool, len(x.Cols))
	for j, v := range m.Coef[0] {
		zero[j] = v == 0
	}
	b := &binary{Logistic: l, x: x, t: y, p: len(x.Cols)}
	theta := append(append([]float64(nil), m.Coef[0]...), m.Intercept[0])
	n := labels(y).counts()
	var proba []float64
	for _, row := range first8(s.Scores(x)) {
		proba = append(proba, row[1])
	}
	return map[string]any{
		"coef": m.Coef[0], "intercept": m.Intercept[0], "zero": zero, "proba_first8": proba,
		"objective":     b.loss(b.decision(theta)) + b.penalty(theta),
		"class_weights": []float64{float64(len(y)) / 2 / float64(n[0]), float64(len(y)) / 2 / float64(n[1])},
	}
}

func goldenMultinomial(t *testing.T, p linearParams, x Matrix, y []float64, _ map[string][]float64) map[string]any {
	s, err := Logistic{C: p.C, Penalty: Penalty(p.Penalty)}.Fit(context.Background(), x, labels(y), Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := s.(*logit)
	return map[string]any{"coef": m.Coef, "intercept_centered": m.Intercept, "proba_first8": first8(s.Scores(x))}
}

// goldenRegressor tells the learners apart by the parameters of the case.
func goldenRegressor(t *testing.T, p linearParams, x Matrix, y []float64, _ map[string][]float64) map[string]any {
	var r Regressor
	switch {
	case p.ExtraColumn != "":
		sum := append([]float64(nil), x.Cols[0]...)
		axpy(1, x.Cols[1], sum)
		x.Cols, r = append(x.Cols[:len(x.Cols):len(x.Cols)], sum), LeastSquares{}
	case p.L1Ratio > 0:
		r = ElasticNet{Alpha: p.Alpha, L1Ratio: p.L1Ratio}
	case p.lasso:
		r = ElasticNet{Alpha: p.Alpha, L1Ratio: 1}
	default:
		r = Ridge{Alpha: p.Alpha}
	}
	m, err := r.Fit(context.Background(), x, y, Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	l := m.(*Linear)
	zero := make([]bool, len(x.Cols))
	for j, v := range l.Coef[0] {
		zero[j] = v == 0
	}
	return map[string]any{"coef": l.Coef[0], "intercept": l.Intercept[0], "zero": zero, "fitted_first8": l.Predict(x)[:8]}
}

func goldenPoissonL2(t *testing.T, p linearParams, x Matrix, y []float64, _ map[string][]float64) map[string]any {
	m, err := PoissonL2{Alpha: p.Alpha}.Fit(context.Background(), x, y, Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	r := m.(*rate)
	return map[string]any{"coef": r.Coef[0], "intercept": r.Intercept[0]}
}

func fitGolden(t *testing.T, f Family, p linearParams, x Matrix, y []float64, columns map[string][]float64) *Inference {
	t.Helper()
	var offset []float64
	if p.Exposure != nil {
		for _, e := range columns[*p.Exposure] {
			offset = append(offset, math.Log(e))
		}
	}
	fit, err := FitGLM(context.Background(), f, x, y, offset, Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

func goldenGLM(f Family) func(*testing.T, linearParams, Matrix, []float64, map[string][]float64) map[string]any {
	return func(t *testing.T, p linearParams, x Matrix, y []float64, columns map[string][]float64) map[string]any {
		fit := fitGolden(t, f, p, x, y, columns)
		var intervals [][2]float64
		for j := range fit.Params {
			intervals = append(intervals, fit.Interval(j, 0.95))
		}
		_, sd := Moments(y)
		return map[string]any{
			"params": fit.Params, "std_errors": fit.SE, "z": fit.Z, "t": fit.Z, "p_values": fit.P, "loglik": fit.LogLik,
			"aic":      fit.AIC,
			"deviance": fit.Deviance, "null_deviance": fit.NullDeviance, "pearson_chi2": fit.Pearson, "df_resid": fit.DFResid,
			"conf_int_95": intervals, "r2": 1 - fit.Deviance/(sd*sd*float64(len(y))), "residual_variance": fit.Deviance /
				float64(fit.DFResid),
		}
	}
}

func goldenOverlap(t *testing.T, p linearParams, x Matrix, y []float64, columns map[string][]float64) map[string]any {
	part := func(rows [2]int) *Inference {
		places := make([]int, 0, rows[1]-rows[0])
		for i := rows[0]; i < rows[1]; i++ {
			places = append(places, i)
		}
		cut := map[string][]float64{}
		for name, c := range columns {
			cut[name] = c[rows[0]:rows[1]]
		}
		return fitGolden(t, Poisson, p, x.Take(places), y[rows[0]:rows[1]], cut)
	}
	a, b := part(p.ARows), part(p.BRows)
	var overlaps []map[string]float64
	sum := 0.0
	for j := range a.Params {
		o := Overlap(a.Interval(j, p.Level), b.Interval(j, p.Level))
		sum += o
		overlaps = append(overlaps, map[string]float64{"raw": o, "clipped": max(0, o),
			"std_coef_difference": math.Abs(a.Params[j]-b.Params[j]) / a.SE[j]})
	}
	return map[string]any{"params_a": a.Params, "se_a": a.SE, "params_b": b.Params, "se_b": b.SE, "overlap": overlaps,
		"mean_overlap": sum / float64(len(overlaps))}
}
