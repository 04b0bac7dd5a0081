package metric

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
)

// joined returns real rows above synthetic ones, with the label 1 = synthetic.
func joined(t *testing.T, columns []string) (learn.Matrix, []bool) {
	p := associationParams{Columns: columns, Preparation: "raw"}
	a, b := design(t, p), designOf(t, p, "synth")
	m := learn.NewMatrix(a.Rows+b.Rows, len(columns))
	for j := range m.Cols {
		copy(m.Cols[j], a.Cols[j])
		copy(m.Cols[j][a.Rows:], b.Cols[j])
	}
	label := make([]bool, m.Rows)
	for i := a.Rows; i < m.Rows; i++ {
		label[i] = true
	}
	return m, label
}

func labelsOf(y []bool) learn.Labels {
	l := learn.Labels{Y: make([]int, len(y)), Classes: 2}
	for i, v := range y {
		if v {
			l.Y[i] = 1
		}
	}
	return l
}

func fit(t *testing.T, c float64, x learn.Matrix, y []bool) learn.Scorer {
	s, err := learn.Logistic{C: c, Penalty: learn.L2}.Fit(t.Context(), x, labelsOf(y), learn.Run{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func pmse(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct {
		Columns, Design []string
		Model           string
	}](t, c.Params)
	columns, strength := p.Columns, 1.0
	if p.Design != nil {
		columns = p.Design
	}
	if strings.HasPrefix(p.Model, "unpenalised") {
		strength = UnpenalisedPenalty
	}
	raw, y := joined(t, columns)
	x, _, _ := raw.Standardise()
	for j, name := range columns {
		// Of the unpenalised design only the numbers are standardised.
		if p.Design != nil && strings.Contains(name, "=") {
			x.Cols[j] = raw.Cols[j]
		}
	}
	s := fit(t, strength, x, y)
	prob := s.Scores(x).Cols[1]
	share := 0.0
	for _, v := range y {
		if v {
			share += 1 / float64(len(y))
		}
	}
	coef, intercept := linear(x, s)
	parameters := len(IndependentColumns(x)) + 1
	d := NewPMSE(prob, share, parameters)
	return map[string]any{"pmse": d.Value, "expected_pmse_null": d.Expected, "sd_pmse_null": d.SD, "pmse_ratio": d.Ratio,
		"standardised_pmse": d.Standardised, "parameters": parameters, "synthetic_share": d.Share,
		"coefficients": append([]float64{intercept}, coef...), "coef": coef, "intercept": intercept,
		"in_sample_auroc": learn.AUROC(y, prob), "first8_propensities": prob[:8]}
}

// linear reads the coefficients off the decisions at unit vectors.
func linear(x learn.Matrix, s learn.Scorer) (coef []float64, intercept float64) {
	k := len(x.Cols)
	probe := learn.NewMatrix(k+1, k)
	for j := range k {
		probe.Cols[j][j] = 1
	}
	d := s.(interface {
		Decision(learn.Matrix) learn.Matrix
	}).Decision(probe).Cols[0]
	for j := range k {
		coef = append(coef, d[j]-d[k])
	}
	return coef, d[k]
}

func discriminator(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct {
		Columns  []string
		TestRows []int `json:"test_rows"`
	}](t, c.Params)
	x, y := joined(t, p.Columns)
	holdout := map[int]bool{}
	for _, i := range p.TestRows {
		holdout[i] = true
	}
	var train []int
	for i := range x.Rows {
		if !holdout[i] {
			train = append(train, i)
		}
	}
	z, mean, scale := x.Take(train).Standardise()
	test := x.Take(p.TestRows)
	for j := range test.Cols {
		for i := range test.Cols[j] {
			test.Cols[j][i] = (test.Cols[j][i] - mean[j]) / scale[j]
		}
	}
	prob := fit(t, 1, z, pick(y, train)).Scores(test).Cols[1]
	truth := pick(y, p.TestRows)
	curve := learn.NewCurve(truth, prob)
	return map[string]any{"auroc": curve.AUROC(), "accuracy": learn.ConfusionAt(truth, prob, 0.5).Accuracy(),
		"average_precision": curve.AveragePrecision(), "log_loss": learn.LogLoss(truth, prob, learn.EpsilonMachine),
		"advantage_from_auroc": Advantage(curve.AUROC())}
}

func pick(y []bool, places []int) []bool {
	out := make([]bool, len(places))
	for k, i := range places {
		out[k] = y[i]
	}
	return out
}

func summary(s DistanceSummary) map[string]any {
	return map[string]any{"p5": s.P5, "median": s.Median, "mean": s.Mean, "min": s.Min, "p25": s.P25}
}

// direction finds the rows of `to` nearest to the rows of `from`.
func direction(s *Space, from, to *columns.Frame) (map[string]any, []float64) {
	near := NearestAll(s, from, to, 2)
	var dcr, nndr []float64
	zero := 0.0
	for _, n := range near {
		dcr, nndr = append(dcr, n.First), append(nndr, n.NNDR())
		if n.First < 1e-12 {
			zero += 1 / float64(len(near))
		}
	}
	return map[string]any{"dcr": summary(SummariseDistances(dcr)), "nndr": summary(SummariseDistances(nndr)),
		"share_zero_distance": zero,
		"dcr_first10":         dcr[:min(10, len(dcr))], "nndr_first10": nndr[:min(10, len(nndr))]}, dcr
}

func goldenNearest(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct{ Distance string }](t, c.Params)
	real, synth, test := goldenTable(t, "real"), goldenTable(t, "synth"), goldenTable(t, "test")
	kind := EuclideanMixed
	switch {
	case contains(p.Distance, "mean over all columns"):
		kind = Gower
	case contains(p.Distance, "numerics only"):
		real, synth, test = numericOnly(real), numericOnly(synth), numericOnly(test)
	case !contains(p.Distance, "number of differing categorical columns"):
		t.Fatalf("nobody handles the distance %q", p.Distance)
	}
	s := NewSpace(kind, real)
	got := map[string]any{}
	var toReal, toTest []float64
	got["synth_to_real"], toReal = direction(s, synth, real)
	got["test_to_real"], _ = direction(s, test, real)
	got["real_to_real_excluding_self"], _ = direction(s, real, real)
	got["synth_to_test"], toTest = direction(s, synth, test)
	closer := 0.0
	for i, d := range toReal {
		if d < toTest[i] {
			closer += 1 / float64(len(toReal))
		}
	}
	got["share_synth_closer_to_real_than_to_test"] = closer
	return got
}

func numericOnly(f *columns.Frame) *columns.Frame {
	var names []string
	for i := range f.Columns {
		if !f.Columns[i].Coded() {
			names = append(names, f.Columns[i].Name)
		}
	}
	return f.Select(names)
}

func identical(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	real, synth, test := goldenTable(t, "real").Select(p.Columns), goldenTable(t, "synth").Select(p.Columns),
		goldenTable(t, "test").Select(p.Columns)
	n, rows := NewMatches(real).Of(synth), float64(synth.Rows)
	return map[string]any{"count_synth_in_real": n, "share_synth_in_real": float64(n) / rows,
		"share_synth_in_test":     float64(NewMatches(test).Of(synth)) / rows,
		"share_synth_unique_rows": float64(distinct(synth)) / rows}
}

// distinct returns the number of different rows.
func distinct(f *columns.Frame) int {
	seen := map[string]bool{}
	for i := range f.Rows {
		key := ""
		for _, c := range f.Slice(i, i+1).Columns {
			key += fmt.Sprint(c.Numbers, c.Codes)
		}
		seen[key] = true
	}
	return len(seen)
}

func nearestSmall(t *testing.T, c goldenCase) map[string]any {
	in := decode[struct{ Real, Synth [][]float64 }](t, c.Input)
	real, synth := plane(in.Real), plane(in.Synth)
	var dcr, second, nndr []float64
	same := 0.0
	for _, n := range NearestAll(NewSpace(EuclideanMixed, real), synth, real, 1) {
		dcr, second, nndr = append(dcr, n.First), append(second, n.Second), append(nndr, n.NNDR())
	}
	same = float64(NewMatches(real).Of(synth)) / float64(synth.Rows)
	return map[string]any{"dcr": dcr, "second": second, "nndr": nndr, "identical_share": same}
}

// plane returns points as a frame whose bounds leave numbers unscaled.
func plane(points [][]float64) *columns.Frame {
	f := &columns.Frame{Rows: len(points)}
	for j := range points[0] {
		c := columns.Column{Name: string(rune('a' + j)), Type: domain.Numeric, Bounds: &[2]float64{0, 1}}
		for _, p := range points {
			c.Numbers = append(c.Numbers, p[j])
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

func percentiles(t *testing.T, c goldenCase) map[string]any {
	x := plane(column(decode[struct{ X []float64 }](t, c.Input).X)).Columns[0].Numbers
	slices.Sort(x)
	got := map[string]any{}
	for q := range c.Expected {
		got[q] = Percentile(x, atof(t, q))
	}
	return got
}
