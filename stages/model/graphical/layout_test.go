package graphical

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
	"weir/schema"
	"weir/train/graphical"
)

// schools returns a table of n made-up rows with functions of one column: years of school, a
// number with a lower limit of its own; degree, of school (missing where that is); whether
// it is a high one, of degree; and the way back from years. Beside them age and pay.
func schools(n int) pipelinetest.Input { return schooling(n, false) }

// lying returns the table with other values of the derived columns in all but each fiftieth
// row, most of them against the rules, and with missing ones where there are none.
func lying(n int) pipelinetest.Input { return schooling(n, true) }

func schooling(n int, lie bool) pipelinetest.Input {
	names := []string{"none", "basic", "high", "college", "doctor"}
	years, degree, more := map[string]schema.Text{"missing": "0"}, map[string]schema.Text{"missing": "missing"},
		map[string]schema.Text{}
	for i, name := range names {
		years[name], degree[name] = schema.Text(fmt.Sprint(4*i+1)), schema.Text([]string{"no", "no", "no", "bachelor",
			"doctor"}[i])
	}
	for _, name := range []string{"no", "bachelor", "doctor", "missing"} {
		more[name] = schema.Text([]string{"f", "t"}[len(name)/8])
	}
	d := &domain.Domain{
		Columns: []domain.Column{
			{Name: "years", Type: domain.Integer, Bounds: &[2]float64{0, 20}},
			{Name: "age", Type: domain.Integer, Bounds: &[2]float64{10, 60}},
			{Name: "more", Type: domain.Boolean, Categories: []string{"f", "t"}},
			{Name: "degree", Type: domain.Categorical, Categories: []string{"doctor", "no", "bachelor"}, Nullable: true},
			{Name: "school", Type: domain.Categorical, Categories: names, Nullable: true},
			{Name: "pay", Type: domain.Numeric, Bounds: &[2]float64{0, 1}},
		},
		Constraints: []domain.Constraint{
			{Function: &domain.Function{Of: "degree", Column: "more", Map: more}},
			{Function: &domain.Function{Of: "school", Column: "years", Map: years}},
			{Function: &domain.Function{Of: "school", Column: "degree", Map: degree}},
			{Impossible: map[string]domain.Choice{"school": {"doctor"}, "age": {"..25"}}},
		},
	}
	columns := make([][]any, 6)
	for i := range n {
		k := i * i % 6
		row := []any{4*k + 1, 10 + i*7%50, []string{"f", "f", "f", "t", "f", "f"}[min(k, 5)], nil, nil, float64(i%11) / 11}
		if row[0] = 0; k < 5 {
			row[0], row[3], row[4] = 4*k+1, string(degree[names[k]]), names[k]
		}
		if lie && i%50 > 0 {
			row[0], row[2], row[3] = i%21, []string{"t", "f"}[i%2], []any{nil, "no", "doctor"}[i%3]
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(d, n), Rows: pipelinetest.Rows(d, columns...)}
}

// narrow returns the table without its derived columns, and with the one rule that is left.
func narrow(n int) pipelinetest.Input {
	in := schools(n)
	d := &domain.Domain{Constraints: in.Header.Domain.Constraints[3:]}
	var columns [][]any
	for _, at := range []int{1, 4, 5} {
		d.Columns = append(d.Columns, in.Header.Domain.Columns[at])
		columns = append(columns, nil)
	}
	for i := range n {
		row := []any{10 + i*7%50, nil, float64(i%11) / 11}
		if k := i * i % 6; k < 5 {
			row[1] = d.Columns[1].Categories[k]
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(d, n), Rows: pipelinetest.Rows(d, columns...)}
}

// TestDerivedColumnsCostNothing: nothing is measured of the columns that follow from
// others, and nothing of what is released depends on what the source has in them.
func TestDerivedColumnsCostNothing(t *testing.T) {
	for _, stage := range every() {
		a := attempt{stage: stage, in: schools(600), multiplier: 0.2}
		table, _ := a.run(t)
		m := read(t, table)
		a.in = lying(600)
		if again, _ := a.run(t); fingerprint(t, again) != fingerprint(t, table) {
			t.Errorf("%T: what the source has in derived columns changes the release", stage)
		}
		if len(m.Columns) != 3 {
			t.Errorf("%T: %d columns are measured, must be age, school and pay", stage, len(m.Columns))
		}
		if want := []string{"degree", "more", "years"}; !slices.Equal(m.Derived, want) {
			t.Errorf("%T: derives %v, must derive %v", stage, m.Derived, want)
		}
		if n := broken(t, m.Domain, drawRows(t, m, 2000)); n > 0 {
			t.Errorf("%T: %d rows of 2000 break a rule", stage, n)
		}
	}
}

// TestDerivedColumnsCount, by hand: years has 6 values on the 6 cells of school (missing
// is one), degree 4, more 2 (of 4 of degree). So school stands for 1 + 1 + sqrt(4/6) +
// sqrt(2/6) columns, its histogram has that much more weight against the 51 cells of age,
// and a workload that is written down counts as it is written.
func TestDerivedColumnsCount(t *testing.T) {
	l, place := layoutOf(schools(1).Header.Domain), 2+math.Sqrt(4./6)+math.Sqrt(2./6)
	if got := l.columnsPerCore(); math.Abs(got[1]-place) > 1e-12 || got[0] != 1 || got[2] != 1 {
		t.Errorf("columns stand for %v, must for 1, %g, 1", got, place)
	}
	if _, w := l.pairs(Aim{}); math.Abs(w[0]-place) > 1e-12 || w[1] != 1 || math.Abs(w[2]-place) > 1e-12 {
		t.Errorf("pairs count %v, must those with school %g, the other 1", w, place)
	}
	if list := l.workload(Aim{}); len(list) != 1 || math.Abs(list[0].weight-place) > 1e-12 {
		t.Errorf("triples count %v, must %g", list, place)
	}
	written := Aim{Workload: []Wanted{{Columns: []string{"age", "more"}}}}
	if _, w := l.pairs(written); len(w) != 1 || w[0] != 1 || l.workload(written)[0].weight != 1 {
		t.Errorf("pairs that are written down count %v, must count 1", w)
	}
	m := attempt{stage: independentKind().New(), in: schools(20_000), multiplier: 5}.model(t)
	precision := map[int]float64{} // age is counted twice
	for _, x := range m.Measured {
		precision[x.Columns[0]] += 1 / (x.Sigma * x.Sigma)
	}
	ratio := precision[1] / precision[0]
	if want := math.Pow(place*6/51, 2./3); math.Abs(ratio-want) > 1e-3 {
		t.Errorf("school has %g of the budget of age, must have %g", ratio, want)
	}
}

// TestDerivedColumnsMeanTheirs: as a target and in a workload a derived column is the one
// that it follows from; settings that would have no effect are refused.
func TestDerivedColumnsMeanTheirs(t *testing.T) {
	model := func(target string, pairs ...[]string) string {
		s := marginalTreeKind().New().(*MarginalTree)
		s.Target = target
		for _, p := range pairs {
			s.Workload = append(s.Workload, Wanted{Columns: p})
		}
		table, _ := attempt{stage: s, in: schools(600), multiplier: 0.02}.run(t)
		return fingerprint(t, table)
	}
	if model("more") != model("school") || model("", []string{"more", "age"}) != model("", []string{"school", "age"}) {
		t.Error("a derived column has another meaning than the one that it follows from")
	}
	if model("") == model("school") || model("", []string{"pay", "age"}) == model("", []string{"school", "age"}) {
		t.Error("the test is blind")
	}
	s := marginalTreeKind().New().(*MarginalTree)
	s.Edges, s.Workload = map[string][]float64{"years": {0, 10, 20}},
		[]Wanted{{Columns: []string{"years", "school", "more"}}}
	_, err := s.Plan(headers(schools(10)))
	for _, want := range []string{"edges.years: is given for years, a function of school (constraints[1] of the " +
		"domain), must be left out",
		"workload[0].columns: is years, school, more, all of which follow from school"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
}

// TestPlanTellsDerivedColumns, each with the rule by which.
func TestPlanTellsDerivedColumns(t *testing.T) {
	for _, stage := range every() {
		w, err := stage.Plan(headers(schools(600)))
		must(t, err)
		text := fmt.Sprint(w.Decide(2).Decided)
		for _, want := range []string{"years is not measured it is a function of school, constraints[1]",
			"more is not measured it is a function of degree, constraints[0]"} {
			if !strings.Contains(text, want) {
				t.Errorf("%T: %s, must say %s", stage, text, want)
			}
		}
	}
}

// TestPlannedPartIsSpent: the part for columns on their own is the part of the plan, which goes
// by the columns that are measured. By hand: 1.4 (600 10/3)^(-1/6) is .394, of which select
// leaves .9; with the derived columns d is 6 and the part .44.
func TestPlannedPartIsSpent(t *testing.T) {
	s := marginalTreeKind().New().(*MarginalTree)
	s.Select = 0.1
	a := attempt{stage: s, in: schools(600), multiplier: 0.2}
	w, err := s.Plan(headers(a.in))
	must(t, err)
	if text := fmt.Sprint(w.Decide(a.multiplier).Decided); !strings.Contains(text, "{one_way 0.351 ") {
		t.Errorf("the plan says %s, must say one_way .351", text)
	}
	alone := 0.0 // in squares of sqrt(2) over sigma, of a total of (2/.2)^2
	for _, x := range a.model(t).Measured {
		if len(x.Columns) == 1 {
			alone += 2 / (x.Sigma*x.Sigma - 1./12) / 100
		}
	}
	if math.Abs(alone-0.351) > 1e-9 {
		t.Errorf("columns on their own cost %.6f of the total, must cost .351", alone)
	}
}

// TestScoresOfDerivedColumns: a row has the score of its other columns where it keeps the
// functions, and the lower bound where it does not.
func TestScoresOfDerivedColumns(t *testing.T) {
	a := attempt{stage: marginalTreeKind().New(), in: schools(600), multiplier: 0.2}
	table, _ := a.run(t)
	m := read(t, table)
	m.Domain, m.Derived = m.core, nil
	must(t, m.arrange())
	judge, err := newLikelihood(m, narrow(600).Header.Domain)
	must(t, err)
	whole, part := scored(t, table, schools(600)), judge.scores(600, ofRecord(narrow(600).Rows))
	for i := range whole {
		if whole[i] != part[i] && !(part[i] == 3*leastOfColumn && whole[i] == 6*leastOfColumn) {
			t.Fatalf("row %d scores %g, must score %g as its other columns do", i, whole[i], part[i])
		}
	}
	in, n := lying(600), 0
	for i, x := range scored(t, table, in) {
		if keeps := broken(t, in.Header.Domain, in.Rows.NewSlice(int64(i), int64(i+1))) == 0; !keeps && x != 6*leastOfColumn {
			t.Fatalf("row %d, which breaks a function, scores %g, must score %d", i, x, 6*leastOfColumn)
		} else if keeps && x > 6*leastOfColumn {
			n++
		}
	}
	if n == 0 || !slices.ContainsFunc(whole, func(x float64) bool { return x > -20 }) {
		t.Errorf("%d lying rows score: the test is blind", n)
	}
}

// TestListingOfDerivedColumns: their column of the listing is empty, and the listing is
// read back as what it was made of. A file that counts such a column has it measured.
func TestListingOfDerivedColumns(t *testing.T) {
	in := schools(4000)
	table, _ := attempt{stage: marginalTreeKind().New(), in: in, multiplier: 0.05}.run(t)
	m := read(t, table)
	list := string(m.listing())
	if !strings.HasPrefix(list, "marginal,years,age,more,degree,school,pay,count,") || strings.Contains(list, "bachelor") {
		t.Error("the listing has other columns than the table, or cells of derived ones")
	}
	back, err := fromText(t, in.Header.Domain, list, 4000)
	must(t, err)
	again := read(t, fitted(t, table))
	for _, other := range []*released{back, again} {
		if !slices.Equal(other.Derived, m.Derived) || len(other.Measured) != len(m.Measured) {
			t.Errorf("read back: derives %v from %d marginals", other.Derived, len(other.Measured))
		}
		x, err := m.model.Marginal(graphical.Set{1})
		must(t, err)
		y, err := other.model.Marginal(graphical.Set{1})
		must(t, err)
		single, codes := m.Columns[1].codeOf(), other.Columns[1].codeOf()
		for cell := range single {
			if math.Abs(x[single[cell]]-y[codes[cell]]) > 40 {
				t.Errorf("school %d has %g rows, read back %g", cell, x[single[cell]], y[codes[cell]])
			}
		}
		if n := broken(t, other.Domain, drawRows(t, other, 1000)); n > 0 {
			t.Errorf("%d rows of 1000 break a rule", n)
		}
	}
	for i := range 21 {
		list += fmt.Sprintf("99,%d,,,,,,%d,1,0,0,no\n", i, 4000/21)
	}
	counted, err := fromText(t, in.Header.Domain, list, 4000)
	must(t, err)
	if slices.Contains(counted.Derived, "years") || len(counted.Columns) != 4 {
		t.Errorf("derives %v of %d columns, must measure years, which the file counts", counted.Derived, len(counted.Columns))
	}
	if n := broken(t, counted.Domain, drawRows(t, counted, 1000)); n > 0 {
		t.Errorf("%d rows of 1000 break a rule", n)
	}
}

// TestIntervalsOfDerivedColumns: intervals equal the intervals of the column that they follow from, and copies
// keep the functions.
func TestIntervalsOfDerivedColumns(t *testing.T) {
	m := attempt{stage: marginalTreeKind().New(), in: schools(600), multiplier: 0.2}.model(t)
	s := &Intervals{Marginals: [][]string{{"years", "more"}, {"school"}}}
	if sets := s.sets(m); len(sets) != 1 || !slices.Equal(sets[0], graphical.Set{1}) {
		t.Errorf("marginals %v, must be that of school, once", sets)
	}
	other, err := m.Copy(t.Context(), pipelinetest.Env(1).Rand("copy"), 1)
	must(t, err)
	if n := broken(t, m.Domain, drawRows(t, other.(*released), 1000)); n > 0 {
		t.Errorf("%d rows of a copy break a rule", n)
	}
	for _, names := range [][]string{nil, {"degree"}, {"age"}, {"years", "degree", "more"}} {
		damaged := *m
		damaged.Derived = names
		if err := damaged.check(); err == nil {
			t.Errorf("a model that derives %v of columns of %v is read", names, m.Derived)
		}
	}
}

// TestPublicRows: the number of rows is public in one case; whatever of it is missing, a
// stage may use no count but what it releases (docs/marginals.md section 2, n).
func TestPublicRows(t *testing.T) {
	base := table([]int{2}, []int{0, 1, 1}).Header
	for what, c := range map[string]struct {
		change func(h *pipeline.Header)
		want   float64
	}{
		"public":                  {func(*pipeline.Header) {}, 3},
		"add_remove":              {func(h *pipeline.Header) { h.Terms.Adjacency = privacy.AddRemove }, 0},
		"a person as unit":        {func(h *pipeline.Header) { h.Terms.Unit.Column = "person" }, 0},
		"two rows a unit":         {func(h *pipeline.Header) { h.Stability = pipeline.Rows(2) }, 0},
		"shards":                  {func(h *pipeline.Header) { h.Stability = pipeline.Shards(1) }, 0},
		"rows of others move":     {func(h *pipeline.Header) { h.OwnRows = false }, 0},
		"rows dropped by a value": {func(h *pipeline.Header) { h.Rows = 0 }, 0},
		"none":                    {func(h *pipeline.Header) { h.Rows = -1 }, 0},
	} {
		h := base
		if c.change(&h); publicRows(h) != c.want {
			t.Errorf("%s: %g, must be %g", what, publicRows(h), c.want)
		}
	}
}
