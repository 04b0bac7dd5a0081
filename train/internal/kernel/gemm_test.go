package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"weir/internal/stattest"
)

// layout says which of the products a case is.
type layout int

const (
	nn layout = iota
	nt
	tn
	scaled
)

func (l layout) String() string { return []string{"NN", "NT", "TN", "TNScaled"}[l] }

// problem is one random product with its float64 answer.
type problem struct {
	product
	layout layout
	before []float32
}

// random draws a product of the given shape with odd strides; special puts NaN, Inf
// and extreme values into the operands.
func random(r *rand.Rand, l layout, m, n, k int, special bool) *problem {
	draw := normal
	if special {
		draw = strange
	}
	p := &problem{layout: l}
	p.m, p.n, p.k, p.accumulate = m, n, k, r.IntN(2) == 0
	pad := func(cols int) int { return cols + r.IntN(4) }
	p.ldc = pad(n)
	if n == 1 {
		p.ldc = 1 + r.IntN(2)
	}
	p.c = draw(r, m*p.ldc)
	p.aRow, p.aCol = pad(k), 1
	p.a = draw(r, m*p.aRow)
	if l == tn || l == scaled {
		p.aRow, p.aCol = 1, pad(m)
		p.a = draw(r, k*p.aCol)
	}
	p.ldb = pad(n)
	p.b = draw(r, k*p.ldb)
	if p.transposed = l == nt; p.transposed {
		p.ldb = pad(k)
		p.b = draw(r, n*p.ldb)
	}
	if l == scaled {
		p.scale = draw(r, k)
	}
	p.before = clone(p.c)
	return p
}

// bAt returns element (i, j) of B.
func (p *problem) bAt(i, j int) float32 {
	if p.transposed {
		return p.b[j*p.ldb+i]
	}
	return p.b[i*p.ldb+j]
}

// exact returns element (i, j) of the result in float64, with the sum of the sizes of
// its finite terms, which bounds the error of any order of summation.
func (p *problem) exact(i, j int) (sum, size float64) {
	if p.accumulate {
		sum = float64(p.before[i*p.ldc+j])
		size = finiteSize(sum)
	}
	for q := range p.k {
		b := p.bAt(q, j)
		if p.scale != nil {
			b *= p.scale[q]
		}
		term := float64(p.a[i*p.aRow+q*p.aCol]) * float64(b)
		sum += term
		size += finiteSize(term)
	}
	return sum, size
}

func finiteSize(x float64) float64 {
	if x-x != 0 {
		return 0
	}
	return math.Abs(x)
}

// check compares C with float64 and sees that nothing beside C was written. The
// error of k+1 float32 roundings is at most (k+2)*2^-24 of the terms' sizes, and of
// each underflow 2^-149.
func (p *problem) check() error {
	for i := range p.m {
		for j := range p.ldc {
			pos := i*p.ldc + j
			if j >= p.n {
				if !sameBits(p.c[pos], p.before[pos]) {
					return fmt.Errorf("wrote beside C at (%d, %d)", i, j)
				}
				continue
			}
			want, size := p.exact(i, j)
			if !close(float64(p.c[pos]), want, size, p.k) {
				return fmt.Errorf("(%d, %d) is %g, want %g", i, j, p.c[pos], want)
			}
		}
	}
	return nil
}

// close compares with the bound above. size counts the finite terms; where they may
// overflow in float32 on the way, any answer that is not finite is right too.
func close(got, want, size float64, k int) bool {
	bound := float64(k+2)*(size*0x1p-24) + float64(k+2)*0x1p-149
	switch {
	case size >= math.MaxFloat32/2 && got-got != 0:
		return true
	case math.IsNaN(want):
		return math.IsNaN(got)
	case math.IsInf(want, 0):
		return got == want
	}
	return math.Abs(got-want) <= bound
}

func (p *problem) String() string {
	return fmt.Sprintf("%v m=%d n=%d k=%d strides %d,%d %d %d accumulate=%v", p.layout, p.m, p.n, p.k, p.aRow, p.aCol,
		p.ldb, p.ldc, p.accumulate)
}

func TestGemmRandomShapes(t *testing.T) {
	eachTable(t, func(t *testing.T, k *table) {
		r := source(1)
		for i := range stattest.Rounds(4_000, 14_000) {
			n := 1 + r.IntN(40)
			if i%16 < 4 {
				n = 1
			}
			p := random(r, layout(i%4), 1+r.IntN(40), n, r.IntN(41), i%3 == 0)
			k.gemm(p.product)
			if err := p.check(); err != nil {
				t.Fatalf("%v: %v", p, err)
			}
		}
	})
}

// TestGemmLargeShapes: shapes beyond one chunk of k and one block of rows, every kind of last panel.
func TestGemmLargeShapes(t *testing.T) {
	shapes := [][3]int{{530, 9, 3}, {3, 70, 1100}, {7, 35, 513}, {5, 31, 1025}, {1, 107, 515}, {1030, 1, 2},
		{33, 1, 17000}, {9, 7, 1024}, {2, 12, 520}}
	eachTable(t, func(t *testing.T, k *table) {
		r := source(2)
		for i, s := range shapes {
			for l := nn; l <= scaled; l++ {
				p := random(r, l, s[0], s[1], s[2], i == 1)
				k.gemm(p.product)
				if err := p.check(); err != nil {
					t.Fatalf("%v: %v", p, err)
				}
			}
		}
	})
}

// TestGemmIsOneFusedChain: every element is one chain of fused multiply-adds: math.FMA in float64 rounded to
// float32 agrees but for double rounding, so operands of 11 bits are used, whose
// products and short sums float64 holds exactly.
func TestGemmIsOneFusedChain(t *testing.T) {
	r := source(3)
	short := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.IntN(4096)-2048) * float32(math.Ldexp(1, r.IntN(8)-4))
		}
		return x
	}
	for _, k := range tables() {
		for l := nn; l <= tn; l++ {
			for n := 1; n <= 70; n++ {
				p := random(r, l, 1+r.IntN(20), n, 1+r.IntN(600), false)
				p.a, p.b, p.c = short(len(p.a)), short(len(p.b)), short(len(p.c))
				p.before = clone(p.c)
				k.gemm(p.product)
				for i := range p.m {
					for j := range n {
						want := p.chain(i, j)
						if p.c[i*p.ldc+j] != want {
							t.Fatalf("%s %v: (%d, %d) is %g, want %g", k.name, p, i, j, p.c[i*p.ldc+j], want)
						}
					}
				}
			}
		}
	}
}

// chain returns element (i, j) as a chain in the order of k, each step rounded once.
func (p *problem) chain(i, j int) float32 {
	var sum float32
	if p.accumulate {
		sum = p.before[i*p.ldc+j]
	}
	for q := range p.k {
		sum = float32(float64(p.a[i*p.aRow+q*p.aCol])*float64(p.bAt(q, j)) + float64(sum))
	}
	return sum
}

// TestGemmLevelsAgree: plain Go and every vector width give the same bits.
func TestGemmLevelsAgree(t *testing.T) {
	r := source(4)
	for i := range stattest.Rounds(1200, 4000) {
		p := random(r, layout(i%4), 1+r.IntN(40), 1+r.IntN(80), r.IntN(60), i%5 == 0)
		if i%100 == 0 {
			p = random(r, layout(i/100%4), 1+r.IntN(700), 1+r.IntN(200), r.IntN(1200), false)
		}
		levelsAgree(t, p)
	}
}

func levelsAgree(t *testing.T, p *problem) {
	t.Helper()
	var first []float32
	for i, k := range tables() {
		p.c = clone(p.before)
		k.gemm(p.product)
		if i == 0 {
			first = p.c
		}
		diff(t, k.name+" "+p.String(), p.c, first)
	}
}

func TestGemmIndependentOfCores(t *testing.T) {
	r := source(5)
	p := random(r, nt, 130, 107, 600, false)
	best.gemm(p.product)
	one := p.c
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	p.c = clone(p.before)
	best.gemm(p.product)
	diff(t, "one core", p.c, one)
}

// TestGemmExported: the exported functions, against the same product by definition.
func TestGemmExported(t *testing.T) {
	r := source(6)
	for range 200 {
		for l := nn; l <= scaled; l++ {
			p := random(r, l, 1+r.IntN(20), 1+r.IntN(20), r.IntN(20), false)
			switch l {
			case nn:
				GemmNN(p.m, p.n, p.k, p.a, p.aRow, p.b, p.ldb, p.c, p.ldc, p.accumulate)
			case nt:
				GemmNT(p.m, p.n, p.k, p.a, p.aRow, p.b, p.ldb, p.c, p.ldc, p.accumulate)
			case tn:
				GemmTN(p.m, p.n, p.k, p.a, p.aCol, p.b, p.ldb, p.c, p.ldc, p.accumulate)
			case scaled:
				GemmTNScaled(p.m, p.n, p.k, p.a, p.aCol, p.b, p.ldb, p.c, p.ldc, p.accumulate, p.scale)
			}
			if err := p.check(); err != nil {
				t.Fatalf("%v: %v", p, err)
			}
		}
	}
}

// TestGemmTNScaledDropsRows: rows of weight zero are left out whatever they hold, and the others keep their bits.
func TestGemmTNScaledDropsRows(t *testing.T) {
	r := source(7)
	for range 300 {
		m, n, k := 1+r.IntN(20), 1+r.IntN(40), 1+r.IntN(30)
		a, b, s := normal(r, k*m), normal(r, k*n), normal(r, k)
		var ka, kb, ks []float32
		for p := range k {
			if r.IntN(3) == 0 {
				s[p] = 0
				a[p*m], b[p*n] = float32(math.NaN()), float32(math.Inf(1))
				continue
			}
			ka, kb, ks = append(ka, a[p*m:p*m+m]...), append(kb, b[p*n:p*n+n]...), append(ks, s[p])
		}
		got, want := normal(r, m*n), make([]float32, m*n)
		GemmTNScaled(m, n, k, a, m, b, n, got, n, false, s)
		GemmTNScaled(m, n, len(ks), ka, m, kb, n, want, n, false, ks)
		diff(t, fmt.Sprint(m, n, k, s), got, want)
	}
}

func TestGemmPanicsOnShortSlices(t *testing.T) {
	x := make([]float32, 11)
	for name, f := range map[string]func(){
		"short a":    func() { GemmNN(3, 4, 4, x, 4, make([]float32, 16), 4, make([]float32, 12), 4, false) },
		"short b":    func() { GemmNT(3, 3, 4, make([]float32, 12), 4, x, 4, make([]float32, 9), 3, false) },
		"short c":    func() { GemmTN(3, 4, 2, make([]float32, 6), 3, make([]float32, 8), 4, x, 4, false) },
		"stride":     func() { GemmNN(2, 2, 2, x, 1, x, 2, x, 2, false) },
		"negative":   func() { GemmNN(-1, 2, 2, x, 2, x, 2, x, 2, false) },
		"scale":      func() { GemmTNScaled(1, 1, 3, x, 1, x, 1, x, 1, false, x[:2]) },
		"huge shape": func() { GemmNN(math.MaxInt/2, 2, 8, x, math.MaxInt/4, x, 2, x, 2, false) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
