package prediction

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
)

func TestEncode(t *testing.T) {
	f := &columns.Frame{Rows: 4, Columns: []columns.Column{
		{Name: "x", Type: domain.Numeric, Numbers: []float64{1, 3, math.NaN(), 5}, Bounds: &[2]float64{0, 10}},
		{Name: "b", Type: domain.Boolean, Codes: []int32{0, 1, 1, 0}, Categories: []string{"0", "1"}},
		{Name: "c", Type: domain.Categorical, Codes: []int32{0, 2, -1, 1}, Categories: []string{"p", "q", "r"}},
		{Name: "flat", Type: domain.Numeric, Numbers: []float64{7, 7, 7, 7}},
		{Name: "void", Type: domain.Numeric, Numbers: []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}},
		{Name: "y", Type: domain.Numeric, Numbers: []float64{0, 0, 0, 0}},
	}}
	skip := map[string]bool{"y": true}
	e := NewEncoder(EncoderOptions{Scaling: ScaleBounds}, skip, f)
	names := []string{"x", "x missing", "b=1", "c=p", "c=q", "c=r", "c missing", "flat", "void", "void missing"}
	if d := cmp.Diff(names, e.Names()); d != "" {
		t.Error(d)
	}
	want := [][]float64{
		{.1, .3, .3, .5}, {0, 0, 1, 0}, {0, 1, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0},
		{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 1, 1, 1},
	}
	if d := cmp.Diff(want, e.Encode(f).Dense().Cols, cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	// Mean 3, population sd sqrt(8/3) of 1, 3, 5.
	z := NewEncoder(EncoderOptions{Scaling: ScaleStandard, DropFirst: true}, skip, f)
	if d := cmp.Diff([]float64{-2 / math.Sqrt(8.0/3), 0, 0, 2 / math.Sqrt(8.0/3)}, z.Encode(f).Cols[0],
		cmpopts.EquateApprox(0, 1e-12)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"x", "x missing", "b=1", "c=q", "c=r", "c missing", "flat", "void", "void missing"},
		z.Names()); d != "" {
		t.Error(d)
	}
}
