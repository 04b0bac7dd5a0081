package columns

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/google/go-cmp/cmp"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// stays returns rows in several batches, one of them empty: a number of which two points share a cell, with missing
// values, and two columns of categories.
func stays(rng *rand.Rand, rows int) pipeline.Table {
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "cost", Type: domain.Integer, Bounds: &[2]float64{0, 99_999}, Nullable: true},
		{Name: "ward", Type: domain.Categorical, Categories: []string{"a", "b", "c"}},
		{Name: "sex", Type: domain.Categorical, Categories: []string{"f", "m"}, Nullable: true},
	}}
	values := make([][]any, 3)
	for range rows {
		row := []any{rng.IntN(40), []string{"a", "b", "c"}[rng.IntN(3)], []string{"f", "m"}[rng.IntN(2)]}
		for _, j := range []int{0, 2} {
			if rng.IntN(5) == 0 {
				row[j] = nil
			}
		}
		for j, v := range row {
			values[j] = append(values[j], v)
		}
	}
	all := pipelinetest.Rows(d, values...)
	var records []arrow.Record
	for _, part := range [][2]int{{0, 7}, {7, 7}, {7, rows}} {
		records = append(records, all.NewSlice(int64(part[0]), int64(part[1])))
	}
	return pipeline.FromRecords(pipeline.TableHeader(d, pipeline.Header{}), records...)
}

// coarse makes the costs of stays four codes, and forbids men in ward a.
func coarse(grids []Grid) Coding {
	c := Coding{To: make([][]uint16, 3), Sizes: []int{4, 3, 3}}
	for j, g := range grids {
		for cell := range g.Cells() {
			c.To[j] = append(c.To[j], uint16(cell))
		}
	}
	for cell := range c.To[0] {
		c.To[0][cell] = uint16(min(cell/8, 2))
	}
	c.To[0][grids[0].Values()] = 3
	c.Forbidden = []Mask{{Vars: []int{1, 2}, Forbidden: make([]bool, 9)}}
	c.Forbidden[0].Forbidden[1] = true
	return c
}

// counters returns the ways to count a table.
func counters() map[string]func(context.Context, pipeline.Table, []Grid) (Counter, error) {
	return map[string]func(context.Context, pipeline.Table, []Grid) (Counter, error){
		"held": func(ctx context.Context, t pipeline.Table, g []Grid) (Counter, error) {
			return roundsOf(ctx, t, g, hold(g, 0), pipelinetest.Env(2))
		},
		"passes": func(ctx context.Context, t pipeline.Table, g []Grid) (Counter, error) {
			return roundsOf(ctx, t, g, nil, pipelinetest.Env(2))
		},
		"pushed": func(ctx context.Context, t pipeline.Table, g []Grid) (Counter, error) {
			return CounterOf(ctx, pipelinetest.Stays(t), g, 0, pipelinetest.Env(2))
		},
	}
}

// TestCounters holds every counter to plain loops over the values of the rows: cells, points of cells, and sets of
// codes, where a man in ward a (code 1 of sex, code 0 of ward) counts as the nearest row that is allowed, a woman
// there.
func TestCounters(t *testing.T) {
	table := stays(rand.New(rand.NewPCG(3, 4)), 500)
	grids := gridsOf(t, table.Domain)
	all, err := ReadCodes(t.Context(), table, grids)
	if err != nil {
		t.Fatal(err)
	}
	c := coarse(grids)
	for name, counter := range counters() {
		got, err := counter(t.Context(), table, grids)
		if err != nil {
			t.Fatal(err)
		}
		for j, cells := range all.Columns {
			want := make([]int64, grids[j].Cells())
			for _, cell := range cells {
				want[cell]++
			}
			if !slices.Equal(want, got.Cells(j)) {
				t.Errorf("%s: column %d: other cells", name, j)
			}
		}
		want := make([]int64, 4)
		for i, cell := range all.Columns[0] {
			if at := slices.Index([]int{5, 3}, int(cell)); at >= 0 {
				want[2*at+int(all.Within[0][i])]++
			}
		}
		points, err := got.Points(t.Context(), 0, []int{5, 3})
		if err != nil || !slices.Equal(points, want) || slices.Contains(want, 0) {
			t.Errorf("%s: points %v, must be %v, none of them 0; error %v", name, points, want, err)
		}
		sets := [][]int{{0}, {1, 2}, {0, 1, 2}, {0, 2}}
		expected := byHand(all, c, sets)
		got.Recode(c)
		for range 2 {
			var counts [][]int64
			err = got.Count(t.Context(), sets, func(i int, set []int64) error {
				counts = append(counts, slices.Clone(set))
				return nil
			})
			if d := cmp.Diff(expected, counts); d != "" || err != nil {
				t.Errorf("%s: error %v\n%s", name, err, d)
			}
		}
	}
}

// byHand counts sets by definition.
func byHand(all *Codes, c Coding, sets [][]int) (list [][]int64) {
	for _, set := range sets {
		cells := 1
		for _, j := range set {
			cells *= c.Sizes[j]
		}
		counts := make([]int64, cells)
		for i := range all.Rows {
			row := []int{int(c.To[0][all.Columns[0][i]]), int(c.To[1][all.Columns[1][i]]), int(c.To[2][all.Columns[2][i]])}
			if row[1] == 0 && row[2] == 1 {
				row[2] = 0
			}
			cell := 0
			for _, j := range set {
				cell = cell*c.Sizes[j] + row[j]
			}
			counts[cell]++
		}
		list = append(list, counts)
	}
	return list
}

// TestCountersRefuse: what no histogram can hold, a fault of a row, and a caller who ends are errors.
func TestCountersRefuse(t *testing.T) {
	table := stays(rand.New(rand.NewPCG(3, 5)), 60)
	grids := gridsOf(t, table.Domain)
	for name, counter := range counters() {
		faulty := mixed([][]any{{int64(20), 50., int32(777)}})
		// a database's codes are of its own making
		if _, err := counter(t.Context(), faulty, gridsOf(t, faulty.Domain)); name != "pushed" &&
			(err == nil || err.Error() != "column region: holds a code outside its 3 categories") {
			t.Errorf("%s: error %v of a code outside", name, err)
		}
		got, err := counter(t.Context(), table, grids)
		if err != nil {
			t.Fatal(err)
		}
		c := coarse(grids)
		got.Recode(c)
		if err := got.Count(t.Context(), [][]int{{}}, nil); err == nil || !strings.Contains(err.Error(),
			"must have columns") {
			t.Errorf("%s: error %v of a set of no column", name, err)
		}
		ends := errors.New("the caller ends")
		if err := got.Count(t.Context(), [][]int{{0}, {1}}, func(int, []int64) error { return ends }); !errors.Is(err, ends) {
			t.Errorf("%s: error %v, must be what the caller returned", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := got.Count(ctx, [][]int{{0}}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v of a cancelled count", name, err)
		}
	}
}

// TestRoundsOfTiedColumns: the codes of columns that a rule ties go by each other, so that a row more in a later round
// is seen by the number of rows alone.
func TestRoundsOfTiedColumns(t *testing.T) {
	first, yes := stays(rand.New(rand.NewPCG(3, 5)), 60), stays(rand.New(rand.NewPCG(3, 5)), 61)
	readings := 0
	table := pipeline.Table{Header: first.Header, Open: func(ctx context.Context) pipeline.Batches {
		if readings++; readings == 1 {
			return first.Open(ctx)
		}
		return yes.Open(ctx)
	}}
	grids := gridsOf(t, table.Domain)
	got, err := counters()["passes"](t.Context(), table, grids)
	if err != nil {
		t.Fatal(err)
	}
	got.Recode(coarse(grids))
	err = got.Count(t.Context(), [][]int{{1, 2}}, func(int, []int64) error { return nil })
	if !errors.Is(err, pipeline.ErrChanged) {
		t.Errorf("error %v, must be a changed table", err)
	}
}

// TestTogetherBoundsMemory: sets are counted at a time up to MostCounted cells, at least one.
func TestTogetherBoundsMemory(t *testing.T) {
	sizes := []int{1 << 11, 1 << 11, 1 << 16, 2}
	for _, c := range []struct {
		want int
		sets [][]int
	}{
		{2, [][]int{{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}}, // whose product fits no integer
		{2, [][]int{{0, 1}, {0, 1}, {3}}},
		{3, [][]int{{3}, {0, 1}, {0, 1}, {3}}},
		{4, [][]int{{3}, {3}, {3}, {3}}},
	} {
		if got := inOneRound(sizes, c.sets); got != c.want {
			t.Errorf("%v: %d together, must be %d", c.sets, got, c.want)
		}
	}
}

// TestPassesTellHowFarTheyAre: each pass tells the rows that it has read of a public number, and nothing of a private
// one.
func TestPassesTellHowFarTheyAre(t *testing.T) {
	table := stays(rand.New(rand.NewPCG(3, 6)), 60)
	grids := gridsOf(t, table.Domain)
	public := table.Header
	public.Stability, public.OwnRows, public.Terms.Adjacency = pipeline.Rows(1), true, privacy.ReplaceOne
	for rows, want := range map[int64][][2]int64{0: nil, 60: {{7, 60}, {7, 60}, {60, 60}, {7, 60}, {7, 60}, {60, 60}}} {
		var certain [][2]int64
		env := pipelinetest.Env(1)
		env.Progress = func(done, total int64) { certain = append(certain, [2]int64{done, total}) }
		table.Header = public
		table.Header.Rows = rows
		counter, err := roundsOf(t.Context(), table, grids, nil, env)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := counter.Points(t.Context(), 0, []int{3}); err != nil || !slices.Equal(certain, want) {
			t.Errorf("%d public rows: told %v, must tell %v; error %v", rows, certain, want, err)
		}
		public.Terms.Adjacency = privacy.AddRemove // under which a stated number is not the number of rows
		certain, table.Header = nil, public
		table.Header.Rows = rows
		if _, err := roundsOf(t.Context(), table, grids, nil, env); err != nil || certain != nil {
			t.Errorf("private rows: told %v, error %v", certain, err)
		}
		public.Terms.Adjacency = privacy.ReplaceOne
	}
}
