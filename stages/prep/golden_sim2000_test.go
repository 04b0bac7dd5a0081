package prep

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/mat"

	"weir/internal/stattest"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestGoldenPipeline: pipeline_sim2000.json, facts about tables/sim2000.csv along
// a preprocessing chain; the steps of the chain are stages of this package.
func TestGoldenPipeline(t *testing.T) {
	eachCase(t, "pipeline_sim2000.json", checks{
		"table_facts": factsCase, "pipeline_knn": knnCase, "glm_poisson": glmCase, "glm_binomial": glmCase,
	})
}

type simSchema struct {
	Columns []struct {
		Name, Type string
		Bounds     *[2]float64
		Categories []string
		Sentinel   *float64 `json:"not_available_value"`
	}
}

// simulated reads the table without bounds; integers stand as numbers, so that
// imputed means stay unrounded.
func simulated(t *testing.T) (pipelinetest.Input, simSchema) {
	var schema simSchema
	stattest.LoadGolden(t, filepath.Join("tables", "sim2000_schema.json"), &schema)
	file, err := os.Open(filepath.Join(stattest.GoldenDir(t), "tables", "sim2000.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var columns []domain.Column
	values := make([][]any, len(schema.Columns))
	for i, c := range schema.Columns {
		col := domain.Column{Name: c.Name, Type: domain.ColumnType(c.Type), Categories: c.Categories, Nullable: true}
		columns = append(columns, col)
		for _, line := range lines[1:] {
			values[i] = append(values[i], cell(t, col, line[i]))
		}
	}
	return table(columns, values...), schema
}

func cell(t *testing.T, c domain.Column, text string) any {
	if text == "" {
		return nil
	}
	if c.Type != domain.Numeric {
		return text
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// preparedTable returns the table after the sentinel is split off and outliers are missing.
func preparedTable(t *testing.T) pipelinetest.Input {
	raw, schema := simulated(t)
	limits, sentinels := map[string]Limits{}, map[string]float64{}
	for _, c := range schema.Columns {
		if c.Bounds != nil {
			limits[c.Name] = Limits{Lower: &c.Bounds[0], Upper: &c.Bounds[1]}
		}
		if c.Sentinel != nil {
			sentinels[c.Name] = *c.Sentinel
		}
	}
	return pipelinetest.After(t, raw, &NotAvailable{Columns: sentinels, Suffix: "_na"}, &Bounds{Outside: "missing",
		Bounds: limits})
}

type facts struct {
	Rows         int64
	Columns      []string
	Missing      map[string]int
	Replaced     map[string]int
	Counts       map[string]map[string]int `json:"category_counts"`
	RawMin       map[string]float64        `json:"raw_min"`
	RawMax       map[string]float64        `json:"raw_max"`
	Complete     *int                      `json:"rows_without_missing"`
	Mean         map[string]float64
	SD           map[string]float64 `json:"sd_ddof1"`
	Median       map[string]float64
	Min, Max     map[string]float64
	NotAvailable *int     `json:"not_available_count"`
	ValueMean    *float64 `json:"value_mean"`
	Available    *float64 `json:"value_mean_where_available"`
	ValueMax     *float64 `json:"value_max"`
}

func factsCase(t *testing.T, c goldenCase) {
	var want facts
	decode(t, c, c.Expected, &want)
	raw, _ := simulated(t)
	clean := preparedTable(t)
	current := raw
	if want.Replaced != nil || want.NotAvailable != nil {
		current = clean
	}
	if want.Columns != nil && (!slices.Equal(want.Columns, current.Header.Domain.Names()) ||
		want.Rows != current.Rows.NumRows()) {
		t.Errorf("%d rows of %v, want %d of %v", current.Rows.NumRows(), current.Header.Domain.Names(), want.Rows,
			want.Columns)
	}
	for name, n := range want.Missing {
		if got := columnNamed(current, name).NullN(); got != n {
			t.Errorf("%s: %d missing, want %d", name, got, n)
		}
	}
	for name, n := range want.Replaced {
		if got := columnNamed(current, name).NullN() - columnNamed(raw, name).NullN(); got != n {
			t.Errorf("%s: %d outliers replaced, want %d", name, got, n)
		}
	}
	for name, counts := range want.Counts {
		checkCounts(t, current, name, counts)
	}
	checkNumbers(t, c, current, want)
	checkSentinel(t, c, current, want)
	if want.Complete != nil && complements(current) != *want.Complete {
		t.Errorf("%d rows without missing, want %d", complements(current), *want.Complete)
	}
}

func columnNamed(in pipelinetest.Input, name string) arrow.Array {
	return in.Rows.Column(in.Header.Domain.Index(name))
}

func checkCounts(t *testing.T, in pipelinetest.Input, name string, want map[string]int) {
	for category, n := range want {
		kept := pipelinetest.After(t, in, &Filter{Keep: fmt.Sprintf("%s == %q", name, category), Missing: "drop"})
		if kept.Rows.NumRows() != int64(n) {
			t.Errorf("%s: %d rows of %s, want %d", name, kept.Rows.NumRows(), category, n)
		}
	}
}

// complements counts the rows without missing values, by a filter.
func complements(in pipelinetest.Input) int {
	n := 0
	for i := range int(in.Rows.NumRows()) {
		whole := true
		for _, c := range in.Rows.Columns() {
			whole = whole && !c.IsNull(i)
		}
		if whole {
			n++
		}
	}
	return n
}

// values returns the present numbers of a column, ascending.
func values(t *testing.T, in pipelinetest.Input, name string) []float64 {
	var list []float64
	for _, v := range listed(t, columnNamed(in, name)) {
		if v != nil {
			list = append(list, *v)
		}
	}
	slices.Sort(list)
	return list
}

func checkNumbers(t *testing.T, c goldenCase, in pipelinetest.Input, want facts) {
	statistics := map[string]struct {
		want map[string]float64
		of   func([]float64) float64
	}{
		"mean": {want.Mean, average}, "sd": {want.SD, deviation}, "median": {want.Median, median},
		"raw_min": {want.RawMin, first}, "raw_max": {want.RawMax, last}, "min": {want.Min, first}, "max": {want.Max, last},
	}
	for what, s := range statistics {
		for name, w := range s.want {
			if got := s.of(values(t, in, name)); !c.Tol.covers(got, w) {
				t.Errorf("%s: %s is %v, want %v", name, what, got, w)
			}
		}
	}
}

func checkSentinel(t *testing.T, c goldenCase, in pipelinetest.Input, want facts) {
	if want.NotAvailable == nil {
		return
	}
	if got := sum(values(t, in, "days_since_na")); int(got) != *want.NotAvailable {
		t.Errorf("%v not available, want %d", got, *want.NotAvailable)
	}
	there := pipelinetest.After(t, in, &Filter{Keep: "not days_since_na", Missing: "error"})
	for what, p := range map[string]struct{ got, want float64 }{
		"mean":             {average(values(t, in, "days_since")), *want.ValueMean},
		"mean where there": {average(values(t, there, "days_since")), *want.Available},
		"max":              {last(values(t, in, "days_since")), *want.ValueMax},
	} {
		if !c.Tol.covers(p.got, p.want) {
			t.Errorf("%s is %v, want %v", what, p.got, p.want)
		}
	}
}

func sum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}
func average(x []float64) float64 { return sum(x) / float64(len(x)) }
func first(x []float64) float64   { return x[0] }
func last(x []float64) float64    { return x[len(x)-1] }
func median(x []float64) float64 {
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}
func deviation(x []float64) float64 {
	m, s := average(x), 0.0
	for _, v := range x {
		s += (v - m) * (v - m)
	}
	return math.Sqrt(s / float64(len(x)-1))
}

func knnCase(t *testing.T, c goldenCase) {
	var p struct {
		Columns   []string
		Neighbors int `json:"n_neighbors"`
		Weights   string
	}
	var want struct {
		Cells int                     `json:"imputed_cells"`
		First map[string][][2]float64 `json:"first_imputed"`
		Mean  map[string]float64      `json:"mean_after"`
		SD    map[string]float64      `json:"sd_after_ddof1"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Expected, &want)
	clean := pipelinetest.After(t, preparedTable(t), &Select{Columns: p.Columns})
	full := pipelinetest.After(t, clean, &ImputeKNN{Neighbors: p.Neighbors, Weights: p.Weights, Scope: "table",
		Scale: "bounds"})
	filled := 0
	for i := range clean.Rows.Columns() {
		filled += clean.Rows.Column(i).NullN() - full.Rows.Column(i).NullN()
	}
	if filled != want.Cells {
		t.Errorf("%d cells imputed, want %d", filled, want.Cells)
	}
	for name, cells := range want.First {
		got := listed(t, columnNamed(full, name))
		for _, cell := range cells {
			if v := got[int(cell[0])]; v == nil || !c.Tol.covers(*v, cell[1]) {
				t.Errorf("%s: row %v is %v, want %v", name, cell[0], show(v), cell[1])
			}
		}
	}
	for name, m := range want.Mean { // tie cells may differ: the file's own slack
		if got := average(values(t, full, name)); !(tolerance{1e-3, 1e-4}).covers(got, m) {
			t.Errorf("%s: mean %v, want %v", name, got, m)
		}
		if got := deviation(values(t, full, name)); !(tolerance{1e-2, 1e-3}).covers(got, want.SD[name]) {
			t.Errorf("%s: standard deviation %v, want %v", name, got, want.SD[name])
		}
	}
}

// glmCase refits the regressions on columns that filter and derive make, by
// Newton's method: the coefficients are right only if rows and columns are.
func glmCase(t *testing.T, c goldenCase) {
	var p struct {
		Rows, Exposure, Target string
		Design                 []string
	}
	var want struct {
		N      int
		Params []float64
		Errors []float64 `json:"std_errors"`
	}
	decode(t, c, c.Params, &p)
	decode(t, c, c.Expected, &want)
	in := preparedTable(t)
	var complete []string
	for _, name := range in.Header.Domain.Names() {
		if regexp.MustCompile(`\b` + name + `\b`).MatchString(p.Rows) {
			complete = append(complete, "not missing("+name+")")
		}
	}
	in = pipelinetest.After(t, in, &Filter{Keep: strings.Join(complete, " and "), Missing: "error"},
		design(p.Design, p.Target, p.Exposure))
	if in.Rows.NumRows() != int64(want.N) {
		t.Fatalf("%d rows, want %d", in.Rows.NumRows(), want.N)
	}
	beta, errors := newton(t, in, len(p.Design), c.Kind == "glm_poisson")
	compare(t, "coefficients", c.Tol, pointers(beta), pointers(want.Params))
	compare(t, "standard errors", c.Tol, pointers(errors), pointers(want.Errors))
}

// design derives the columns x0, x1 .. of the terms, y and offset.
func design(terms []string, target, exposure string) *Derive {
	d := &Derive{}
	add := func(name, formula string) {
		d.Columns = append(d.Columns, Derived{Name: name, Formula: formula, Type: domain.Numeric})
	}
	for i, term := range terms {
		if column, category, ok := strings.Cut(term, "="); ok {
			term = fmt.Sprintf("%s == %q ? 1.0 : 0.0", column, category)
		}
		add(fmt.Sprint("x", i), term)
	}
	if exposure == "" {
		add("y", target+` == "1" ? 1.0 : 0.0`)
		add("exposure", "1.0")
	} else {
		add("y", target)
		add("exposure", exposure)
	}
	return d
}

// newton fits the regression of y on x0 .. by maximum likelihood.
func newton(t *testing.T, in pipelinetest.Input, width int, poisson bool) (beta, errors []float64) {
	x, y, exposure := make([][]*float64, width), listed(t, columnNamed(in, "y")), listed(t, columnNamed(in, "exposure"))
	for j := range x {
		x[j] = listed(t, columnNamed(in, fmt.Sprint("x", j)))
	}
	beta = make([]float64, width)
	var inverse mat.Dense
	for range 30 {
		score, information := mat.NewVecDense(width, nil), mat.NewDense(width, width, nil)
		for i := range y {
			eta := 0.0
			for j := range x {
				eta += beta[j] * *x[j][i]
			}
			mu := *exposure[i] * math.Exp(eta)
			weight := mu
			if !poisson {
				mu = 1 / (1 + math.Exp(-eta))
				weight = mu * (1 - mu)
			}
			for j := range x {
				score.SetVec(j, score.AtVec(j)+*x[j][i]*(*y[i]-mu))
				for k := range x {
					information.Set(j, k, information.At(j, k)+*x[j][i]**x[k][i]*weight)
				}
			}
		}
		if err := inverse.Inverse(information); err != nil {
			t.Fatal(err)
		}
		var step mat.VecDense
		step.MulVec(&inverse, score)
		for j := range beta {
			beta[j] += step.AtVec(j)
		}
	}
	for j := range beta {
		errors = append(errors, math.Sqrt(inverse.At(j, j)))
	}
	return beta, errors
}
