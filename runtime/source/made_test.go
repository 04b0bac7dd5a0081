package source

import (
	"context"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline/domain"
)

func madeStay() *domain.Domain {
	return &domain.Domain{
		Columns: []domain.Column{
			{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c", "d"}},
			{Name: "grade", Type: domain.Ordinal, Categories: []string{"1", "2", "3"}, Nullable: true},
			{Name: "ill", Type: domain.Boolean, Categories: []string{"no", "yes"}},
			{Name: "from", Type: domain.Date, Bounds: bounds(18000, 19000)},
			{Name: "to", Type: domain.Date, Bounds: bounds(18000, 19000)},
			{Name: "children", Type: domain.Integer, Bounds: bounds(0, 9), Step: 1},
			{Name: "income", Type: domain.Numeric, Bounds: bounds(0, 1e6), Step: 0.5},
			{Name: "heat", Type: domain.Numeric, Bounds: bounds(-3, 4)},
		},
		Constraints: []domain.Constraint{{Order: []string{"from", "to"}}},
	}
}

// TestMadeRowsAreOfTheDomain: every value lies in the domain and on its lattice, whatever the seed, and nearly every
// row keeps its rules.
func TestMadeRowsAreOfTheDomain(t *testing.T) {
	for seed := range uint64(20) {
		r, _ := collect(t, demoMade, 3000, seed, madeStay())
		src, dest := r.Column(3).(*array.Int64), r.Column(4).(*array.Int64)
		income, heat, kinds, broken := r.Column(6).(*array.Float64), r.Column(7).(*array.Float64), map[int32]bool{}, 0
		for i := range int(r.NumRows()) {
			if x := income.Value(i); x < 0 || x > 1e6 || math.Mod(x, 0.5) != 0 {
				t.Fatalf("seed %d: income is %g, must be a multiple of 0.5 from 0 to 1e6", seed, x)
			}
			if x := heat.Value(i); x < -3 || x > 4 {
				t.Fatalf("seed %d: heat is %g, must lie from -3 to 4", seed, x)
			}
			if d := src.Value(i); d < 18000 || d > 19000 {
				t.Fatalf("seed %d: a day is %d, must lie from 18000 to 19000", seed, d)
			}
			if src.Value(i) > dest.Value(i) {
				broken++
			}
			kinds[r.Column(0).(*array.Int32).Value(i)] = true
		}
		if len(kinds) != 4 || broken > 30 || r.Column(0).NullN() > 0 {
			t.Errorf("seed %d: %d wards and %d of 3,000 rows against the rule, must be 4 and at most 30", seed, len(kinds),
				broken)
		}
	}
}

// TestMadeRowsFollowFromTheSeed: rows are a function of the seed, and columns of their names.
func TestMadeRowsFollowFromTheSeed(t *testing.T) {
	one, _ := collect(t, demoMade, 500, 1, madeStay())
	again, _ := collect(t, demoMade, 500, 1, madeStay())
	other, _ := collect(t, demoMade, 500, 2, madeStay())
	if !array.RecordEqual(one, again) {
		t.Error("rows of one seed differ")
	}
	if array.RecordEqual(one, other) {
		t.Error("rows of two seeds are equal")
	}
}

// TestMadeRowsWithoutPublicValues: what no domain lists is made up too: words, and numbers above 0.
func TestMadeRowsWithoutPublicValues(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "word", Type: domain.Text}, {Name: "size", Type: domain.Numeric},
		{Name: "count", Type: domain.Integer}}}
	r, _ := collect(t, demoMade, 1000, 1, d)
	words := map[string]bool{}
	for i := range int(r.NumRows()) {
		words[r.Column(0).(*array.String).Value(i)] = true
		if x, n := r.Column(1).(*array.Float64).Value(i), r.Column(2).(*array.Int64).Value(i); !(x > 0) || math.IsInf(x, 0) ||
			n < 0 {
			t.Fatalf("row %d: size is %g and count %d, must be above 0 and at least 0", i, x, n)
		}
	}
	if len(words) < 5 || len(words) > madeWords || !words["value 1"] {
		t.Errorf("%d words, must be from 5 to %d, value 1 among them", len(words), madeWords)
	}
	if _, err := openDemoRows(demoMade, 10, 1, nil, ""); err == nil {
		t.Error("without a domain: no error")
	}
	if rows := demoRows(demoMade, 0); rows != madeRows {
		t.Errorf("%d rows, must be %d", rows, madeRows)
	}
	if table, err := openDemoRows(demoMade, 0, 1, madeStay(), ""); err != nil || table.Rows != madeRows {
		t.Errorf("error is %v for the usual number of rows", err)
	} else if _, err := table.Collect(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestMadeRowsAreOfTheirOwnUnits: every row has another unit as long as the column has values, whatever its type, and
// the other columns are those without a unit. With fifty words for 3,000 rows a cap of five rows a unit would leave
// 250.
func TestMadeRowsAreOfTheirOwnUnits(t *testing.T) {
	d := madeStay()
	d.Columns = append(d.Columns, domain.Column{Name: "id", Type: domain.Text}, domain.Column{Name: "no",
		Type: domain.Integer},
		domain.Column{Name: "slot", Type: domain.Integer, Bounds: bounds(1, 500)})
	lookup := func(unit string) arrow.Record {
		table, err := openDemoRows(demoMade, 3000, 4, d, unit)
		if err != nil {
			t.Fatal(err)
		}
		r, err := table.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	plain := lookup("")
	for unit, want := range map[string]int{"id": 3000, "no": 3000, "slot": 500} {
		r, seen := lookup(unit), map[string]bool{}
		pos := r.Schema().FieldIndices(unit)[0]
		for i := range int(r.NumRows()) {
			seen[r.Column(pos).ValueStr(i)] = true
		}
		if len(seen) != want {
			t.Errorf("%s: %d units, must be %d", unit, len(seen), want)
		}
		for i := range r.Columns() {
			if i != pos && !array.Equal(r.Column(i), plain.Column(i)) {
				t.Errorf("%s: column %s is another one", unit, r.ColumnName(i))
			}
		}
	}
}
