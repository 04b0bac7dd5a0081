package prep

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// people returns a private table of n rows with a class column, under replace_one
// with a public row count.
func people(ids []string, classes []string) pipelinetest.Input {
	columns := []domain.Column{
		{Name: "id", Type: domain.Text}, {Name: "class", Type: domain.Categorical, Categories: []string{"a", "b", "c"}},
	}
	var first, second []any
	for i := range ids {
		first, second = append(first, ids[i]), append(second, classes[i])
	}
	in := table(columns, first, second)
	in.Header.Class, in.Header.Stability, in.Header.OwnRows, in.Header.Rows = pipeline.Private, pipeline.Rows(1), true,
		int64(len(ids))
	in.Header.Terms.Adjacency = privacy.ReplaceOne
	return in
}

func drawTable(rng *rand.Rand, n int) (ids, classes []string) {
	for i := range n {
		ids, classes = append(ids, fmt.Sprint("p", i)), append(classes, string(rune('a'+rng.IntN(3))))
	}
	return ids, classes
}

// members runs a split and lists who is in each part.
func members(t *testing.T, s *Split, in pipelinetest.Input) map[string]map[string]bool {
	t.Helper()
	out, err := pipelinetest.Run(t, s, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(in.Header,
		in.Rows)})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]bool{}
	for name, part := range out {
		r, err := part.Collect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found[name] = map[string]bool{}
		for i := range int(r.NumRows()) {
			found[name][r.Column(0).ValueStr(i)] = true
		}
	}
	return found
}

// only counts what is in a and not in b.
func only(a, b map[string]bool) int {
	n := 0
	for x := range a {
		if !b[x] {
			n++
		}
	}
	return n
}

// TestSplitStabilityHolds: replace one row, in every way: each part changes by no more rows than its
// header says, and some neighbour reaches more than rows(1), so that the check
// would see a bound that is too small.
func TestSplitStabilityHolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, s := range []*Split{{Train: 0.5, Validation: 0.2, Test: 0.3, Stratify: "class"}, {Train: 0.5, Validation: 0.2,
		Test: 0.3}} {
		worst := map[string]int{}
		for range 60 {
			ids, classes := drawTable(rng, 5+rng.IntN(30))
			in := people(ids, classes)
			before := members(t, s, in)
			i := rng.IntN(len(ids))
			ids[i], classes[i] = "someone else", string(rune('a'+rng.IntN(3)))
			current := members(t, s, people(ids, classes))
			o, err := s.Plan(pipeline.Headers{"in": in.Header})
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range parts {
				changed := max(only(before[part], current[part]), only(current[part], before[part]))
				worst[part] = max(worst[part], changed)
				if bound := o.Out[part].Stability; changed > bound.N {
					t.Errorf("%+v: %s changes by %d rows, planned is %v", s, part, changed, bound)
				}
			}
		}
		if s.Stratify != "" && worst["train"] < 2 {
			t.Errorf("no neighbour moved another row (%v): the check cannot fail", worst)
		}
	}
}

// TestUnitsStayTogether: a unit's shard and part depend on that unit alone: take all rows of a unit
// away, and everyone else stays where they were.
func TestUnitsStayTogether(t *testing.T) {
	ids, classes := []string{"x", "y", "x", "z", "y", "x", "w", "v", "u"}, []string{"a", "b", "a", "c", "b", "a", "a", "b",
		"c"}
	unit := func(in pipelinetest.Input) pipelinetest.Input {
		in.Header.Terms = pipeline.Terms{Adjacency: privacy.AddRemove, Unit: pipeline.Unit{Column: "id", MaxRows: 3}}
		in.Header.Stability, in.Header.Rows = pipeline.Rows(3), 0
		in.Header.Domain.Columns[0].OfUnit = true
		return in
	}
	all := unit(people(ids, classes))
	reduced := unit(people([]string{"y", "z", "y", "w", "v", "u"}, []string{"b", "c", "b", "a", "b", "c"}))
	shards, fewer := shardOf(t, all), shardOf(t, reduced)
	for id, s := range fewer {
		if shards[id] != s {
			t.Errorf("unit %s moves from shard %d to %d when x leaves", id, shards[id], s)
		}
	}
	s := &Split{Train: 0.4, Validation: 0.3, Test: 0.3}
	before, now := members(t, s, all), members(t, s, reduced)
	for _, part := range parts {
		if only(now[part], before[part]) > 0 {
			t.Errorf("units move into %s when x leaves", part)
		}
	}
}

// TestRecordingsGoOneWay: rows of one recording go one way, wherever they stand, whatever piece they are; that is
// so whether another recording is there or not.
func TestRecordingsGoOneWay(t *testing.T) {
	s := &Split{Train: 0.5, Test: 0.5, Together: &Together{Column: "id", After: "."}}
	part := map[string]string{}
	for name, in := range members(t, s, people([]string{"1.x", "1.y", "2.y", "2.x", "1.z", "3.y", "whole", "3.x", "whole"},
		slices.Repeat([]string{"a"}, 9))) {
		for id := range in {
			_, owner, marked := strings.Cut(id, ".")
			if !marked {
				owner = id
			}
			if other, met := part[owner]; met && other != name {
				t.Errorf("%s is in %s and %s", owner, other, name)
			}
			part[owner] = name
		}
	}
	if len(part) != 4 {
		t.Fatalf("parts hold %v, must hold 4 recordings", part)
	}
	for name, in := range members(t, s, people([]string{"7.z", "2.x", "9.whole"}, []string{"a", "b", "a"})) {
		for id := range in {
			if _, of, _ := strings.Cut(id, "."); part[of] != name {
				t.Errorf("%s moves from %s to %s when others leave", of, part[of], name)
			}
		}
	}
}

// nameless returns a table of units of which some have no name.
func nameless(adjacency privacy.Adjacency, ids ...any) pipelinetest.Input {
	columns := []domain.Column{{Name: "id", Type: domain.Text, Nullable: true, OfUnit: true},
		{Name: "n", Type: domain.Integer, Nullable: true}}
	in := table(columns, ids, make([]any, len(ids)))
	in.Header.Class, in.Header.Stability, in.Header.OwnRows = pipeline.Private, pipeline.Rows(3), true
	in.Header.Terms = pipeline.Terms{Adjacency: adjacency, Unit: pipeline.Unit{Column: "id", MaxRows: 3}}
	return in
}

// TestRowsWithoutAUnitGoOneWay: under add_remove rows without a unit go one way, and one less of them, each a
// unit of its own to the source, moves nobody.
func TestRowsWithoutAUnitGoOneWay(t *testing.T) {
	all := nameless(privacy.AddRemove, "x", nil, "y", nil, nil, "y", "z")
	fewer := nameless(privacy.AddRemove, "x", "y", nil, nil, "y", "z")
	shards := shardOf(t, all) // fails where rows of the missing unit are in several shards
	for id, s := range shardOf(t, fewer) {
		if shards[id] != s {
			t.Errorf("unit %s moves from shard %d to %d when a row without a unit leaves", id, shards[id], s)
		}
	}
	found := 0
	for _, part := range members(t, &Split{Train: 0.4, Validation: 0.3, Test: 0.3}, all) {
		if part["(null)"] {
			found++
		}
	}
	if found != 1 {
		t.Errorf("rows without a unit are in %d parts, want 1", found)
	}
}

// TestRowsWithoutAUnitDrawForThemselves: under replace_one each of them has a draw of its own (30 rows all in one of 3
// shards: below 1e-13), and those that have a name keep theirs.
func TestRowsWithoutAUnitDrawForThemselves(t *testing.T) {
	ids := make([]any, 30, 33)
	out := sharded(t, nameless(privacy.ReplaceOne, append(ids, "x", "y", "x")...))
	all, seen := listed(t, out.Rows.Column(2)), map[float64]bool{}
	for _, s := range all[:30] {
		seen[*s] = true
	}
	if len(seen) < 2 || *all[30] != *all[32] {
		t.Errorf("rows without a unit are in %d shards, those of x in %v and %v", len(seen), *all[30], *all[32])
	}
}

// shardOf lists each unit's shard, and fails where its rows are in several.
func shardOf(t *testing.T, in pipelinetest.Input) map[string]int {
	t.Helper()
	out := sharded(t, in)
	found := map[string]int{}
	for i, s := range listed(t, out.Rows.Column(2)) {
		id := out.Rows.Column(0).ValueStr(i)
		if was, ok := found[id]; ok && was != int(*s) {
			t.Errorf("rows of %s are in the shards %d and %v", id, was, *s)
		}
		found[id] = int(*s)
	}
	return found
}

// TestShardsAreEven: independent draws fill shards evenly: 6,000 rows in 3 shards, each count within
// 6 standard deviations (36.5) of 2,000. False alarms: below 1e-8; the key is fixed.
func TestShardsAreEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	byRow := people(drawTable(rng, 6000))
	byUnit := byRow
	byUnit.Header.Domain = byRow.Header.Domain.Clone()
	byUnit.Header.Domain.Columns[0].OfUnit = true
	byUnit.Header.Terms.Unit = pipeline.Unit{Column: "id", MaxRows: 1}
	for what, in := range map[string]pipelinetest.Input{"rows": byRow, "units": byUnit} {
		counts := [3]int{}
		for _, s := range listed(t, sharded(t, in).Rows.Column(2)) {
			counts[int(*s)]++
		}
		for s, n := range counts {
			if n < 1781 || n > 2219 {
				t.Errorf("%s: shard %d has %d of 6000 rows", what, s, n)
			}
		}
	}
}

// TestImputingStaysInsideShards: imputing inside shards: other values of one row change nothing outside its shard.
func TestImputingStaysInsideShards(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	columns := []domain.Column{{Name: "x", Type: domain.Numeric, Nullable: true}, {Name: "y", Type: domain.Numeric,
		Nullable: true}}
	x, y := make([]any, 200), make([]any, 200)
	for i := range x {
		x[i], y[i] = rng.NormFloat64(), rng.NormFloat64()
		if i%3 == 0 {
			y[i] = nil
		}
	}
	run := func(scope string) pipelinetest.Input {
		in := sharded(t, table(columns, x, y))
		return pipelinetest.After(t, in, &ImputeKNN{Neighbors: 3, Weights: "uniform", Scope: scope, Scale: "none"})
	}
	inside, across := run("shard"), run("table")
	x[100], y[100] = 50.0, 1000.0 // row 100 observes y: it is a donor; now far away
	insideNow, acrossNow := run("shard"), run("table")
	shard := listed(t, inside.Rows.Column(2))
	if n := outside(listed(t, inside.Rows.Column(1)), listed(t, insideNow.Rows.Column(1)), shard); n > 0 {
		t.Errorf("%d values outside the shard of the changed row differ", n)
	}
	if n := outside(listed(t, across.Rows.Column(1)), listed(t, acrossNow.Rows.Column(1)), shard); n == 0 {
		t.Error("with scope table nothing outside the shard differs: the check cannot fail")
	}
}

func outside(before, current, shard []*float64) int {
	n := 0
	for i := range before {
		if *shard[i] != *shard[100] && *before[i] != *current[i] {
			n++
		}
	}
	return n
}
