package columns

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
	"weir/privacy"
)

// liar is a database whose answers are not true of its rows.
type liar struct {
	relation.Session
	tried  func(cells []int64)             // may change what it says of public numbers
	counts func(call, key int, of []int64) // may change what it counts
	calls  *int                            // of Count
	keeps  *int                            // of Keep of kept rows
}

func (l liar) Keep(ctx context.Context, r relation.Relation) (relation.Kept, error) {
	kept, err := l.Session.Keep(ctx, r)
	return liarsRows{kept, l}, err
}

func (l liar) Try(ctx context.Context, of relation.Type, values []float64, list []relation.Expr) ([][]int64, error) {
	got, err := l.Session.Try(ctx, of, values, list)
	if l.tried != nil {
		l.tried(got[len(got)-1])
	}
	return got, err
}

type liarsRows struct {
	relation.Kept
	liar
}

func (l liarsRows) Keep(ctx context.Context, columns []relation.Named) (relation.Kept, error) {
	*l.keeps++
	kept, err := l.Kept.Keep(ctx, columns)
	return liarsRows{kept, l.liar}, err
}

func (l liarsRows) Count(ctx context.Context, keys []relation.Key, use func(int, []int64) error) error {
	*l.calls++
	return l.Kept.Count(ctx, keys, func(key int, counts []int64) error {
		if l.counts != nil {
			l.counts(*l.calls, key, counts)
		}
		return use(key, counts)
	})
}

// lying returns a table of which a liar says less than the truth.
func lying(t pipeline.Table, l liar) pipeline.Table {
	t = pipelinetest.Stays(t)
	l.Session, l.calls = t.Pushed.Session, new(int)
	if l.keeps == nil {
		l.keeps = new(int)
	}
	t.Pushed = &pipeline.Pushed{Relation: t.Pushed.Relation, Session: l}
	return t
}

// more adds a row to the first cell of a key in a call of Count.
func more(call, key int) func(int, int, []int64) {
	return func(c, k int, of []int64) {
		if c == call && k == key {
			of[0]++
		}
	}
}

// TestPushedRefusesBeforeItCounts: a database that computes a border's cell otherwise, columns of different sizes, a
// missing value that the domain does not declare, and another number of rows than the public one end in an error before
// anything can be paid for.
func TestPushedRefusesBeforeItCounts(t *testing.T) {
	honest := stays(rand.New(rand.NewPCG(3, 5)), 60)
	public := honest
	public.Header.Stability, public.Header.OwnRows, public.Header.Terms.Adjacency = pipeline.Rows(1), true,
		privacy.ReplaceOne
	public.Header.Rows = 59
	strict := honest.Header
	strict.Domain = strict.Domain.Clone()
	strict.Domain.Columns[0].Nullable = false
	missing := pipelinetest.Stays(honest)
	missing.Header = strict
	for want, table := range map[string]pipeline.Table{
		"column cost: this database computes the cells": lying(honest,
			liar{tried: func(cells []int64) { cells[len(cells)/2] ^= 1 }}),
		"counted different numbers of rows for columns":                    lying(honest, liar{counts: more(1, 1)}),
		"rows_public is not the number of rows":                            pipelinetest.Stays(public),
		"column cost: holds missing values, must hold none or be nullable": missing,
	} {
		_, err := CounterOf(t.Context(), table, gridsOf(t, table.Domain), 0, pipelinetest.Env(1))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must be %s", err, want)
		}
	}
}

// TestPushedHoldsRoundsToTheFirst: points of cells and sets of codes whose sums are others than in the first
// round are a table that has changed.
func TestPushedHoldsRoundsToTheFirst(t *testing.T) {
	honest := stays(rand.New(rand.NewPCG(3, 5)), 60)
	grids := gridsOf(t, honest.Domain)
	nothing := func(int, []int64) error { return nil }
	for name, ask := range map[string]func(Counter) error{
		"points": func(c Counter) error { _, err := c.Points(t.Context(), 0, []int{5, 3}); return err },
		"sets":   func(c Counter) error { c.Recode(coarse(grids)); return c.Count(t.Context(), [][]int{{0, 1}}, nothing) },
	} {
		for lies, wrong := range map[string]func(int, int, []int64){"none": nil, "a row more": more(2, 0)} {
			c, err := CounterOf(t.Context(), lying(honest, liar{counts: wrong}), grids, 0, pipelinetest.Env(1))
			if err != nil {
				t.Fatal(err)
			}
			if err := ask(c); errors.Is(err, pipeline.ErrChanged) != (wrong != nil) || wrong == nil && err != nil {
				t.Errorf("%s, %s: error %v", name, lies, err)
			}
		}
	}
}

// TestPushedKeepsCodesOnce: the codes of all rows are computed for the first count and used by all.
func TestPushedKeepsCodesOnce(t *testing.T) {
	table := stays(rand.New(rand.NewPCG(3, 5)), 60)
	grids := gridsOf(t, table.Domain)
	keep := 0
	c, err := CounterOf(t.Context(), lying(table, liar{keeps: &keep}), grids, 0, pipelinetest.Env(1))
	if err != nil {
		t.Fatal(err)
	}
	c.Recode(coarse(grids))
	for range 2 {
		if err := c.Count(t.Context(), [][]int{{0}}, func(int, []int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if keep != 1 {
		t.Errorf("codes were computed %d times, must be once", keep)
	}
}

// TestPushedMovesCodesOfManyRules: columns that several rules tie, whose combinations are too many to be counted
// together, are counted as rows that are held are: two groups of 50 times 50 codes in one set, one of 20 times 500,
// which the database does not look up, and one that it has to, since 20 times 500 times 450 cells are none that are
// counted.
func TestPushedMovesCodesOfManyRules(t *testing.T) {
	for _, sizes := range [][]int{{50, 50, 50, 50}, {20, 500, 3, 3}, {20, 500, 450, 3}} {
		table, coding := tiedCodes(rand.New(rand.NewPCG(2, 7)), sizes, 3000)
		grids := gridsOf(t, table.Domain)
		var counts [2][][]int64
		for i, of := range []pipeline.Table{table, pipelinetest.Stays(table)} {
			c, err := CounterOf(t.Context(), of, grids, 0, pipelinetest.Env(1))
			if err != nil {
				t.Fatal(err)
			}
			c.Recode(coding)
			err = c.Count(t.Context(), [][]int{{0, 2}, {1}, {3, 1}}, func(_ int, of []int64) error {
				counts[i] = append(counts[i], slices.Clone(of))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(counts[0], counts[1]) {
			t.Errorf("codes of sizes %v: rows that stay are counted otherwise than those that are held", sizes)
		}
	}
}

// tiedCodes returns a table of columns of so many categories, of which the first may not be above the second, nor the
// third above the fourth: half of the rows break the rules.
func tiedCodes(r *rand.Rand, sizes []int, rows int) (pipeline.Table, Coding) {
	d := &domain.Domain{}
	c := Coding{Sizes: sizes}
	var values [][]any
	for j, size := range sizes {
		column := domain.Column{Name: fmt.Sprintf("c%d", j), Type: domain.Ordinal}
		var dst []uint16
		for code := range size {
			column.Categories, dst = append(column.Categories, fmt.Sprintf("v%d", code)), append(dst, uint16(code))
		}
		d.Columns, c.To = append(d.Columns, column), append(c.To, dst)
		values = append(values, nil)
		for range rows {
			values[j] = append(values[j], column.Categories[r.IntN(size)])
		}
	}
	for j := 0; j < len(sizes); j += 2 {
		m := Mask{Vars: []int{j, j + 1}}
		for at := range sizes[j] * sizes[j+1] {
			m.Forbidden = append(m.Forbidden, at/sizes[j+1] > at%sizes[j+1])
		}
		c.Forbidden = append(c.Forbidden, m)
	}
	return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), pipelinetest.Rows(d, values...)), c
}
