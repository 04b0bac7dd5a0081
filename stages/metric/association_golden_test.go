package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
)

type associationParams struct {
	Table, Method, Preparation string
	Columns, Rows              []string
	Bins                       int
}

func correlationMatrix(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	f := goldenTable(t, p.Table).Select(p.Columns)
	measure := func(i, j int) (float64, float64) {
		x, y := f.Columns[i].Numbers, f.Columns[j].Numbers
		switch p.Method {
		case "pearson":
			r := Pearson(x, y)
			return r, CorrelationP(r, len(x))
		case "spearman":
			r, n := Spearman(NewOrdered(x), NewOrdered(y))
			return r, CorrelationP(r, n)
		case "kendall_tau_b":
			return KendallTauB(x, y)
		}
		t.Fatalf("nobody handles method %s", p.Method)
		return 0, 0
	}
	one := func(int) float64 { return 1 }
	zero := func(int) float64 { return 0 } // "diagonal p set to 0"
	return map[string]any{
		"matrix":   symmetric(len(f.Columns), func(i, j int) float64 { r, _ := measure(i, j); return r }, one),
		"p_values": symmetric(len(f.Columns), func(i, j int) float64 { _, q := measure(i, j); return q }, zero),
	}
}

// cross returns the contingency table of two coded columns.
func cross(a, b *columns.Column) Contingency {
	return Cross(a.Codes, b.Codes, len(a.Categories), len(b.Categories))
}

// square fills a matrix without symmetry.
func square(n int, eval func(i, j int) float64) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range m[i] {
			m[i][j] = eval(i, j)
		}
	}
	return m
}

func categoricalAssociation(t *testing.T, c goldenCase) map[string]any {
	if c.Input != nil {
		return twoByTwo(NewContingency(decode[struct{ Table [][]float64 }](t, c.Input).Table))
	}
	p := decode[associationParams](t, c.Params)
	f := goldenTable(t, p.Table).Select(p.Columns)
	table := func(i, j int) Contingency { return cross(&f.Columns[i], &f.Columns[j]) }
	n := len(f.Columns)
	return map[string]any{
		"cramers_v":                square(n, func(i, j int) float64 { return table(i, j).CramersV() }),
		"cramers_v_bias_corrected": square(n, func(i, j int) float64 { return table(i, j).CramersVCorrected() }),
		"chi2":                     square(n, func(i, j int) float64 { v, _, _ := table(i, j).Test(); return v }),
		"p_values":                 square(n, func(i, j int) float64 { _, v, _ := table(i, j).Test(); return v }),
		"dof":                      square(n, func(i, j int) float64 { _, _, v := table(i, j).Test(); return float64(v) }),
	}
}

func twoByTwo(x Contingency) map[string]any {
	chi2, p, _ := x.Test()
	return map[string]any{"chi2": chi2, "p_value": p, "cramers_v": x.CramersV(),
		"cramers_v_bias_corrected": x.CramersVCorrected(),
		"phi":                      math.Sqrt(chi2 / x.N)}
}

func mutualInformation(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	f := goldenTable(t, p.Table).Select(p.Columns)
	n := len(f.Columns)
	build := func(pick func(Information) float64) [][]float64 {
		return square(n, func(i, j int) float64 { return pick(cross(&f.Columns[i], &f.Columns[j]).Information()) })
	}
	return map[string]any{
		"mi_nats":                   build(func(i Information) float64 { return i.MI }),
		"mi_bits":                   build(func(i Information) float64 { return i.MI / math.Ln2 }),
		"nmi_arithmetic":            build(func(i Information) float64 { return i.NMI }),
		"theils_u_row_given_column": build(func(i Information) float64 { return i.RowGivenCol }),
	}
}

func mutualInformationBinned(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	real, other := goldenTable(t, "real").Select(p.Columns), goldenTable(t, p.Table).Select(p.Columns)
	codes := func(i int) ([]int32, int) {
		return Binning{Bins: p.Bins}.Codes(&real.Columns[i], &other.Columns[i])
	}
	return map[string]any{"mi_nats": square(len(p.Columns), func(i, j int) float64 {
		a, ka := codes(i)
		b, kb := codes(j)
		return Cross(a, b, ka, kb).Information().MI
	})}
}

func correlationRatio(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	f := goldenTable(t, p.Table)
	var eta, squared, ps [][]float64
	for _, row := range p.Rows {
		var e, s, q []float64
		for _, col := range p.Columns {
			v, pv := CorrelationRatio(f.Column(row).Codes, len(f.Column(row).Categories), f.Column(col).Numbers)
			e, s, q = append(e, v), append(s, v*v), append(q, pv)
		}
		eta, squared, ps = append(eta, e), append(squared, s), append(ps, q)
	}
	return map[string]any{"eta": eta, "eta_squared": squared, "anova_p_values": ps}
}

func differences(d MatrixDifference) map[string]any {
	return map[string]any{"mean_absolute_upper": d.MeanAbsolute, "rms_upper": d.RMS, "max_absolute": d.MaxAbsolute,
		"frobenius": d.Frobenius}
}

func mixedMatrix(f *columns.Frame, signed bool) [][]float64 {
	return symmetric(len(f.Columns), func(i, j int) float64 {
		v := MixedAssociation(&f.Columns[i], &f.Columns[j])
		if !signed && !f.Columns[i].Coded() {
			v = math.Abs(v)
		}
		return v
	}, func(int) float64 { return 1 })
}

func associationMatrix(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	a, b := goldenTable(t, "real").Select(p.Columns), goldenTable(t, "synth").Select(p.Columns)
	return map[string]any{
		"real": mixedMatrix(a, false), "synth": mixedMatrix(b, false),
		"difference": differences(compareMatrices(mixedMatrix(a, false), mixedMatrix(b, false))),
		"signed":     map[string]any{"difference": differences(compareMatrices(mixedMatrix(a, true), mixedMatrix(b, true)))},
	}
}

func matrixDifference(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	a, b := goldenTable(t, "real").Select(p.Columns), goldenTable(t, "synth").Select(p.Columns)
	return differences(compareMatrices(mixedMatrix(a, true), mixedMatrix(b, true)))
}

func correlationUndefined(t *testing.T, c goldenCase) map[string]any {
	in := decode[struct{ X, Constant []float64 }](t, c.Input)
	r, _ := Spearman(NewOrdered(in.X), NewOrdered(in.Constant))
	eta, _ := CorrelationRatio(make([]int32, len(in.X)), 1, in.X)
	return map[string]any{"pearson": Pearson(in.X, in.Constant), "spearman": r, "eta": eta,
		"cramers_v_with_one_category": NewContingency([][]float64{{4, 4}}).CramersV()}
}

func covarianceDistance(t *testing.T, c goldenCase) map[string]any {
	p := decode[associationParams](t, c.Params)
	a, b := design(t, p), designOf(t, p, "synth")
	real, synth := covariance(a), covariance(b)
	d, ok := CompareCovariances(real, synth)
	if !ok {
		t.Fatal("no eigenvalues")
	}
	got := map[string]any{"frobenius": d.Frobenius, "frobenius_relative": d.Relative, "spectral": d.Spectral,
		"max_absolute":    d.MaxAbsolute,
		"covariance_real": rows(real), "covariance_synth": rows(synth)}
	for name, want := range c.Expected {
		if want == nil {
			got[name] = nil // too large for the file
		}
	}
	return got
}

func covariance(m learn.Matrix) *mat.SymDense {
	s := NewScatter(len(m.Cols))
	s.Add(m)
	return s.Covariance()
}

func rows(m *mat.SymDense) [][]float64 {
	return square(m.SymmetricDim(), m.At)
}

// design returns the real table as the preparation of a case says, and designOf
// another table with the same constants.
func design(t *testing.T, p associationParams) learn.Matrix { return designOf(t, p, "real") }

func designOf(t *testing.T, p associationParams, name string) learn.Matrix {
	real, f := goldenTable(t, "real"), goldenTable(t, name)
	m := learn.NewMatrix(f.Rows, len(p.Columns))
	for j, column := range p.Columns {
		base, category := splitName(column)
		col := f.Column(base)
		for i := range f.Rows {
			switch {
			case col.Coded():
				if col.Categories[col.Codes[i]] == category {
					m.Cols[j][i] = 1
				}
			default:
				m.Cols[j][i] = prepared(t, p.Preparation, col.Numbers[i], real.Column(base))
			}
		}
	}
	return m
}

func prepared(t *testing.T, preparation string, x float64, real *columns.Column) float64 {
	switch {
	case contains(preparation, "as they are") || preparation == "raw":
		return x
	case contains(preparation, "min-max"):
		return (x - real.Bounds[0]) / (real.Bounds[1] - real.Bounds[0])
	case contains(preparation, "standardised with the real mean/sd") || contains(preparation, "(x - real mean)/real sd"):
		return (x - stat.Mean(real.Numbers, nil)) / stat.PopStdDev(real.Numbers, nil)
	}
	t.Fatalf("nobody handles the preparation %q", preparation)
	return 0
}

// symmetric fills an n by n matrix by pair for i < j and self on the diagonal.
func symmetric(n int, pair func(i, j int) float64, self func(i int) float64) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, n)
	}
	for i := range m {
		m[i][i] = self(i)
		for j := i + 1; j < n; j++ {
			m[i][j] = pair(i, j)
			m[j][i] = m[i][j]
		}
	}
	return m
}

// compareMatrices compares the upper triangles.
func compareMatrices(a, b [][]float64) MatrixDifference {
	var real, synth []float64
	for i := range a {
		real, synth = append(real, a[i][i+1:]...), append(synth, b[i][i+1:]...)
	}
	return CompareMatrices(real, synth, true)
}
