package prep

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestNothingAtAllIsNoError: a table without a single batch goes through every kind: that a run ends must not
// tell that a private table is empty.
func TestNothingAtAllIsNoError(t *testing.T) {
	for kind, cases := range conformance(t) {
		for _, c := range cases {
			in := pipeline.Tables{}
			for port, i := range c.In {
				in[port] = pipeline.FromRecords(i.Header)
			}
			if len(in) == 0 {
				continue
			}
			out, err := pipelinetest.Run(t, c.Stage(), pipelinetest.Env(1), in)
			if err != nil {
				t.Errorf("%s, %s: %v", kind, c.Name, err)
			}
			for port, o := range out {
				if r, err := pipelinetest.Collect(t.Context(), o); err != nil ||
					o.Form == pipeline.FormTable && r.NumRows() != 0 || o.Schema != nil && !r.Schema().Equal(o.Schema) {
					t.Errorf("%s, %s: output %s has %v, error %v; want no rows", kind, c.Name, port, r, err)
				}
			}
		}
	}
}

// edge returns a private table of values at which formulas have no result.
func edge() pipelinetest.Input {
	in := table([]domain.Column{
		{Name: "x", Type: domain.Numeric},
		{Name: "n", Type: domain.Integer},
		{Name: "grade", Type: domain.Ordinal, Categories: []string{"1", "2", "low"}},
		{Name: "level", Type: domain.Ordinal, Categories: []string{"1", "2", "3"}},
	}, []any{math.MaxFloat64, -math.MaxFloat64, 0.0, 2.5}, []any{0, 1, 2, -3}, []any{"low", "1", "2", "1"},
		[]any{"3", "1", "2", "1"})
	in.Header.Class, in.Header.Stability = pipeline.Private, pipeline.Rows(1)
	return in
}

// TestNoRowEndsADerivation: what a formula gives is decided by its plan: a column that may be missing, or a
// public value in the place of one that there is none of. No row ends a run.
func TestNoRowEndsADerivation(t *testing.T) {
	void, most := (*float64)(nil), pointer(math.MaxFloat64)
	for _, c := range []struct {
		d        Derived
		nullable bool
		want     []*float64
	}{
		{Derived{Formula: "x * 2", Type: domain.Numeric}, false, []*float64{most, pointer(-math.MaxFloat64), pointer(0),
			pointer(5)}},
		{Derived{Formula: "x * 2", Type: domain.Numeric, Bounds: &[2]float64{-1, 9}}, false,
			[]*float64{pointer(9), pointer(-1), pointer(0), pointer(5)}},
		{Derived{Formula: "x * 2 - x * 2", Type: domain.Numeric, Bounds: &[2]float64{3, 4}}, false,
			[]*float64{pointer(3), pointer(3), pointer(3), pointer(3)}},
		{Derived{Formula: "2.5 / x", Type: domain.Numeric}, true, []*float64{pointer(0), pointer(0), void, pointer(1)}},
		{Derived{Formula: "6 % n", Type: domain.Integer}, true, []*float64{void, pointer(0), pointer(0), pointer(0)}},
		{Derived{Formula: "int(grade)", Type: domain.Integer}, true, []*float64{void, pointer(1), pointer(2), pointer(1)}},
		{Derived{Formula: "int(level)", Type: domain.Integer}, false, []*float64{pointer(3), pointer(1), pointer(2),
			pointer(1)}},
		{Derived{Formula: "float(grade)", Type: domain.Numeric}, true, []*float64{void, pointer(1), pointer(2), pointer(1)}},
		{Derived{Formula: "int(round(x)) > 0", Type: domain.Boolean}, false, nil},
		{Derived{Formula: "grade", Type: domain.Categorical, Categories: []string{"2", "1"}}, true,
			[]*float64{void, pointer(1), pointer(0), pointer(1)}},
		{Derived{Formula: "grade", Type: domain.Categorical, Categories: []string{"low", "2", "1"}}, false,
			[]*float64{pointer(0), pointer(2), pointer(1), pointer(2)}},
		{Derived{Formula: `n > 0 ? "up" : "down"`, Type: domain.Categorical, Categories: []string{"down", "up"}}, false,
			[]*float64{pointer(0), pointer(1), pointer(1), pointer(0)}},
		{Derived{Formula: `n > 0 ? "up" : "level"`, Type: domain.Categorical, Categories: []string{"down", "up"}}, true,
			[]*float64{void, pointer(1), pointer(1), void}},
		{Derived{Formula: `grade + "!"`, Type: domain.Categorical, Categories: []string{"1!"}}, true,
			[]*float64{void, pointer(0), void, pointer(0)}},
		{Derived{Formula: `"(" matches grade`, Type: domain.Boolean}, true, []*float64{pointer(0), pointer(0), pointer(0),
			pointer(0)}},
	} {
		c.d.Name = "y"
		out := pipelinetest.After(t, edge(), &Derive{Columns: []Derived{c.d}})
		if got := out.Header.Domain.Column("y").Nullable; got != c.nullable {
			t.Errorf("%s: nullable %t, want %t", c.d.Formula, got, c.nullable)
		}
		if c.want != nil {
			compare(t, c.d.Formula, tolerance{Abs: 1e-12}, listed(t, columnNamed(out, "y")), c.want)
		}
	}
}

// TestNoRowEndsAFilter: a row for which the formula of a filter has no value counts as one in which a
// value is missing.
func TestNoRowEndsAFilter(t *testing.T) {
	for missing, want := range map[string]int64{"drop": 3, "keep": 4} {
		if n := pipelinetest.After(t, edge(), &Filter{Keep: "int(grade) > 0", Missing: missing}).Rows.NumRows(); n != want {
			t.Errorf("missing: %s keeps %d rows, want %d", missing, n, want)
		}
	}
}

// TestNumbersThatAreNoneEndNothing: numbers that no file holds, and that a computation may give, end no run either.
func TestNumbersThatAreNoneEndNothing(t *testing.T) {
	columns := []domain.Column{{Name: "x", Type: domain.Numeric, Nullable: true}, {Name: "y", Type: domain.Numeric,
		Nullable: true}}
	in := table(columns, []any{math.NaN(), math.Inf(1), math.Inf(-1), 2.0}, []any{nil, 1.0, 2.0, 3.0})
	clip := &Bounds{Outside: "clip", Bounds: map[string]Limits{"x": {Lower: pointer(0), Upper: pointer(9)}}}
	compare(t, "clip", tolerance{}, listed(t, columnNamed(pipelinetest.After(t, in, clip), "x")),
		[]*float64{pointer(0), pointer(9), pointer(0), pointer(2)})
	open := &Bounds{Outside: "clip", Bounds: map[string]Limits{"x": {Upper: pointer(9)}}}
	compare(t, "open", tolerance{}, listed(t, columnNamed(pipelinetest.After(t, in, open), "x"))[:1],
		[]*float64{pointer(9)})
	filled := pipelinetest.After(t, in, &ImputeKNN{Neighbors: 1, Weights: "uniform", Scope: "table", Scale: "none"})
	for _, v := range append(listed(t, columnNamed(filled, "x")), listed(t, columnNamed(filled, "y"))...) {
		if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
			t.Errorf("impute_knn leaves %v", v)
		}
	}
}

// TestErrorsArePublic: a table that ends a run may do so where nothing private is told: a public one, or
// one of a run that claims no privacy.
func TestErrorsArePublic(t *testing.T) {
	for name, h := range map[string]pipeline.Header{"public": public(clinicTable()).Header,
		"no privacy": unclaimed(clinicTable().Header)} {
		for _, s := range []pipeline.Stage{&Bounds{Outside: "error"}, &Filter{Keep: "age > 1", Missing: "error"}} {
			if _, err := s.Plan(pipeline.Headers{"in": h}); err != nil {
				t.Errorf("%s, %T: %v", name, s, err)
			}
		}
	}
}

func unclaimed(h pipeline.Header) pipeline.Header {
	h.Terms.NoPrivacy = true
	return h
}

// TestNoRowsEndARun: random rows, odd ones among them, go through every kind that takes the private
// clinic table: errors cannot come from rows.
func TestNoRowsEndARun(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 4))
	for kind, cases := range conformance(t) {
		for _, c := range cases {
			if c.Fails {
				continue
			}
			for range 5 {
				in := pipeline.Tables{}
				for port, i := range c.In {
					in[port] = pipeline.FromRecords(i.Header, odd(rng, i))
				}
				out, err := pipelinetest.Run(t, c.Stage(), pipelinetest.Env(1), in)
				if err != nil {
					t.Errorf("%s, %s: %v", kind, c.Name, err)
				}
				for _, o := range out {
					if _, err := pipelinetest.Collect(t.Context(), o); err != nil {
						t.Errorf("%s, %s: %v", kind, c.Name, err)
					}
				}
			}
		}
	}
}

// odd draws as many rows as in has: extreme numbers, and any code of a column.
func odd(rng *rand.Rand, in pipelinetest.Input) arrow.Record {
	d, n := in.Header.Domain, int(in.Rows.NumRows())
	columns := make([]arrow.Array, len(d.Columns), len(d.Columns)+1)
	extremes := []float64{0, -1, 1, 99999, 1 << 52, -(1 << 52), 0.5, 1e300, -1e300, math.MaxFloat64}
	for i, c := range d.Columns {
		if c.Type == domain.Text {
			columns[i] = in.Rows.Column(i)
			continue
		}
		values, b, width := make([]float64, n), bits(nil), len(c.Categories)
		if c.Encoding != nil {
			width = c.Encoding.Width
		}
		for j := range values {
			switch {
			case c.Nullable && rng.IntN(3) == 0:
				b = b.setMissing(j, n)
			case c.ArrowType().ID() == arrow.INT32:
				values[j] = float64(rng.IntN(width))
			case c.ArrowType().ID() == arrow.INT64:
				values[j] = extremes[rng.IntN(6)]
			default:
				values[j] = extremes[rng.IntN(len(extremes))]
			}
		}
		columns[i] = store(c.ArrowType(), values, b)
	}
	for i := len(columns); i < int(in.Rows.NumCols()); i++ {
		columns = append(columns, in.Rows.Column(i)) // the shards
	}
	return array.NewRecord(in.Header.Schema, columns, int64(n))
}
