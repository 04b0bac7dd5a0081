package columns

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/pipeline/relation"
	"weir/privacy"
)

// liar is a database whose answers are others than those of its rows.
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
	public.Header.Stability, public.Header.OwnRows, public.Header.Terms.Adjacency = pipeline.Rows(1), true, privacy.ReplaceOne
	public.Header.Rows = 59
	strict := honest.Header
	strict.Domain = strict.Domain.Clone()
	strict.Domain.Columns[0].Nullable = false
	missing := pipelinetest.Stays(honest)
	missing.Header = strict
	for want, table := range map[string]pipeline.Table{
		"column cost: this database computes the cells":                    lying(honest, liar{tried: func(cells []int64) { cells[len(cells)/2] ^= 1 }}),
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

// TestPushedHoldsRoundsToTheFirst: points of cells and sets of codes whose sums are others than those of the first
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
	keeps := 0
	c, err := CounterOf(t.Context(), lying(table, liar{keeps: &keeps}), grids, 0, pipelinetest.Env(1))
	if err != nil {
		t.Fatal(err)
	}
	c.Recode(coarse(grids))
	for range 2 {
		if err := c.Count(t.Context(), [][]int{{0}}, func(int, []int64) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if keeps != 1 {
		t.Errorf("codes were computed %d times, must be once", keeps)
	}
}
