package sql

import (
	"flag"
	"os"
	"strings"
	"testing"

	"weir/pipeline/relation"
)

// update writes the statements of testdata anew: go test ./runtime/database/sql -run Golden -update.
var update = flag.Bool("update", false, "write testdata anew")

// goldenRelation returns a filter, a clipped number in cells of a line without steps, and a category recoded.
func goldenRelation() relation.Relation {
	r := relation.Stored([]string{"income", "region"}, []relation.Type{relation.Real, relation.Code})
	in := r.Columns()
	real := func(x float64) relation.Expr { return relation.Constant{Of: relation.Real, Float: x} }
	r = r.With(relation.Layer{Where: relation.Compare{Op: ">", A: in[0], B: real(0)},
		Columns: []relation.Named{{Name: "income", Expr: in[0]}, {Name: "region", Expr: in[1]}}})
	in = r.Columns()
	place := relation.Arithmetic{Op: "*", A: relation.Clip{E: in[0], Least: 0, Greatest: 5000}, B: real(0.1)}
	cell := relation.Truncate{E: relation.Clip{E: relation.Floor{E: place}, Least: 0, Greatest: 499}}
	return r.With(relation.Layer{Columns: []relation.Named{
		{Name: "cell", Expr: relation.Choice{If: relation.IsMissing{E: in[0]}, Then: relation.Constant{Of: relation.Whole,
			Int: 500}, Else: cell}},
		{Name: "code", Expr: relation.Lookup{E: relation.Rank{E: in[1], Of: 4}, To: []int64{0, 1, 1, 0}}},
	}})
}

// TestStatementsGolden: the text of a relation, of keys on their own and joint, and of public numbers, in each dialect.
func TestStatementsGolden(t *testing.T) {
	r := goldenRelation()
	columns := r.Columns()
	columns[0], columns[1] = relation.Column{At: 0, Of: relation.Whole, Greatest: 500},
		relation.Column{At: 1, Of: relation.Whole, Greatest: 1}
	pair := relation.Arithmetic{Op: "+", A: relation.Arithmetic{Op: "*", A: columns[0],
		B: relation.Constant{Of: relation.Whole, Int: 2}}, B: columns[1]}
	for _, d := range dialects() {
		selected, err := d.Select("SELECT income AS s0, region AS s1 FROM stays", r)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := d.Count("kept", []relation.Key{{Expr: columns[0], Of: 501}, {Expr: pair, Of: 1002}})
		if err != nil {
			t.Fatal(err)
		}
		tried, err := d.Try(relation.Whole, []float64{-1, 2},
			[]relation.Expr{relation.Quotient{E: relation.Clip{E: relation.Column{Of: relation.Whole}, Greatest: 9}, By: 3}})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(append(append([]string{selected}, counts...), tried), "\n\n") + "\n"
		name := "testdata/" + d.Name() + ".sql"
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s: statements differ from %s; what they must compute is held by the tests with Engines in their name",
				d.Name(), name)
		}
	}
}

// TestRefused: what is not computed alike by databases is an error that names the column, and no statement.
func TestRefused(t *testing.T) {
	stored := relation.Stored([]string{"a", "b"}, []relation.Type{relation.Whole, relation.Text})
	in := stored.Columns()
	for want, e := range map[string]relation.Expr{
		"column x: computes + of whole numbers that no stage before it holds to bounds": relation.Arithmetic{Op: "+",
			A: in[0], B: in[0]},
		"column x: is == of text and text, must be an operation that all databases compute alike": relation.Compare{
			Op: "==", A: in[1], B: in[1]},
		"column x: is < of whole and real, must be an operation that all databases compute alike": relation.Compare{
			Op: "<", A: in[0], B: relation.Constant{Of: relation.Real}},
		"column x: has a divisor below 1, must be at least 1": relation.Quotient{E: in[0]},
		"column x: has edges that do not ascend, must ascend": relation.Bins{
			E: relation.AsReal{E: in[0]}, Edges: []float64{2, 1}},
		"column x: has an empty list of values, must hold at least one": relation.Lookup{E: in[0]},
		"column x: has a bound that is not a number, must be a finite one": relation.Clip{E: in[0],
			Least: nan()},
		"column x: has a constant that is not a number, must be a finite one": relation.Constant{Of: relation.Real,
			Float: nan()},
	} {
		for _, d := range dialects() {
			if text, err := d.Select("SELECT 1",
				stored.With(relation.Layer{Columns: []relation.Named{{Name: "x", Expr: e}}})); err == nil || err.Error() != want ||
				text != "" {
				t.Errorf("%s: error %v, must be %s", d.Name(), err, want)
			}
		}
	}
}

func nan() float64 { return realTraps()[0] / realTraps()[0] }
