package question

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// ReleasedRegression is the artifact of a regression; its JSON is canonical: fields in this order,
// numbers as short as they can be read back. Coefficients belong to plain columns: of
// a number by its own unit, of a category against the first one. The law of all of them is
// normal with Covariance.
type ReleasedRegression struct {
	Stage        string        `json:"-"`
	Format       int           `json:"format"`
	Queries      int           `json:"queries"` // the budget was for so many such stages, of which this is one
	Steps        int           `json:"steps"`
	Model        Regression    `json:"model"`
	Coefficients []Coefficient `json:"coefficients"`
	Covariance   [][]float64   `json:"covariance"`
}

// Coefficient has the standard deviation of its law, that without the noise of privacy, and
// the interval that holds 95 % of it.
type Coefficient struct {
	term
	Estimate float64 `json:"estimate"`
	SE       float64 `json:"se"`
	Silent   float64 `json:"se_without_noise"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

const (
	coefficientFormat = 1
	// coefficientsCSV and the others name the files, behind the id of the stage and a dot
	coefficientsCSV, coefficientsJSON = "coefficients.csv", "coefficients.json"

	normalTwoSided = 1.959963984540054 // the .975 quantile of the standard normal law
)

// Coefficients returns the coefficients of plain columns, and their covariance.
func (m *Regression) Coefficients(b Belief) (list []Coefficient, covariance [][]float64) {
	d := m.Design()
	b = b.transform(d.toOwnUnits())
	for j, v := range b.mean {
		se := deviation(b.covariance[j][j])
		half := float64(normalTwoSided * se)
		list = append(list, Coefficient{d.terms[j], v, se, deviation(b.silent[j][j]), v - half, v + half})
	}
	return list, b.covariance
}

// deviation returns the root of a variance. One that rounding takes below 0 must not end a run: what
// it is of, and by how much, is up to the rows.
func deviation(variance float64) float64 { return math.Sqrt(math.Max(variance, 0)) }

// RegressionHeader returns the header of the coefficients of a table of header h.
func RegressionHeader(h pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormAnswers, Class: pipeline.Released,
		Terms: h.Terms}
}

// RegressionPort returns the output of a kind that releases coefficients.
func RegressionPort() []pipeline.Port {
	return []pipeline.Port{{Name: "out", Form: pipeline.FormAnswers,
		Doc:   "The coefficients with standard errors and 95 % intervals, as a CSV table and as JSON.",
		Files: []string{coefficientsCSV, coefficientsJSON}}}
}

// Write returns the artifact: a table for people, and all of it for programs.
func (r ReleasedRegression) Write(h pipeline.Header) (pipeline.Table, error) {
	files, err := r.files()
	if err != nil {
		return pipeline.Table{}, err
	}
	return pipeline.WriteFiles(h, files), nil
}

func (r ReleasedRegression) files() ([]pipeline.File, error) {
	r.Format = coefficientFormat
	whole, err := json.Marshal(r)
	return []pipeline.File{{Name: r.Stage + "." + coefficientsCSV, Data: r.csv()},
		{Name: r.Stage + "." + coefficientsJSON, Data: whole}}, err
}

func (r ReleasedRegression) csv() []byte {
	rows := [][]string{{"column", "category", "estimate", "se", "se_without_noise", "low", "high"}}
	for _, c := range r.Coefficients {
		row := []string{c.Column, c.Category}
		if c.Column == "" {
			row[0] = "(intercept)"
		}
		for _, v := range []float64{c.Estimate, c.SE, c.Silent, c.Low, c.High} {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		rows = append(rows, row)
	}
	var dst bytes.Buffer
	if err := csv.NewWriter(&dst).WriteAll(rows); err != nil {
		panic(err) // to memory
	}
	return dst.Bytes()
}

// ReadRegression returns the coefficients of an artifact; false where it holds other answers. It may
// come from anyone, so all of it is judged before it is used: its values, and that it is
// spelled as Write spells it.
func ReadRegression(ctx context.Context, t pipeline.Table) (r ReleasedRegression, is bool, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil || len(files) != 2 || !strings.HasSuffix(files[1].Name, "."+coefficientsJSON) {
		return r, false, err
	}
	name := files[1].Name
	if err = json.Unmarshal(files[1].Data, &r); err == nil {
		err = r.judge()
	}
	if err != nil {
		return ReleasedRegression{}, true, fmt.Errorf("%s: %w", name, err)
	}
	r.Stage = strings.TrimSuffix(name, "."+coefficientsJSON)
	again, err := r.files()
	for i := range again {
		if err == nil && (files[i].Name != again[i].Name || !bytes.Equal(files[i].Data, again[i].Data)) {
			err = fmt.Errorf("%s: is not a file of coefficients, must have the keys and numbers of %s, in their order",
				files[i].Name, name)
		}
	}
	return r, true, err
}

// What a stage can have been told to do.
const (
	mostRegressions = 1000
	mostSteps       = 1_000_000_000
)

// judge holds a regression to what a stage can have released.
func (r ReleasedRegression) judge() error {
	var ps schema.Problems
	if r.Format != coefficientFormat {
		ps.Add("format", fmt.Sprint(r.Format), fmt.Sprint(coefficientFormat))
		return ps.Err()
	}
	if r.Queries < 1 || r.Queries > mostRegressions {
		ps.Add("queries", fmt.Sprint(r.Queries), fmt.Sprintf("from 1 to %d", mostRegressions))
	}
	if r.Steps < 1 || r.Steps > mostSteps {
		ps.Add("steps", fmt.Sprint(r.Steps), fmt.Sprintf("from 1 to %d", mostSteps))
	}
	r.Model.judge(&ps)
	if len(ps) == 0 {
		r.judgeCoefficients(&ps)
	}
	return ps.Err()
}

// judgeCoefficients wants one for each term, and the covariance of all.
func (r ReleasedRegression) judgeCoefficients(ps *schema.Problems) {
	terms := r.Model.Design().terms
	if len(r.Coefficients) != len(terms) || len(r.Covariance) != len(terms) {
		ps.Add("coefficients", fmt.Sprintf("%d, with a covariance of %d rows", len(r.Coefficients), len(r.Covariance)),
			fmt.Sprintf("%d each, one for each term of the model", len(terms)))
		return
	}
	for j, c := range r.Coefficients {
		path := fmt.Sprintf("coefficients[%d]", j)
		if c.Column != terms[j].Column || c.Category != terms[j].Category {
			ps.Add(path, fmt.Sprintf("of column %q, category %q", c.Column, c.Category), fmt.Sprintf("of column %q, category %q",
				terms[j].Column, terms[j].Category))
		}
		if !(c.Low <= c.Estimate && c.Estimate <= c.High) {
			ps.Add(path+".estimate", fmt.Sprintf("%g with low: %g and high: %g", c.Estimate, c.Low, c.High),
				"between low and high")
		}
		if !(c.SE >= 0 && c.Silent >= 0) {
			ps.Add(path+".se", fmt.Sprintf("%g with se_without_noise: %g", c.SE, c.Silent), "at least 0 both")
		}
		if row := r.Covariance[j]; len(row) != len(terms) || deviation(row[j]) != c.SE {
			ps.Add(fmt.Sprintf("covariance[%d]", j), fmt.Sprintf("%d numbers", len(row)),
				fmt.Sprintf("%d, of which the root of its own variance is its se, %g", len(terms), c.SE))
		}
	}
}

// judge holds the facts of a model to what a plan makes.
func (m *Regression) judge(ps *schema.Problems) {
	if m.Kind != Logistic && m.Kind != Poisson {
		ps.Add("model.kind", fmt.Sprintf("%.60q", m.Kind), Logistic+" or "+Poisson)
	}
	if m.Target == "" || m.Target == m.Offset {
		ps.Add("model.target", fmt.Sprintf("%q with offset: %q", m.Target, m.Offset), "a column other than the offset's")
	}
	if !(m.PriorDeviation >= 1e-6 && m.PriorDeviation <= 1000) {
		ps.Add("model.prior_deviation", fmt.Sprint(m.PriorDeviation), "from 1e-06 to 1000")
	}
	if m.Kind == Logistic && (m.Positive == "" || m.Most != 0 || m.MostExpected != 0 || m.Offset != "") {
		ps.Add("model", "a logistic one without positive, or with most, most_expected or offset", "one with positive alone")
	}
	if m.Kind == Poisson && (!(m.Most > 0 && m.Most <= 1e9) || m.Positive != "" && m.Most != 1 ||
		!(m.MostExpected >= LeastExpected*m.Most && m.MostExpected <= MostExpected*m.Most)) {
		ps.Add("model.most", fmt.Sprintf("%g with most_expected: %g", m.Most, m.MostExpected), "above 0 and at most 1e+09, "+
			"1 for events, with an expected number from a millionth to a million times it")
	}
	if m.Offset == "" && (m.Shortest != 0 || m.Longest != 0) || m.Offset != "" &&
		!(m.Shortest > 0 && wideRegression(m.Shortest, m.Longest)) {
		ps.Add("model.offset", fmt.Sprintf("%q from %g to %g", m.Offset, m.Shortest, m.Longest),
			"a column between two numbers above 0, or none")
	}
	m.judgeColumns(ps)
}

// MostTerms keeps a matrix of coefficients to what eigenvalues are found of in seconds.
const MostTerms = 300

func (m *Regression) judgeColumns(ps *schema.Problems) {
	terms, seen := 1, map[string]bool{"": true, m.Target: true, m.Offset: true}
	for i, c := range m.Columns {
		path := fmt.Sprintf("model.columns[%d]", i)
		if seen[c.Name] {
			ps.Add(path+".name", fmt.Sprintf("%q", c.Name), "a column that is not there yet")
		}
		seen[c.Name] = true
		if terms++; len(c.Categories) > 0 {
			terms += len(c.Categories) - 2
		}
		byName := map[string]bool{}
		for k, name := range c.Categories {
			if byName[name] {
				ps.Add(fmt.Sprintf("%s.categories[%d]", path, k), fmt.Sprintf("%q, a second time", name), "each category once")
			}
			byName[name] = true
		}
		if len(c.Categories) > 0 != (c.Bounds == [2]float64{}) || len(c.Categories) == 0 && !wideRegression(c.Bounds[0],
			c.Bounds[1]) {
			ps.Add(path+".bounds", fmt.Sprint(c.Bounds), "two numbers, the lower one below the upper one, or 0 and 0 beside "+
				"categories")
		}
	}
	if len(m.Columns) == 0 || terms > MostTerms {
		ps.Add("model.columns", fmt.Sprintf("%d, of %d coefficients together", len(m.Columns), terms),
			fmt.Sprintf("at least one, of at most %d coefficients", MostTerms))
	}
}

// wideRegression wants bounds whose width is a number that can be divided by.
func wideRegression(low, high float64) bool {
	return low > -1e75 && high < 1e75 && high-low > 1e-75
}

// designCoefficients returns the coefficients of the design that belong to the coefficients of plain columns.
func (d *Design) designCoefficients(list []Coefficient) []float64 {
	theta := make([]float64, len(list))
	for j, c := range list {
		switch t := d.terms[j]; {
		case j == 0:
			theta[0] += c.Estimate
		case t.half > 0:
			theta[j] = float64(c.Estimate * t.half)
			theta[0] += float64(c.Estimate * t.middle)
		default:
			theta[j] = c.Estimate
			theta[0] += float64(c.Estimate * t.centre)
		}
	}
	return theta
}

// Distance returns the mean distance of coefficients, numbers scaled to [-1, 1] by their bounds,
// the intercepts left out.
func (m *Regression) Distance(a, b []Coefficient) float64 {
	d, sum := m.Design(), 0.0
	x, y := d.designCoefficients(a), d.designCoefficients(b)
	for j := range x[1:] {
		sum += math.Abs(x[1+j] - y[1+j])
	}
	return sum / float64(len(x)-1)
}

// Accuracy returns the share of rows whose outcome is the more probable one by coefficients of a
// logistic model; NaN without rows.
func (m *Regression) Accuracy(list []Coefficient, r RegressionRows) float64 {
	theta, x, right := r.designCoefficients(list), make([]float64, len(list)), 0
	for i := range r.n {
		r.row(i, x)
		if (dot(theta, x) > 0) == (r.outcome[i] == 1) {
			right++
		}
	}
	return float64(right) / float64(r.n)
}
