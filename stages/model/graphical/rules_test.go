package graphical

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/train/graphical"
)

// stays returns a table of n made-up rows under rules of every form, of which one row in eight
// breaks some.
func stays(n int) pipelinetest.Input {
	d := &domain.Domain{
		Columns: []domain.Column{
			{Name: "admission", Type: domain.Date, Bounds: &[2]float64{0, 2999}},
			{Name: "discharge", Type: domain.Date, Bounds: &[2]float64{0, 2999}, Nullable: true},
			{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d"}},
			{Name: "house", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
			{Name: "age", Type: domain.Integer, Bounds: &[2]float64{0, 100}},
			{Name: "group", Type: domain.Ordinal, Categories: []string{"child", "adult", "senior"}},
			{Name: "low", Type: domain.Numeric, Bounds: &[2]float64{0, 1}},
			{Name: "high", Type: domain.Numeric, Bounds: &[2]float64{0, 1}},
		},
		Constraints: []domain.Constraint{
			{Order: []string{"admission", "discharge"}},
			{Order: []string{"low", "high"}},
			{Function: &domain.Function{Of: "ward", Column: "house", Map: map[string]schema.Text{"a": "north", "b": "north",
				"c": "south", "d": "south"}}},
			{Function: &domain.Function{Of: "age", Column: "group", Map: map[string]schema.Text{"..17": "child",
				"18..66": "adult", "67..": "senior"}}},
			{Impossible: map[string]domain.Choice{"ward": {"d"}, "age": {"..13", "31..47", "90.."}}},
		},
	}
	rng := rand.New(rand.NewPCG(9, uint64(n)))
	columns := make([][]any, len(d.Columns))
	for i := range n {
		in, age, k := rng.IntN(2000), rng.IntN(101), rng.IntN(4)
		row := []any{in, in + rng.IntN(1000), string(rune('a' + k)), []string{"north", "south"}[k/2], age,
			[]string{"child", "adult", "senior"}[groupOf(age)], rng.Float64() / 2, .5 + rng.Float64()/2}
		switch {
		case i%8 == 1:
			row[0], row[1], row[3], row[6] = 2999, 0, []string{"south", "north"}[k/2], 0.99
		case i%7 == 2:
			row[1], row[3] = nil, nil
		}
		for j, v := range row {
			columns[j] = append(columns[j], v)
		}
	}
	return pipelinetest.Input{Header: header(d, n), Rows: pipelinetest.Rows(d, columns...)}
}

func groupOf(age int) int {
	switch {
	case age < 18:
		return 0
	case age < 67:
		return 1
	}
	return 2
}

// broken counts the rows that break a rule.
func broken(t *testing.T, d *domain.Domain, rec arrow.Record) (n int) {
	t.Helper()
	rules, ps := domain.ReadRules(d)
	if len(ps) > 0 {
		t.Fatal(ps)
	}
	values := make([]float64, 2)
	for i := range int(rec.NumRows()) {
		for k := range rules {
			r := &rules[k]
			for k, j := range r.Columns {
				values[k] = math.NaN()
				if rec.Column(j).IsValid(i) {
					values[k] = number(rec.Column(j), i)
				}
			}
			if !r.Keeps(values[:len(r.Columns)]) {
				n++
				break
			}
		}
	}
	return n
}

// TestNoRowBreaksARule: none of 10^6 rows of a model (10^5 in an ordinary run), whatever the noise and whichever
// kind it is, though rows of the source do. Without the rules a third of the rows and more
// break one.
func TestNoRowBreaksARule(t *testing.T) {
	in := stays(2000)
	if n := broken(t, in.Header.Domain, in.Rows); n < 200 {
		t.Fatalf("%d rows of the source break a rule: the test is blind", n)
	}
	for _, c := range []struct {
		stage      pipeline.Stage
		multiplier float64
		rows       int
	}{{slim(marginalTreeKind())(), 0.05, 600_000}, {slim(marginalTreeKind())(), 300, 200_000}, {slim(independentKind())(),
		1, 100_000},
		{slim(mstKind())(), 0.05, 50_000}, {slim(aimKind())(), 1, 25_000}, {slim(privBayesKind())(), 0.05, 25_000}} {
		m := attempt{stage: c.stage, in: in, multiplier: c.multiplier}.model(t)
		within(t, m, 1000)
		c.rows /= stattest.Rounds(10, 1)
		next, err := m.Draw(artifact.Drawing{Rows: int64(c.rows), Random: func(string) *rand.Rand {
			return rand.New(rand.NewPCG(1, 2))
		}})
		must(t, err)
		for done := 0; done < c.rows; done += artifact.BatchRows {
			rec, err := next(artifact.BatchRows)
			must(t, err)
			if n := broken(t, m.Domain, rec); n > 0 {
				t.Fatalf("%T at %g: %d rows of %d break a rule", c.stage, c.multiplier, n, rec.NumRows())
			}
		}
	}
	in.Header.Domain = in.Header.Domain.Clone()
	in.Header.Domain.Constraints = nil
	free := attempt{stage: slim(independentKind())(), in: in, multiplier: 1}.model(t)
	if n := broken(t, stays(1).Header.Domain, drawRows(t, free, 1000)); n < 333 {
		t.Errorf("%d of 1000 rows break a rule that the model knows nothing of: the test is blind", n)
	}
}

// TestModelHasStructuralZeros: the codes themselves are allowed, before values are drawn,
// and a pair of functions costs nothing to know.
func TestModelHasStructuralZeros(t *testing.T) {
	m := attempt{stage: slim(marginalTreeKind())(), in: stays(2000), multiplier: 0.05}.model(t)
	table, err := m.model.Marginal(graphical.Set{2, 3})
	must(t, err)
	wards, houses := m.Columns[2].codeOf(), m.Columns[3].codeOf()
	for ward := range 4 {
		wrong := 1 - ward/2
		if x := table[int(wards[ward])*m.Columns[3].codes()+int(houses[wrong])]; x != 0 {
			t.Errorf("ward %d lies in house %d %g times", ward, wrong, x)
		}
	}
	// Bins begin where the rules tell ages apart.
	begins := map[float64]bool{}
	for _, v := range m.Columns[4].values(m.grids[4]) {
		begins[v.Ranges[0].Lo] = true
	}
	for _, age := range []float64{14, 31, 48, 90} {
		if !begins[age] {
			t.Errorf("no bin begins at age %g", age)
		}
	}
}

// TestContradictionsAreRefused before anything is paid for, and so is what no model of the
// size can hold.
func TestContradictionsAreRefused(t *testing.T) {
	h := stays(10).Header
	h.Domain.Constraints = append(h.Domain.Constraints,
		domain.Constraint{Impossible: map[string]domain.Choice{"group": {"child", "adult"}, "ward": {"a", "b", "c", "d"}}},
		domain.Constraint{Impossible: map[string]domain.Choice{"age": {"67.."}, "house": {"north", "south", "missing"}}})
	for _, k := range learning() {
		if _, err := k.New().Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(),
			"no row can keep them all") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	wide := &domain.Domain{}
	var names []string
	for i := range 5 {
		names = append(names, fmt.Sprint("x", i))
		wide.Columns = append(wide.Columns, domain.Column{Name: names[i], Type: domain.Integer, Bounds: &[2]float64{0, 99}})
	}
	wide.Constraints = []domain.Constraint{{Order: names}}
	if _, err := marginalTreeKind().New().Plan(pipeline.Headers{"in": header(wide, 10)}); err == nil ||
		!strings.Contains(err.Error(), "max_model_size") {
		t.Errorf("an order of five columns: %v", err)
	}
}

// TestPublicTotalsAreHeld: two totals that share a column, far from the counts of the
// table, are the totals of the model, and of rows to within what rounding leaves.
func TestPublicTotalsAreHeld(t *testing.T) {
	in := stays(2000)
	in.Header.Domain = in.Header.Domain.Clone()
	in.Header.Domain.Constraints = append(in.Header.Domain.Constraints,
		domain.Constraint{Total: []domain.Cell{
			{Where: map[string]domain.Choice{"ward": {"a", "b"}, "age": {"..29"}}, Count: 100},
			{Where: map[string]domain.Choice{"ward": {"a", "b"}, "age": {"30.."}}, Count: 300},
			{Where: map[string]domain.Choice{"ward": {"c", "d"}, "age": {"0.."}}, Count: 1600}}},
		domain.Constraint{Total: []domain.Cell{{Where: map[string]domain.Choice{"group": {"child"}}, Count: 80},
			{Where: map[string]domain.Choice{"group": {"adult", "senior"}}, Count: 1920}}})
	for _, multiplier := range []float64{0.05, 50} {
		m := attempt{stage: slim(marginalTreeKind())(), in: in, multiplier: multiplier}.model(t)
		ages, err := m.model.Marginal(graphical.Set{2, 4})
		must(t, err)
		young, north := 0.0, 0.0
		wards, bins := m.Columns[2].codeOf(), m.Columns[4].values(m.grids[4])
		for _, ward := range slices.Compact(wards[:2]) { // they may share a code
			for b, v := range bins {
				x := ages[int(ward)*len(bins)+b]
				if north += x; v.Ranges[0].Hi < 30 {
					young += x
				}
			}
		}
		groups, err := m.model.Marginal(graphical.Set{5})
		must(t, err)
		child := groups[m.Columns[5].codeOf()[0]]
		if math.Abs(young-100)+math.Abs(north-400)+math.Abs(child-80) > 1e-2 {
			t.Errorf("at %g: %g young and %g in all in the north, %g children; must be 100, 400 and 80", multiplier, young,
				north, child)
		}
		other, err := m.Copy(context.Background(), rand.New(rand.NewPCG(1, 2)), 1)
		must(t, err)
		groups, err = other.(*released).model.Marginal(graphical.Set{5})
		must(t, err)
		if child = groups[m.Columns[5].codeOf()[0]]; math.Abs(child-80) > 1e-2 {
			t.Errorf("at %g: %g children in a copy, must be 80", multiplier, child)
		}
		rec := drawRows(t, m, 2000)
		if n := broken(t, m.Domain, rec); n > 0 {
			t.Errorf("at %g: %d rows break a rule", multiplier, n)
		}
		rows := 0.0
		for i := range 2000 {
			if number(rec.Column(5), i) == 0 {
				rows++
			}
		}
		if math.Abs(rows-80) > 20 {
			t.Errorf("at %g: %g children of 2000 rows, must be some 80", multiplier, rows)
		}
	}
}
