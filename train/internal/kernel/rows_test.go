package kernel

import (
	"fmt"
	"math"
	"testing"
)

// TestRowKernelBits: row kernels give the bits of the plain Go at every level, for every shape and
// with odd strides, and write nothing beside their rows.
func TestRowKernelBits(t *testing.T) {
	all := tables()
	r := source(21)
	for cols := 1; cols <= 70; cols++ {
		rows := 1 + r.IntN(9)
		ldx, ldy := cols+r.IntN(3), cols+r.IntN(3)
		x, y, s := strange(r, rows*ldx), strange(r, rows*ldy), strange(r, rows)
		if cols%2 == 0 {
			x, y = normal(r, rows*ldx), normal(r, rows*ldy)
		}
		var want [][]float32
		for _, k := range all {
			got := rowOutputs(k, x, y, s, rows, cols, ldx, ldy)
			if want == nil {
				want = got
			}
			for i := range got {
				diff(t, fmt.Sprintf("%s %d×%d, output %d", k.name, rows, cols, i), got[i], want[i])
			}
		}
	}
}

func rowOutputs(k *table, x, y, s []float32, rows, cols, ldx, ldy int) [][]float32 {
	dots, squares, scaled, soft := make([]float32, rows), make([]float32, rows), clone(y), clone(y)
	k.rowDots(dots, x, y, rows, cols, ldx, ldy)
	k.rowDots(squares, x, x, rows, cols, ldx, ldx)
	k.scaleRows(scaled, x, rows, cols, ldy, ldx, s)
	k.softmax(soft, x, rows, cols, ldy, ldx)
	return [][]float32{dots, squares, scaled, soft, {float32(k.sumSquares(x))}}
}

// TestRowsAgainstFloat64: the exported functions against float64, over more than one block of rows.
func TestRowsAgainstFloat64(t *testing.T) {
	const rows, cols, ld = 500, 107, 110
	r := source(22)
	x, y := normal(r, rows*ld), normal(r, rows*ld)
	dots, norms, soft := make([]float32, rows), make([]float32, rows), clone(x)
	RowDots(dots, x, y, rows, cols, ld, ld)
	RowDots(norms, x, x, rows, cols, ld, ld)
	Softmax(soft[3:], x[3:], rows, 5, ld, ld)
	var total float64
	for i := range rows {
		var dot, norm, exps float64
		for j := range ld {
			v := float64(x[i*ld+j])
			total += v * v
			if j < cols {
				dot, norm = dot+v*float64(y[i*ld+j]), norm+v*v
			}
			if j >= 3 && j < 8 {
				exps += math.Exp(v)
			} else if soft[i*ld+j] != x[i*ld+j] {
				t.Fatalf("softmax wrote beside its block at (%d, %d)", i, j)
			}
		}
		if math.Abs(float64(dots[i])-dot) > 1e-4 || math.Abs(float64(norms[i])/norm-1) > 13*0x1p-24 {
			t.Fatalf("row %d: dot %g, norm² %g; want %g, %g", i, dots[i], norms[i], dot, norm)
		}
		for j := 3; j < 8; j++ {
			if want := math.Exp(float64(x[i*ld+j])) / exps; math.Abs(float64(soft[i*ld+j])/want-1) > 1e-6 {
				t.Fatalf("softmax (%d, %d) is %g, want %g", i, j, soft[i*ld+j], want)
			}
		}
	}
	if got := SumSquares(x); math.Abs(got/total-1) > 1e-12 {
		t.Fatalf("sum of squares %g, want %g", got, total)
	}
}
