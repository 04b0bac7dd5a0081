package graphical

import (
	"context"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/train/graphical"
)

// fitted returns what marginals_from makes of a released model.
func fitted(t testing.TB, model pipeline.Table) pipeline.Table {
	t.Helper()
	s := marginalsFromKind().New()
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(2), pipeline.Tables{"model": model})
	must(t, err)
	return out["model"]
}

// TestRefitIsTheModel: the marginals that a model releases are all that it was fitted
// to. Fitting them again gives the same counts of each, with and without rules, where
// rows are public and where they are not. (Sigmas are written and squared, so last bits
// differ.)
func TestRefitIsTheModel(t *testing.T) {
	tree := marginalTreeKind().New().(*MarginalTree)
	tree.MaxModelSize = 1
	for what, a := range map[string]attempt{
		"tree":        {stage: tree, in: ward(400), multiplier: 0.1},
		"rules":       {stage: tree, in: stays(400), multiplier: 0.1},
		"independent": {stage: independentKind().New(), in: private(ward(400)), multiplier: 2},
	} {
		table, _ := a.run(t)
		one, again := read(t, table), read(t, fitted(t, table))
		for _, f := range one.Model.Factors {
			x, err := one.model.Marginal(f.Vars)
			must(t, err)
			y, err := again.model.Marginal(f.Vars)
			must(t, err)
			for k := range x {
				if math.Abs(x[k]-y[k]) > 1e-6 {
					t.Fatalf("%s: columns %v: cell %d has %.9g rows, %.9g when fitted again", what, f.Vars, k, x[k], y[k])
				}
			}
		}
		if len(one.Measured) != len(again.Measured) {
			t.Errorf("%s: %d marginals, must have the %d of the model", what, len(again.Measured), len(one.Measured))
		}
	}
}

// fromText runs marginals_from on a file of text.
func fromText(t testing.TB, d *domain.Domain, text string, rows int64) (*released, error) {
	t.Helper()
	s := marginalsFromKind().New().(*MarginalsFrom)
	s.File, s.Epsilon, s.Unit, s.Noise, s.DeclaredBy, s.Rows = "counts.csv", 1, "a person", "gaussian", "an office", rows
	env := pipelinetest.Env(1)
	env.Files = func(path string, how *pipeline.CSV, dom *domain.Domain) (pipeline.Table, error) {
		if path != s.File || how.Extra != "ignore" {
			t.Errorf("opens %s, extra columns: %s", path, how.Extra)
		}
		return asTable(t, dom, text), nil
	}
	w, err := s.Plan(pipeline.Headers{"like": header(d, 5)})
	must(t, err)
	out, err := w.Run(t.Context(), env, nil)
	if err != nil {
		return nil, err
	}
	return read(t, out["model"]), nil
}

// asTable reads CSV as package runtime/table does, for the columns of a domain.
func asTable(t testing.TB, d *domain.Domain, text string) pipeline.Table {
	t.Helper()
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	must(t, err)
	columns := make([][]any, len(d.Columns))
	for _, line := range lines[1:] {
		for j, c := range d.Columns {
			index := slices.Index(lines[0], c.Name)
			if index < 0 {
				t.Fatalf("the file has no column %s", c.Name)
			}
			columns[j] = append(columns[j], valueOf(t, c, line[index]))
		}
	}
	return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), pipelinetest.Rows(d, columns...))
}

func valueOf(t testing.TB, c domain.Column, text string) any {
	switch {
	case text == "" && c.Nullable:
		return nil
	case c.Type == domain.Text:
		return text
	}
	x, err := strconv.ParseFloat(text, 64)
	must(t, err)
	if c.Type == domain.Integer {
		return int(x)
	}
	return x
}

// clinic returns the domain of hand-made counts.
func clinic() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "age", Type: domain.Integer, Bounds: &[2]float64{1, 6}},
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}, Nullable: true},
	}}
}

// TestFileOfCounts: counts with hardly any noise equal the counts of the model, and values
// inside a bin follow the marginal of single values.
func TestFileOfCounts(t *testing.T) {
	text := `count,age,sex,marginal,sigma,comment
100,1,,1,0.01,
20,2,,1,0.01,
20,3,,1,0.01,
0,4,,1,0.01,
30,5,,1,0.01,
30,6,,1,0.01,
10,"[4, 6]",m,7,0.01,any text
50,"[4, 6]",f,7,0.01,
40,"[1, 3]",f,7,0.01,
100,"[1, 3]",m,7,0.01,
`
	m, err := fromText(t, clinic(), text, 0)
	must(t, err)
	got, err := m.model.Marginal(graphical.Set{0, 1})
	must(t, err)
	for i, want := range []float64{40, 100, 50, 10} {
		if math.Abs(got[i]-want) > 0.5 {
			t.Errorf("cell %d has %.2f rows, must have %g", i, got[i], want)
		}
	}
	if m.Domain.Columns[1].Nullable {
		t.Error("sex may be missing, which no marginal counts")
	}
	ages, rec := make([]int, 7), drawRows(t, m, 2000)
	for i := range 2000 {
		ages[int(number(rec.Column(0), i))]++
	}
	for age, want := range []int{0, 1000, 200, 200, 0, 300, 300} {
		if d := ages[age] - want; d < -5 || d > 5 {
			t.Errorf("age %d is drawn %d times of 2000, must be %d", age, ages[age], want)
		}
	}
}

// TestListingIsReadBack: the listing that a model releases is a file of counts. What is
// fitted to it has the codes of the model and nearly its counts: its trees are
// estimated anew, and its bins not smoothed.
func TestListingIsReadBack(t *testing.T) {
	in := ward(4000)
	table, _ := attempt{stage: marginalTreeKind().New(), in: in, multiplier: 0.05}.run(t)
	m := read(t, table)
	back, err := fromText(t, in.Header.Domain, string(m.listing()), 4000)
	must(t, err)
	for j := range m.Columns {
		values, err := m.model.Marginal(graphical.Set{j})
		must(t, err)
		other, err := back.model.Marginal(graphical.Set{j})
		must(t, err)
		inPairs := slices.ContainsFunc(m.Measured, func(x measured) bool {
			return len(x.Columns) == 2 &&
				slices.Contains(x.Columns, j)
		})
		if !inPairs {
			continue // its bins are found anew
		}
		far := 0.0
		for _, g := range m.Columns[j].groups(m.grids[j]) {
			k := slices.IndexFunc(m.Columns[j].groups(m.grids[j]), func(x group) bool { return x.key() == g.key() })
			l := slices.IndexFunc(back.Columns[j].groups(back.grids[j]), func(x group) bool { return x.key() == g.key() })
			if l < 0 {
				t.Fatalf("column %s: no code has the cells %v", m.Domain.Columns[j].Name, g)
			}
			far += math.Abs(values[k]-other[l]) / 2 / 4000
		}
		if far > 0.02 {
			t.Errorf("column %s: counts differ by a total variation of %.4f", m.Domain.Columns[j].Name, far)
		}
	}
	within(t, back, 500)
}

// TestFilesThatAreRefused: each says where, what was found and what is accepted.
func TestFilesThatAreRefused(t *testing.T) {
	const head, ages = "marginal,age,sex,count,sigma\n", "1,\"[1, 6]\",,100,1\n"
	for text, want := range map[string]string{
		head + ages +
			"2,1,f,5,1\n2,1,m,5,1\n2,2,f,5,1\n": "marginal 2: 3 rows, must be a row for each combination",
		head + ages + "2,1,f,5,1\n2,1,f,5,1\n2,2,m,5,1\n2,1,m,5,1\n": "marginal 2: a cell twice",
		head + ages + "2,,f,5,1\n2,,f,5,1\n":                         "marginal 2: 2 rows, must be",
		head + ages + "2,,f,5,1\n2,,m,5,2\n":                         "marginal 2: sigmas 1 and 2",
		head + ages + "2,,f,5,1\n2,1,m,5,1\n":                        "marginal 2: rows with labels in different columns",
		head + ages + "2,,x,5,1\n":                                   `marginal 2: column sex: is "x", must be a category`,
		head + ages + "2,,\"[\"\"f\"\",1]\",5,1\n":                   "a JSON list of categories",
		head + ages + "2,,\"[\"\"f\"\",\"\"f\"\"]\",5,1\n":           "none twice",
		head + "1,,,5,1\n":                                           "in none",
		head + "1,(missing),,5,1\n":                                  "the column has no missing ones",
		head + "1,\"[1, 6.5]\",,5,1\n": "column age: is \"[1, 6.5]\", must be cells of the " +
			"column's public grid, such as [1, 6]",
		head + "1,\"[1, 6)\",,5,1\n":                    "such as [1, 5]",
		head + "1,\"[6, 1]\",,5,1\n":                    "must be a value, [least, greatest]",
		head + "1,nan,,5,1\n":                           "must be a value",
		head + "1,\"[1, 4]\",,5,1\n1,\"[4, 6]\",,5,1\n": "marginal 1: column age: two of its cells share values",
		head + "1,1,,5,0\n":                             "a count is 5 with sigma 0",
		head + ages:                                     "column sex: is in no marginal",
		head + "1,1,,5,1\n2,,f,5,1\n2,,m,5,1\n":         "column age: no marginal of it holds all",
		head + ages + "2,,f,5,1\n":                      "marginal 2: groups of categories",
		head + "1,1,f,5,1\n1,1,m,5,1\n":                 "has no marginal over all values",
		head + ages + "2,1,f,5,1\n2,1,m,5,1\n":          "column age: its cells do not hold all",
		head + ages + "2,\"[1, 3]\",f,5,1\n2,\"[1, 3]\",m,5,1\n2,\"[4, 6]\",f,5,1\n2,\"[4, 6]\",m,5,1\n" +
			"3,\"[1, 4]\",f,5,1\n3,\"[1, 4]\",m,5,1\n3,\"[5, 6]\",f,5,1\n3,\"[5, 6]\",m,5,1\n": "marginal 3: cells of the " +
			"column age that other marginals",
	} {
		if _, err := fromText(t, clinic(), text, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s%v, must say %q", text, err, want)
		}
	}
}

// TestMarginalsFromKeepsPrivacy: a released model stays released and costs nothing; a
// private one is refused, and under epsilon: inf stays private.
func TestMarginalsFromKeepsPrivacy(t *testing.T) {
	h := modelHeader(ward(40).Header)
	plan := func(h pipeline.Header) (pipeline.Work, error) {
		return marginalsFromKind().New().Plan(pipeline.Headers{"model": h})
	}
	w, err := plan(h)
	must(t, err)
	if w.Out["model"].Class != pipeline.Released || w.Out["marginals"].Class != pipeline.Released || len(w.Spends) > 0 {
		t.Errorf("a released model becomes %s, %s, with %d charges", w.Out["model"].Class, w.Out["marginals"].Class,
			len(w.Spends))
	}
	h.Class = pipeline.Private
	if _, err := plan(h); err == nil || !strings.Contains(err.Error(), "W13") {
		t.Errorf("a private model: %v", err)
	}
	h.Terms.NoPrivacy = true
	if w, err := plan(h); err != nil || w.Out["model"].Class != pipeline.Private ||
		w.Out["marginals"].Class != pipeline.Private {
		t.Errorf("a private model under epsilon: inf: %v, %v", w.Out, err)
	}
}

// TestMarginalsFromTellsEveryProblem at once.
func TestMarginalsFromTellsEveryProblem(t *testing.T) {
	_, err := (&MarginalsFrom{Size: Size{40}, File: "x"}).Plan(pipeline.Headers{"like": header(clinic(), 3)})
	for _, want := range []string{"epsilon: ", "unit: ", "noise: ", "declared_by: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problems do not say %q:\n%v", want, err)
		}
	}
	for what, in := range map[string]pipeline.Headers{"nothing": {}, "both": {"model": modelHeader(ward(4).Header),
		"like": header(clinic(), 3)}} {
		if _, err := marginalsFromKind().New().Plan(in); err == nil || !strings.Contains(err.Error(), "model: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestMostCells: a file of more cells than the model may have is not read to its end.
func TestMostCells(t *testing.T) {
	d := clinic()
	rows := asTable(t, headsFor(d).domain(d), "marginal,age,sex,count,sigma\n1,1,,5,1\n1,2,,5,1\n1,3,,5,1\n")
	if _, err := readTables(context.Background(), rows, d, 2); err == nil || !strings.Contains(err.Error(),
		"more than 2 cells") {
		t.Errorf("three cells where two are most: %v", err)
	}
}

// TestPublishedCellsComeBack: counts of 20 tables of two columns, published with noise of
// standard deviation 3. The mean of cells of 5 rows is off by no more than .5 (the sum
// of 120 deviates of 3 has a standard deviation of .27; the seeds are fixed), where the
// stop at the noise leaves it 1.5 too large. Noise that drowns the cells keeps the stop.
func TestPublishedCellsComeBack(t *testing.T) {
	truth := []float64{700, 5, 300, 5, 120, 5, 5, 450, 5, 260, 5, 140}
	for _, c := range []struct{ sigma, least, most float64 }{{3, -.5, .8}, {60, 35, 60}} {
		off := 0.0
		for seed := range uint64(20) {
			rng := rand.New(rand.NewPCG(seed, 9))
			y := make([]float64, len(truth))
			for k := range y {
				y[k] = truth[k] + math.Round(c.sigma*rng.NormFloat64())
			}
			f := front{rows: 2000, published: true, columns: make([]coded, 2),
				tables: []graphical.Table{{Vars: graphical.Set{0, 1}, Y: y, Var: repeated(c.sigma*c.sigma, len(y))}}}
			tree, err := graphical.NewTree([]int{2, 6}, []graphical.Set{{0, 1}}, graphical.Limits{Clique: 100, Total: 100})
			must(t, err)
			m, _, err := fitPublished(t.Context(), tree, f.rows, f.balanced(), nil, graphical.Options{Workers: 1})
			must(t, err)
			got, err := m.Marginal(graphical.Set{0, 1})
			must(t, err)
			for k, x := range truth {
				if x == 5 {
					off += (got[k] - 5) / 6 / 20
				}
			}
		}
		if off < c.least || off > c.most {
			t.Errorf("sigma %g: cells of 5 rows have %.2f more on average, must be within [%g, %g]", c.sigma, off, c.least,
				c.most)
		}
	}
}

// TestProblemsOfFilesNameLike: the table whose columns cannot be measured is the table of the
// setting like; from is no setting of the kind.
func TestProblemsOfFilesNameLike(t *testing.T) {
	d := clinic()
	d.Columns[0].Bounds = nil
	s := &MarginalsFrom{Size: Size{40}, File: "x", Epsilon: 1, Unit: "a person", Noise: "gaussian",
		DeclaredBy: "an office"}
	_, err := s.Plan(pipeline.Headers{"like": header(d, 3)})
	if err == nil || !strings.Contains(err.Error(), "like: ") || strings.Contains(err.Error(), "from: ") {
		t.Errorf("%v, must name like", err)
	}
}
