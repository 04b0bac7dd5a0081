package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/pipeline/relation"
	"weir/runtime/database/sql"
)

// stays is a table of 1,000 rows: c is i % 3, and v i, which is missing where i % 7 = 0.
const stays = "CREATE TABLE t AS SELECT (i % 3)::INTEGER AS c, CASE WHEN i % 7 > 0 THEN i END::INTEGER AS v FROM " +
	"range(1000) r(i); CHECKPOINT;"

func staysColumns() []sql.Stored {
	return []sql.Stored{{Name: "c", Storage: sql.Integer, Of: relation.Code, WholeCodes: map[int64]int32{0: 0, 1: 1,
		2: 2}},
		{Name: "v", Storage: sql.Integer, Of: relation.Whole, MayMiss: true}}
}

func counting(t *testing.T, s *Session, columns []sql.Stored) *Counting {
	t.Helper()
	c, err := s.Counting(columns, -1, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func countingStays(t *testing.T) *Counting {
	t.Helper()
	return counting(t, session(t, Table{Format: Database, Schema: "main", Name: "t"}, makeDatabase(t, "x.duckdb", stays),
		"x.duckdb"), staysColumns())
}

// coded returns the relation of c, and of v held to 10 values and the eleventh for a missing one.
func coded() relation.Relation {
	r := relation.Stored([]string{"c", "v"}, []relation.Type{relation.Code, relation.Whole})
	v := relation.Column{At: 1, Of: relation.Whole, Greatest: 1000}
	return r.With(relation.Layer{Columns: []relation.Named{
		{Name: "c", Expr: relation.Rank{E: relation.Column{Of: relation.Code}, Of: 3}},
		{Name: "v", Expr: relation.Choice{If: relation.IsMissing{E: v}, Then: relation.Constant{Of: relation.Whole, Int: 10},
			Else: relation.Quotient{E: v, By: 100}}}}})
}

func whole(at, of int) relation.Expr {
	return relation.Column{At: at, Of: relation.Whole, Greatest: int64(of - 1)}
}

// TestCountsWhereRowsStay: counts of keys over kept codes, and over codes that are made of these, are the counts of the
// rows; two stages may ask at a time. Expected: of 1,000 numbers 334, 333 and 333 leave 0, 1 and 2 behind a division by
// 3; 143 are multiples of 7, and of each hundred 14 or 15.
func TestCountsWhereRowsStay(t *testing.T) {
	c := countingStays(t)
	var wait sync.WaitGroup
	for range 2 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			checkCounts(t, c)
		}()
	}
	wait.Wait()
}

func checkCounts(t *testing.T, c relation.Session) {
	k, err := c.Keep(t.Context(), coded())
	if err != nil {
		t.Error(err)
		return
	}
	want := [][]int64{{334, 333, 333}, {85, 86, 86, 85, 86, 86, 86, 85, 86, 86, 143}}
	checkKeys(t, k, []relation.Key{{Expr: whole(0, 3), Of: 3}, {Expr: whole(1, 11), Of: 11}}, want)
	again, err := k.Keep(t.Context(),
		[]relation.Named{{Name: "c", Expr: relation.Lookup{E: whole(0, 3), To: []int64{1, 0, 0}}}})
	if err != nil {
		t.Error(err)
		return
	}
	checkKeys(t, again, []relation.Key{{Expr: whole(0, 2), Of: 2}}, [][]int64{{666, 334}})
}

func checkKeys(t *testing.T, k relation.Kept, keys []relation.Key, want [][]int64) {
	i := 0
	err := k.Count(t.Context(), keys, func(key int, counts []int64) error {
		if key != i || !slices.Equal(counts, want[key]) {
			t.Errorf("key %d, the %d-th: %v, must be %v", key, i, counts, want[key])
		}
		i++
		return nil
	})
	if err != nil || i != len(keys) {
		t.Errorf("%d of %d keys: %v", i, len(keys), err)
	}
}

// TestKeyOutsideIsRefused: a value that a key does not have is no count.
func TestKeyOutsideIsRefused(t *testing.T) {
	k, err := countingStays(t).Keep(t.Context(), coded())
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Count(t.Context(), []relation.Key{{Expr: whole(1, 11), Of: 9}},
		func(int, []int64) error { return nil }); err == nil {
		t.Error("values 9 and 10 of a key of 9 are counted")
	}
}

// TestTriedExpressions: public numbers are computed as numbers of rows are.
func TestTriedExpressions(t *testing.T) {
	x := relation.Column{Of: relation.Real}
	got, err := countingStays(t).Try(t.Context(), relation.Real, []float64{0.5, -3, 1e300},
		[]relation.Expr{relation.Bins{E: x, Edges: []float64{0, 0.5, 7}}})
	if err != nil || fmt.Sprint(got) != "[[2 0 3]]" {
		t.Errorf("%v, %v; must be [[2 0 3]]", got, err)
	}
}

// TestContentIsOfTheRows: the content is of the rows in whatever order, and another with a cell that changes, a row
// more and a row twice; faults are told by column and rule.
func TestContentIsOfTheRows(t *testing.T) {
	contents := map[string]string{}
	for name, query := range map[string]string{"rows": "FROM t", "sorted": "FROM t ORDER BY v DESC",
		"less":  "FROM t WHERE c > 0 OR v <> 3",
		"twice": "FROM t UNION ALL (FROM t LIMIT 1)", "changed": "SELECT c, CASE WHEN v = 5 THEN 6 ELSE v END AS v FROM t"} {
		dir := makeDatabase(t, "", strings.Replace(stays, "CHECKPOINT;", "", 1)+"COPY ("+query+
			") TO 'a.parquet' (FORMAT parquet)")
		content, faults, err := counting(t, session(t, Table{Format: Parquet}, dir, "a.parquet"), staysColumns()).Content(
			t.Context())
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		contents[name] = content
	}
	if contents["rows"] != contents["sorted"] || contents["rows"] == contents["less"] ||
		contents["rows"] == contents["twice"] || contents["rows"] == contents["changed"] {
		t.Errorf("contents %v", contents)
	}
	columns := staysColumns()
	columns[1].MayMiss, columns[0].WholeCodes = false, map[int64]int32{0: 0}
	dir := makeDatabase(t, "x.duckdb", stays)
	_, faults, err := counting(t, session(t, Table{Format: Database, Schema: "main", Name: "t"}, dir, "x.duckdb"),
		columns).Content(t.Context())
	if want := []sql.Fault{{Column: "c", Rule: sql.Category}, {Column: "v", Rule: sql.NotMissing}}; err != nil ||
		!slices.Equal(faults, want) {
		t.Errorf("%v, %v; must be %v", faults, err, want)
	}
}

// TestProcessOfCountsEnds: a process that is killed, and a call that is cancelled, end the session with an error,
// whatever is asked then; nothing hangs.
func TestProcessOfCountsEnds(t *testing.T) {
	for name, end := range map[string]func(c *Counting, cancel func()){
		"killed":    func(c *Counting, _ func()) { _ = c.process.cmd.Process.Kill() },
		"cancelled": func(_ *Counting, cancel func()) { cancel() },
	} {
		c := countingStays(t)
		if _, err := c.Keep(t.Context(), coded()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, func() { end(c, cancel) })
		err := c.tell(ctx, "SELECT count(*) FROM range(100000000000) WHERE range % 7 = 3")
		if _, again := c.Keep(t.Context(), coded()); err == nil || again == nil || name == "cancelled" &&
			!errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, and then %v", name, err, again)
		}
		cancel()
	}
}

// TestAnswersThatAreNone: a program that answers otherwise than with whole numbers, with a value twice, with more rows
// than were kept, or with fewer, or ends, is an error that quotes nothing.
func TestAnswersThatAreNone(t *testing.T) {
	for name, answer := range map[string]string{
		"text": `"0","Anna-4711","1000"`, "missing": `"0",,"1000"`, "a fraction": `"0","1.0","1000"`,
		"no key": `"7","0","1000"`, "outside": `"0","3","1000"`,
		"twice": `"0","0","500"\n"0","0","500"`, "more": `"0","0","1001"`, "fewer": `"0","0","999"`,
		"negative": `"0","0","-1"\n"0","1","1001"`, "cells": `"0","0"`, "the end": `end`,
	} {
		script := `while read -r line; do case "$line" in *"SELECT -1, "*) n=${line#*SELECT -1, }; n=${n%%[,)]*};
			case $n in 1) printf '"-1","1"\n';; 2) printf '"0","1000"\n"-1","2"\n';; *) printf '` + answer + `\n"-1","3","0"\n';; esac;; esac; done`
		if answer == "end" {
			script = strings.Replace(script, `printf 'end\n"-1","3","0"\n'`, "exit 0", 1)
		}
		c := counting(t, lying(t, script), staysColumns())
		k, err := c.Keep(t.Context(), coded())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = k.Count(t.Context(), []relation.Key{{Expr: whole(0, 3), Of: 3}}, func(int, []int64) error { return nil })
		if err == nil || strings.Contains(err.Error(), "Anna") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestErrorsOfCountsQuoteNothing: a view that fails at a cell fails with the class alone.
func TestErrorsOfCountsQuoteNothing(t *testing.T) {
	dir := makeDatabase(t, "x.duckdb", "CREATE TABLE t AS SELECT 'Anna-4711' AS v; CREATE VIEW w AS SELECT v::INTEGER "+
		"AS v FROM "+
		"t; CHECKPOINT;")
	s := session(t, Table{Format: Database, Schema: "main", Name: "w"}, dir, "x.duckdb")
	_, _, err := counting(t, s, []sql.Stored{{Name: "v", Storage: sql.Integer, Of: relation.Whole}}).Content(t.Context())
	if err == nil || strings.Contains(err.Error(), "Anna") || !strings.Contains(err.Error(), "Conversion Error") {
		t.Errorf("%v: must name the class and no cell", err)
	}
}

// TestNothingIsLeft: the process has no file of its own, and ends with the session.
func TestNothingIsLeft(t *testing.T) {
	c := countingStays(t)
	if _, err := c.Keep(t.Context(), coded()); err != nil {
		t.Fatal(err)
	}
	pid := c.process.cmd.Process.Pid
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err == nil {
		t.Error("the process lives on")
	}
	if _, err := c.Keep(t.Context(), coded()); err == nil {
		t.Error("a closed session keeps rows")
	}
}
