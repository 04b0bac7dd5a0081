package evaluate

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/stages/internal/columns"

	"weir/stages/internal/learn"
	"weir/stages/internal/prediction"
	"weir/stages/metric"
)

type goldenCase struct {
	ID, Kind  string
	Params    json.RawMessage
	Input     json.RawMessage
	Expected  map[string]json.RawMessage
	Tol       struct{ Abs, Rel float64 }
	TolFields map[string]struct{ Abs, Rel float64 } `json:"tol_fields"`
}

func (c goldenCase) close(field string, got, want float64) bool {
	tol := c.Tol
	if f, ok := c.TolFields[field]; ok {
		tol = f
	}
	return math.Abs(got-want) <= tol.Abs+tol.Rel*math.Abs(want)
}

func (c goldenCase) expect(t *testing.T, where, field string, got, want float64) {
	t.Helper()
	if !c.close(field, got, want) {
		t.Errorf("%s: %s %s is %v, want %v", c.ID, where, field, got, want)
	}
}

func unmarshal[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// goldenTable reads tables/NAME.csv with its declared domain.
func goldenTable(t *testing.T, name string) *columns.Frame {
	t.Helper()
	var schema struct {
		Columns []struct {
			Name, Type string
			Bounds     *[2]float64
			Categories []string
		}
	}
	stattest.LoadGolden(t, "tables/tables_schema.json", &schema)
	file, err := os.Open(filepath.Join(stattest.GoldenDir(t), "tables", name+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	f := &columns.Frame{Rows: len(lines) - 1}
	for j, s := range schema.Columns {
		c := columns.Column{Name: s.Name, Type: domain.ColumnType(s.Type), Bounds: s.Bounds, Categories: s.Categories}
		for _, line := range lines[1:] {
			if c.Coded() {
				c.Codes = append(c.Codes, int32(slices.Index(s.Categories, line[j])))
				continue
			}
			v, err := strconv.ParseFloat(line[j], 64)
			if err != nil {
				t.Fatal(err)
			}
			c.Numbers = append(c.Numbers, v)
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

// TestGoldenDimensionWise: values of scikit-learn 1.2.1 (testdata/golden/METRICS.md section 8). The probability case is
// the case of the marginals, by their own test.
func TestGoldenDimensionWise(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "dimensionwise.json", &file)
	for _, c := range file.Cases {
		switch c.Kind {
		case "dimensionwise_probability":
			goldenProbability(t, c)
		case "dimensionwise_prediction":
			goldenPrediction(t, c)
		case "dimensionwise_prediction_small":
			goldenSmall(t, c)
		default:
			t.Errorf("%s: kind %q is not tested", c.ID, c.Kind)
		}
	}
}

type predictionColumn struct {
	Column, Metric string
	Features       []string
	Real, Synth    map[string]json.RawMessage
}

func goldenPrediction(t *testing.T, c goldenCase) {
	p := unmarshal[struct {
		Columns    []string
		TrainReal  string `json:"train_real"`
		TrainSynth string `json:"train_synth"`
		Test       string
	}](t, c.Params)
	real, synth, test := goldenTable(t, p.TrainReal).Select(p.Columns), goldenTable(t, p.TrainSynth).Select(p.Columns),
		goldenTable(t, p.Test).Select(p.Columns)
	var differences []metric.Noted
	scores := map[string][]float64{}
	for _, want := range unmarshal[[]predictionColumn](t, c.Expected["columns"]) {
		a := goldenTrial(t, c, want, real, test, want.Real)
		b := goldenTrial(t, c, want, synth, test, want.Synth)
		scores["scores_real"], scores["scores_synth"] = append(scores["scores_real"], a), append(scores["scores_synth"], b)
		differences = append(differences, metric.Of(a-b))
		if m := dimensionKind().New().(*dimensionSettings).score(test.Column(want.Column)); m != want.Metric {
			t.Errorf("%s: the headline of %s is %s, want %s", c.ID, want.Column, m, want.Metric)
		}
	}
	for _, m := range dimensionSummary(differences, "") {
		c.expect(t, "summary", m.Name, m.Value, unmarshal[float64](t, c.Expected[m.Name]))
	}
	for name, list := range scores {
		for i, want := range unmarshal[[]float64](t, c.Expected[name]) {
			c.expect(t, "summary", name, list[i], want)
		}
	}
}

// goldenTrial checks one column trained on one table; the headline comes back.
func goldenTrial(t *testing.T, c goldenCase, want predictionColumn, train, test *columns.Frame,
	expected map[string]json.RawMessage) float64 {
	t.Helper()
	tr, run := prediction.NewTrainTest(train, test, want.Column, prediction.ScaleBounds, 0, nil), learn.Run{Workers: 2}
	encoder := prediction.NewEncoder(prediction.EncoderOptions{Scaling: prediction.ScaleBounds},
		map[string]bool{want.Column: true}, train, test)
	if !slices.Equal(encoder.Names(), want.Features) {
		t.Errorf("%s: the features of %s are %v, want %v", c.ID, want.Column, encoder.Names(), want.Features)
	}
	var got map[string]prediction.Score
	var err error
	if target := train.Column(want.Column); !target.Coded() {
		got, err = tr.ScoreNumbers(t.Context(), learn.LeastSquares{}, prediction.NumberScores(), nil, run)
	} else {
		logistic := learn.Logistic{C: 1, Penalty: learn.L2}
		got, err = tr.ScoreClasses(t.Context(), logistic, 1, prediction.ClassScores(), nil, run)
		p, failed := tr.Classify(t.Context(), logistic, run)
		if failed != nil {
			t.Fatal(failed)
		}
		got["f1_binary"], got["smallest_margin"] = got["f1"], prediction.Score{Noted: metric.Of(smallestMargin(p.Scores))}
		labels := learn.Labels{Classes: 2}
		for _, v := range target.Codes {
			labels.Y = append(labels.Y, int(v))
		}
		checkCoefficients(t, c, want.Column, encoder.Encode(train), labels, expected)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range expected {
		if name != "coef" && name != "intercept" {
			c.expect(t, want.Column, name, got[name].Value, unmarshal[float64](t, raw))
		}
	}
	return got[want.Metric].Value
}

func smallestMargin(p learn.Matrix) float64 {
	least, row := math.Inf(1), make([]float64, len(p.Cols))
	for i := range p.Rows {
		p.Row(i, row)
		slices.Sort(row)
		least = min(least, row[len(row)-1]-row[len(row)-2])
	}
	return least
}

func checkCoefficients(t *testing.T, c goldenCase, where string, x learn.Matrix, labels learn.Labels,
	expected map[string]json.RawMessage) {
	t.Helper()
	if expected["coef"] == nil {
		return
	}
	s, err := learn.Logistic{C: 1, Penalty: learn.L2}.Fit(t.Context(), x, labels, learn.Run{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	m := s.(interface{ Model() *learn.Linear }).Model()
	if g := gradient(x, labels, m); g > 1e-6 {
		t.Errorf("%s: %s: the gradient at the fit is %v, must vanish", c.ID, where, g)
	}
	want := learn.Linear{Coef: [][]float64{unmarshal[[]float64](t, expected["coef"])},
		Intercept: []float64{unmarshal[float64](t, expected["intercept"])}}
	// The reference is where lbfgs stopped, with gradients up to 4e-3 (its tol of
	// 1e-10 is not reached: the line search ends first). The objective is strongly
	// convex with modulus 1 in the coefficients, so its gradient bounds how far it
	// is from the optimum.
	c.Tol.Abs += gradient(x, labels, &want)
	for j, w := range want.Coef[0] {
		c.expect(t, where, "coef", m.Coef[0][j], w)
	}
	c.expect(t, where, "intercept", m.Intercept[0], want.Intercept[0])
}

// gradient returns the length of the gradient of 0.5 |w|^2 + sum logloss.
func gradient(x learn.Matrix, y learn.Labels, m *learn.Linear) float64 {
	residuals, sum := m.Predict(x), 0.0
	for i, z := range residuals {
		residuals[i] = learn.Sigmoid(z) - float64(y.Y[i])
		sum += residuals[i]
	}
	squares := sum * sum
	for j, c := range x.Dense().Cols {
		g := m.Coef[0][j]
		for i, v := range c {
			g += v * residuals[i]
		}
		squares += g * g
	}
	return math.Sqrt(squares)
}

func binaryFrame(rows [][]int32) *columns.Frame {
	f := &columns.Frame{Rows: len(rows)}
	for j := range rows[0] {
		c := columns.Column{Name: string(rune('a' + j)), Type: domain.Boolean, Categories: []string{"0", "1"}}
		for _, r := range rows {
			c.Codes = append(c.Codes, r[j])
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

func goldenSmall(t *testing.T, c goldenCase) {
	in := unmarshal[struct{ Real, Synth, Test [][]int32 }](t, c.Input)
	real, synth, test := binaryFrame(in.Real), binaryFrame(in.Synth), binaryFrame(in.Test)
	sums := map[string]float64{}
	for j, want := range unmarshal[[]struct{ Real, Synth map[string]json.RawMessage }](t, c.Expected["per_column"]) {
		name := test.Columns[j].Name
		features := slices.DeleteFunc(test.Names(), func(n string) bool { return n == name })
		for i := range features {
			features[i] += "=1"
		}
		col := predictionColumn{Column: name, Features: features}
		scores := [2]map[string]float64{}
		for i, train := range []*columns.Frame{real, synth} {
			expected := [2]map[string]json.RawMessage{want.Real, want.Synth}[i]
			expected["f1_binary"] = expected["f1"]
			goldenTrial(t, c, col, train, test, expected)
			scores[i] = map[string]float64{"f1": unmarshal[float64](t, expected["f1"]), "auroc": unmarshal[float64](t,
				expected["auroc"])}
		}
		for n := range scores[0] {
			sums[n+"_sum_of_squares"] += math.Pow(scores[0][n]-scores[1][n], 2)
		}
		for i, f := range []*columns.Frame{real, synth} {
			which := []string{"probability_real", "probability_synth"}[i]
			c.expect(t, name, which, shareOfOnes(f.Columns[j]), unmarshal[[]float64](t, c.Expected[which])[j])
		}
		sums["probability_sum_of_squares"] += math.Pow(shareOfOnes(real.Columns[j])-shareOfOnes(synth.Columns[j]), 2)
	}
	for name, got := range sums {
		c.expect(t, "summary", name, got, unmarshal[float64](t, c.Expected[name]))
	}
}

func shareOfOnes(c columns.Column) float64 { return codeShare(c, 1) }

func codeShare(c columns.Column, code int32) float64 {
	n := 0.0
	for _, v := range c.Codes {
		if v == code {
			n++
		}
	}
	return n / float64(len(c.Codes))
}

// goldenProbability checks the shares of indicators as the encoder orders them.
func goldenProbability(t *testing.T, c goldenCase) {
	p := unmarshal[struct{ Tables, Columns []string }](t, c.Params)
	names := unmarshal[[]string](t, c.Expected["names"])
	for i, table := range p.Tables {
		f := goldenTable(t, table)
		want := unmarshal[[]float64](t, c.Expected[[]string{"real", "synth"}[i]])
		for k, name := range names {
			column, category, _ := strings.Cut(name, "=")
			col := f.Column(column)
			c.expect(t, table, name, codeShare(*col, int32(slices.Index(col.Categories, category))), want[k])
		}
	}
}
