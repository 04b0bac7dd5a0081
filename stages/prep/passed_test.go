package prep

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

// TestUnchangedColumnsArePassedOn: where a stage changes no value of a column, the
// Arrow array that comes out holds the buffers of the one that went in; where it
// only makes values missing, all buffers but the one of presence are.
func TestUnchangedColumnsArePassedOn(t *testing.T) {
	whole, inside := clinicTable(),
		filteredTo(t, `visits <= 30 and not missing(age) and age <= 90 and not missing(pressure) and pressure <= 240`)
	marked := pipelinetest.After(t, inside, &MissingIndicator{Columns: []string{"patient_id", "age"}, Suffix: "_missing"})
	split := pipelinetest.After(t, inside, &NotAvailable{Columns: map[string]float64{"visits": 99999}, Suffix: "_na"})
	encoded := pipelinetest.After(t, pipelinetest.After(t, inside,
		&Select{Columns: []string{"visits", "grade", "region"}}), &Encode{OneHot: []string{"grade"},
		MinMax: [2]float64{-1, 1}, Missing: "category"})
	known := pipelinetest.After(t, pipelinetest.After(t, filteredTo(t, "not missing(region)"),
		&Select{Columns: []string{"region"}}), &Encode{MinMax: [2]float64{-1, 1}, Missing: "category"})
	for name, c := range map[string]struct {
		in      pipelinetest.Input
		stage   pipeline.Stage
		columns []string // that do not change
		hidden  []string // of which values become missing
	}{
		"bounds, all inside": {inside, &Bounds{Outside: "missing"}, []string{"patient_id", "age", "pressure", "visits",
			"region", "admission"}, nil},
		"bounds, missing": {whole, &Bounds{Outside: "missing"}, []string{"patient_id", "region", "grade", "smoker",
			"admission"}, []string{"age", "pressure", "visits"}},
		"bounds, clipped": {whole, &Bounds{Outside: "clip"}, []string{"patient_id", "region", "admission"}, nil},
		"select": {whole, &Select{Columns: []string{"age", "patient_id"}}, []string{"age", "patient_id"},
			nil},
		"drop": {whole, &Drop{Columns: []string{"age"}}, []string{"pressure", "patient_id", "grade"}, nil},
		"filter, all kept": {whole, &Filter{Keep: "true or visits > 0", Missing: "keep"}, []string{"age", "patient_id",
			"pressure", "region"}, nil},
		"derive": {whole,
			&Derive{Columns: []Derived{{Name: "twice", Formula: "visits * 2", Type: domain.Numeric}}},
			[]string{"visits", "patient_id", "age"}, nil},
		"not_available, none": {whole, &NotAvailable{Columns: map[string]float64{"age": 999, "pressure": 1e6},
			Suffix: "_na"}, []string{"age", "pressure", "visits"}, nil},
		"missing_indicator": {whole, &MissingIndicator{Suffix: "_missing"}, []string{"age", "patient_id", "region"},
			nil},
		"impute_constant, none": {inside, &ImputeConstant{Numbers: map[string]float64{"age": 40, "visits": 1}},
			[]string{"age", "visits", "pressure"}, nil},
		"impute_knn, none": {inside, &ImputeKNN{Neighbors: 2, Weights: "uniform", Scope: "table",
			Columns: []string{"age", "pressure", "region"}, Scale: "none"}, []string{"patient_id", "age", "pressure", "visits",
			"grade"}, nil},
		"discretize, others": {inside, &Discretize{Columns: []string{"age"}, Strategy: "uniform", Bins: 4,
			Inverse: "midpoint"}, []string{"visits", "pressure", "region"}, nil},
		"shard":                  {whole, &Shard{Shards: 3, By: "position"}, []string{"age", "patient_id", "region"}, nil},
		"encode, codes":          {encoded, &Decode{To: "encoded"}, []string{"grade"}, nil},
		"decode, none missing":   {known, &Decode{To: "source"}, []string{"region"}, nil},
		"decode, nothing marked": {marked, &Decode{To: "source"}, []string{"age", "pressure"}, []string{"patient_id"}},
		"decode, no sentinel":    {split, &Decode{To: "source"}, []string{"visits", "age"}, nil},
	} {
		in := firstBatch(t, c.in)
		out, err := pipelinetest.Run(t, c.stage, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.FromRecords(c.in.Header,
			in)})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := out["out"].Collect(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, column := range c.columns {
			if from := rebuilt(in, got, column, 0); from >= 0 {
				t.Errorf("%s: buffer %d of column %s is rebuilt", name, from, column)
			}
		}
		for _, column := range c.hidden {
			if from := rebuilt(in, got, column, 1); from >= 0 {
				t.Errorf("%s: buffer %d of column %s is rebuilt, only presence changes", name, from, column)
			}
		}
	}
}

// filteredTo returns the clinic table with the rows for which a formula is true.
func filteredTo(t *testing.T, keep string) pipelinetest.Input {
	t.Helper()
	return pipelinetest.After(t, clinicTable(), &Filter{Keep: keep, Missing: "drop"})
}

// firstBatch returns the whole table as one record of its own.
func firstBatch(t *testing.T, in pipelinetest.Input) arrow.Record {
	t.Helper()
	if in.Rows.NumRows() < 3 {
		t.Fatalf("%d rows, must be at least 3", in.Rows.NumRows())
	}
	return array.NewRecord(in.Rows.Schema(), in.Rows.Columns(), in.Rows.NumRows())
}

// rebuilt returns the first buffer, from number `first` on, that a column of two records
// does not share; -1 where they share all.
func rebuilt(a, b arrow.Record, column string, first int) int {
	find := func(r arrow.Record) arrow.ArrayData { return r.Column(r.Schema().FieldIndices(column)[0]).Data() }
	x, y := find(a).Buffers(), find(b).Buffers()
	for i := first; i < len(x); i++ {
		if x[i] != y[i] && !(x[i].Len() == 0 && y[i].Len() == 0) && (x[i] == nil || y[i] == nil ||
			&x[i].Bytes()[0] != &y[i].Bytes()[0]) {
			return i
		}
	}
	return -1
}

// TestHiddenInASlice: a batch may be a slice of a longer array, whose presence
// begins in the middle of a byte.
func TestHiddenInASlice(t *testing.T) {
	rows := clinicTable().Rows
	for _, name := range []string{"patient_id", "pressure", "visits", "region"} {
		a := array.NewSlice(rows.Column(rows.Schema().FieldIndices(name)[0]), 3, 12)
		got := withBits(a, present(a).setMissing(1, a.Len()).setMissing(8, a.Len()))
		for i := range a.Len() {
			if hidden := i == 1 || i == 8 || a.IsNull(i); got.IsNull(i) != hidden {
				t.Errorf("%s: value %d is null: %v, must be %v", name, i, got.IsNull(i), hidden)
			} else if !hidden && got.ValueStr(i) != a.ValueStr(i) {
				t.Errorf("%s: value %d is %s, must be %s", name, i, got.ValueStr(i), a.ValueStr(i))
			}
		}
		if got.NullN() != a.NullN()+2 {
			t.Errorf("%s: %d values are null, must be %d", name, got.NullN(), a.NullN()+2)
		}
	}
}
