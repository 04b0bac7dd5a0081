package train

import (
	"slices"
	"strings"
	"testing"

	"weir/train/net"
)

func TestGather(t *testing.T) {
	r := NewRows(3)
	must(r.Numeric([]float32{1, 2, 3}))
	must(Categorical(r, []uint8{0, 2, 1}, 3))
	must(Categorical(r, []uint16{1, 0, 1}, 2))
	must(r.Numeric([]float32{-1, -2, -3}))
	must(Categorical(r, []int32{0, 0, 0}, 1))
	must(r.NumericBlock([]float32{4, 5, 6, 7, 8, 9}, 2))
	r.Zeros(2)
	m := net.NewMatrix(4, r.Width())
	for i := range m.Data {
		m.Data[i] = 9 // a gather must overwrite what an earlier batch left
	}
	r.Gather(m, []int32{2, 0, 2})
	for i, want := range [][]float32{{3, 0, 1, 0, 0, 1, -3, 1, 8, 9, 0, 0}, {1, 1, 0, 0, 0, 1, -1, 1, 4, 5, 0, 0},
		{3, 0, 1, 0, 0, 1, -3, 1, 8, 9, 0, 0}, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}} {
		if got := m.Row(i); !slices.Equal(got, want) {
			t.Errorf("row %d: %v, want %v", i, got, want)
		}
	}
}

// TestGatherOfManyRows covers every remainder of the eight rows that a numeric
// column copies at a time.
func TestGatherOfManyRows(t *testing.T) {
	r := NewRows(50)
	x, y := make([]float32, 50), make([]float32, 50)
	for i := range x {
		x[i], y[i] = float32(i), float32(-i)
	}
	must(r.Numeric(x))
	must(r.Numeric(y))
	for n := range 30 {
		index, m := make([]int32, n), net.NewMatrix(n, 2)
		for i := range index {
			index[i] = int32(i * 37 % 50)
		}
		r.Gather(m, index)
		for i, row := range index {
			if want := []float32{x[row], y[row]}; !slices.Equal(m.Row(i), want) {
				t.Fatalf("row %d of %d: %v, want %v", i, n, m.Row(i), want)
			}
		}
	}
}

func TestRowsRefuse(t *testing.T) {
	r := NewRows(2)
	for want, err := range map[string]error{
		"0 to 2":     Categorical(r, []int32{0, 3}, 3),
		"outside":    Categorical(r, []int32{0, -1}, 3),
		"one for":    r.Numeric([]float32{1}),
		"codes":      Categorical(r, []uint8{1}, 3),
		"a block":    r.NumericBlock([]float32{1, 2, 3}, 2),
		"at least 1": Categorical(r, []uint8{0, 0}, 0),
	} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "-1") {
			t.Errorf("error %v, must say %q and quote no value", err, want)
		}
	}
	if r.Width() != 0 {
		t.Errorf("a refused column widened the table to %d", r.Width())
	}
}
