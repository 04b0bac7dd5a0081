package pipelinetest

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
)

// spread changes one cell of its table in a way that depends on another row, or
// overwrites a column, and promises what promise says.
type spread struct {
	write   func(values []int64) // of the column visits, or of the person's
	column  int
	promise func(*pipeline.Header)
}

func (s *spread) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Domain = h.Domain.Clone()
	h.Domain.Columns[1].OfUnit = h.Domain.Columns[1].OfUnit && s.column != 1
	s.promise(&h)
	return pipeline.Work{Out: pipeline.Headers{"out": h}, Run: func(ctx context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
		r, err := in["in"].Collect(ctx)
		if err != nil {
			return nil, err
		}
		columns := append([]arrow.Array(nil), r.Columns()...)
		values := append([]int64(nil), columns[s.column].(*array.Int64).Int64Values()...)
		s.write(values)
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(values, nil)
		columns[s.column] = b.NewArray()
		return pipeline.Tables{"out": pipeline.FromRecords(h, newRecord(r, columns))}, nil
	}}, nil
}

// visitsOf is a private table of 12 visits of 6 persons in 3 shards or none.
func visitsOf(shards bool, unit bool) Input {
	d := &domain.Domain{Columns: []domain.Column{{Name: "person", Type: domain.Integer, OfUnit: unit}, {Name: "visits", Type: domain.Integer, Bounds: &[2]float64{0, 1000}}}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Rows(1), OwnRows: true,
		Terms: pipeline.Terms{Adjacency: privacy.AddRemove, Claims: pipeline.ClaimsProven}})
	if unit {
		h.Stability, h.Terms.Unit = pipeline.Rows(2), pipeline.Unit{Column: "person", MaxRows: 2}
	}
	people, visits := make([]any, 12), make([]any, 12)
	for i := range people {
		people[i], visits[i] = i/2, 10+i
	}
	in := Input{Header: h, Rows: Rows(d, people, visits)}
	if shards {
		b := array.NewInt32Builder(memory.DefaultAllocator)
		for i := range 12 {
			b.Append(int32(i % 3))
		}
		in.Header = h.WithShardColumn(3)
		in.Header.Stability = pipeline.Shards(3)
		in.Rows = array.NewRecord(in.Header.Schema, append(append([]arrow.Array(nil), in.Rows.Columns()...), b.NewArray()), 12)
	}
	return in
}

// follow makes the first cell depend on the last.
func follow(v []int64) {
	if len(v) > 0 {
		v[0] = v[len(v)-1]
	}
}

// number overwrites a column with the place of the row.
func number(v []int64) {
	for i := range v {
		v[i] = int64(i)
	}
}

// TestWrongStabilityIsFound: a table that changes in more rows, in another unit's
// rows or in another shard than its header says, and a column that is said to be one
// of the unit and is not, are reported; a header that admits it is not.
func TestWrongStabilityIsFound(t *testing.T) {
	keeps := func(*pipeline.Header) {}
	says := func(s pipeline.Stability, own bool) func(*pipeline.Header) {
		return func(h *pipeline.Header) { h.Stability, h.OwnRows = s, own }
	}
	forgets := func(h *pipeline.Header) { h.Domain.Columns[0].OfUnit, h.Stability = false, pipeline.Unbounded() }
	for what, c := range map[string]struct {
		stage spread
		in    Input
		says  string
	}{
		"two rows of one, promised one":       {spread{follow, 1, keeps}, visitsOf(false, false), "3 rows change, its stability is rows(1)"},
		"two rows of one, promised three":     {spread{follow, 1, says(pipeline.Rows(3), false)}, visitsOf(false, false), ""},
		"rows of another unit":                {spread{follow, 1, says(pipeline.Rows(4), true)}, visitsOf(false, true), "of no unit that changed"},
		"rows of another unit, and says so":   {spread{follow, 1, says(pipeline.Rows(4), false)}, visitsOf(false, true), ""},
		"another shard":                       {spread{follow, 1, keeps}, visitsOf(true, false), "2 shards change, its stability is shards(3)"},
		"another shard, promised nothing":     {spread{follow, 1, says(pipeline.Unbounded(), false)}, visitsOf(true, false), ""},
		"a unit that is no unit any more":     {spread{number, 0, says(pipeline.Unbounded(), false)}, visitsOf(false, true), "is said to be one of the privacy unit person"},
		"a unit that is none, and says so":    {spread{number, 0, forgets}, visitsOf(false, true), ""},
		"nothing changed":                     {spread{func([]int64) {}, 1, keeps}, visitsOf(true, false), ""},
		"nothing changed, of units":           {spread{func([]int64) {}, 1, keeps}, visitsOf(false, true), ""},
		"a group of rows whose own rows stay": {spread{func([]int64) {}, 1, keeps}, visitsOf(false, false), ""},
	} {
		t.Run(what, func(t *testing.T) {
			kind := pipeline.Kind{Name: "spread", In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable}}, Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable}}}
			r := &recorder{}
			r.run(func(t reporter) {
				checkCase(t, kind, Case{Stage: func() pipeline.Stage { return &c.stage }, In: map[string]Input{"in": c.in}})
			})
			said := strings.Join(r.said, "\n")
			if c.says == "" && said != "" || !strings.Contains(said, c.says) {
				t.Errorf("reported %q, want %q", said, c.says)
			}
		})
	}
}

// TestListedKinds: a kind without a case and a case without a kind are reported.
func TestListedKinds(t *testing.T) {
	r := &recorder{}
	r.run(func(t reporter) {
		checkListed(t, []pipeline.Kind{{Name: "a"}, {Name: "b"}}, map[string][]Case{"a": {{}}, "c": {{}}})
	})
	if said := strings.Join(r.said, "; "); said != "kind b has no conformance case; cases of c, which is no kind of this room" {
		t.Error(said)
	}
}
