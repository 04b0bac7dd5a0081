package sql

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"weir/internal/enginetest"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
)

// keptTable is kept rows of whole numbers from 0 to each size - 1, and statements that make them in an engine.
type keptTable struct {
	sizes []int
	rows  [][]any
}

func newKept(rng *rand.Rand, sizes ...int) keptTable {
	k := keptTable{sizes: sizes}
	for range 200 {
		row := make([]any, len(sizes))
		for i, n := range sizes {
			row[i] = rng.Int64N(int64(n))
		}
		k.rows = append(k.rows, row)
	}
	return k
}

func (k keptTable) column(i int) relation.Expr {
	return relation.Column{At: i, Of: relation.Whole, Greatest: int64(k.sizes[i] - 1)}
}

// relation returns the kept rows as Select makes them: from stored numbers that are held to their span.
func (k keptTable) relation() relation.Relation {
	var l relation.Layer
	var types []relation.Type
	for i, n := range k.sizes {
		types = append(types, relation.Whole)
		e := relation.Column{At: i, Of: relation.Whole, Least: math.MinInt64, Greatest: math.MaxInt64}
		l.Columns = append(l.Columns, relation.Named{Expr: relation.Clip{E: e, Greatest: float64(n - 1)}})
	}
	return relation.Stored(make([]string, len(types)), types).With(l)
}

// paired returns the number of a combination of columns.
func (k keptTable) paired(columns ...int) relation.Key {
	key := relation.Key{Expr: k.column(columns[0]), Of: k.sizes[columns[0]]}
	for _, i := range columns[1:] {
		key.Expr = relation.Arithmetic{Op: "+", A: k.column(i), B: relation.Arithmetic{Op: "*", A: key.Expr,
			B: relation.Constant{Of: relation.Whole, Int: int64(k.sizes[i])}}}
		key.Of *= k.sizes[i]
	}
	return key
}

// TestEnginesCount: every engine counts the keys of kept rows as the interpreter does, jointly or on their own:
// one-way, pairs, triples, recoded, looked up by pairs, and all rows.
func TestEnginesCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	k := newKept(rng, 7, 2, 13, 60000, 300, 5, 1)
	all := relation.Key{Expr: relation.Constant{Of: relation.Whole}, Of: 1}
	recoded := relation.Key{Expr: relation.Lookup{E: k.column(4), To: newDrawn(1).list(300)}, Of: 1 << 41}
	for i := range recoded.Expr.(relation.Lookup).To {
		recoded.Expr.(relation.Lookup).To[i] = int64(i * 7 % 11)
	}
	moved := relation.Key{Expr: relation.Lookup{E: k.paired(0, 1).Expr, To: []int64{0, 1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 9,
		9}}, Of: 10}
	keys := []relation.Key{all, k.paired(3), recoded, moved, k.paired(2, 5, 0), k.paired(3, 4)}
	for i := range k.sizes {
		for j := range i {
			keys = append(keys, k.paired(i, j))
		}
	}
	for _, e := range engines(t) {
		base, err := e.Select(enginetest.Base(e, k.relation(), k.rows), k.relation())
		if err != nil {
			t.Fatal(err)
		}
		list, err := e.Count("kept", keys)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, row := range e.overKept(t, base, list...) {
			if _, twice := got[row[0]+" "+row[1]]; twice {
				t.Errorf("%s: value %s of key %s is counted twice", e.Name(), row[1], row[0])
			}
			got[row[0]+" "+row[1]] = row[2]
		}
		compareCounts(t, e.Name(), got, k.counts(keys))
	}
}

// counts counts keys one row at a time.
func (k keptTable) counts(keys []relation.Key) map[string]int {
	counts := map[string]int{}
	for i, key := range keys {
		for _, row := range k.rows {
			counts[fmt.Sprint(i, " ", pipelinetest.Interpret(key.Expr, row...))]++
		}
	}
	return counts
}

func compareCounts(t *testing.T, engine string, got map[string]string, want map[string]int) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d counts, must be %d", engine, len(got), len(want))
	}
	for of, n := range want {
		if got[of] != strconv.Itoa(n) {
			t.Errorf("%s: key and value %s: %s rows, must be %d", engine, of, got[of], n)
		}
	}
}

// TestGroups: all pairs of 23 columns of 13 codes are counted in some 40 joint counts of at most 28,561 combinations,
// each pair once; a key of more combinations than the limit is counted on its own, and DuckDB counts every key so.
func TestGroups(t *testing.T) {
	sizes := make([]int, 23)
	for i := range sizes {
		sizes[i] = 13
	}
	k := keptTable{sizes: append(sizes, 60000)}
	var keys []relation.Key
	for i := range 23 {
		for j := range i {
			keys = append(keys, k.paired(i, j))
		}
	}
	keys = append(keys, k.paired(23))
	groups, seen := Postgres().groups(keys), map[int]bool{}
	for _, g := range groups {
		size := 1.0
		for _, one := range g.leaves {
			size *= one.size
		}
		if size > 1<<15 && len(g.keys) > 1 {
			t.Errorf("%d keys are counted by %v combinations", len(g.keys), size)
		}
		for _, i := range g.keys {
			seen[i] = true
		}
	}
	if len(groups) > 60 || len(seen) != len(keys) {
		t.Errorf("%d groups count %d keys, must be at most 60 and %d", len(groups), len(seen), len(keys))
	}
	if n := len(DuckDB().groups(keys)); n != len(keys) {
		t.Errorf("DuckDB counts %d groups", n)
	}
}

// TestEnginesKeepFromKept: columns that are computed from kept rows are the columns that the interpreter computes.
func TestEnginesKeepFromKept(t *testing.T) {
	k := newKept(rand.New(rand.NewPCG(4, 4)), 300, 40000)
	columns := []relation.Named{{Name: "a", Expr: relation.Lookup{E: k.column(0), To: newDrawn(2).list(300)}},
		{Name: "b", Expr: relation.Quotient{E: k.column(1), By: 7}}, {Name: "c", Expr: k.column(1)}}
	for _, e := range engines(t) {
		base, err := e.Select(enginetest.Base(e, k.relation(), k.rows), k.relation())
		if err != nil {
			t.Fatal(err)
		}
		again, err := e.Over("kept", columns)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, row := range e.overKept(t, base, again) {
			got[fmt.Sprint(row)]++
		}
		for _, row := range k.rows {
			var want []any
			for _, c := range columns {
				want = append(want, pipelinetest.Interpret(c.Expr, row...))
			}
			if got[fmt.Sprint(want)] == 0 {
				t.Errorf("%s: no row %v", e.Name(), want)
			}
			got[fmt.Sprint(want)]--
		}
	}
}

// TestEnginesTry: expressions are computed of public numbers as of rows; a flag is a whole number.
func TestEnginesTry(t *testing.T) {
	x := relation.Stored([]string{"x"}, []relation.Type{relation.Real}).Columns()[0]
	list := []relation.Expr{
		relation.Truncate{E: relation.Floor{E: relation.Arithmetic{Op: "*", A: relation.Clip{E: x, Least: -3, Greatest: 3},
			B: relation.Constant{Of: relation.Real, Float: 1e-5}}}},
		relation.Compare{Op: "<=", A: x, B: relation.Constant{Of: relation.Real, Float: 0.1}},
	}
	for _, e := range engines(t) {
		statement, err := e.Try(relation.Real, realTraps(), list)
		if err != nil {
			t.Fatal(err)
		}
		rows := e.run(t, statement)
		if len(rows) != len(realTraps()) {
			t.Fatalf("%s: %d rows", e.Name(), len(rows))
		}
		for _, row := range rows {
			pos, err := strconv.Atoi(row[0])
			if err != nil {
				t.Fatal(err)
			}
			for i, expression := range list {
				if want := pipelinetest.Interpret(expression, realTraps()[pos]); row[1+i] != fmt.Sprint(want) {
					t.Errorf("%s: expression %d of %v is %s, must be %v", e.Name(), i, realTraps()[pos], row[1+i], want)
				}
			}
		}
		if statement, err = e.Try(relation.Whole, []float64{-0x1p63, 7},
			[]relation.Expr{relation.Column{Of: relation.Whole}}); err != nil {
			t.Fatal(err)
		}
		if rows := e.run(t, statement); fmt.Sprint(rows) != "[[0 -9223372036854775808] [1 7]]" {
			t.Errorf("%s: whole numbers come as %v", e.Name(), rows)
		}
	}
}
