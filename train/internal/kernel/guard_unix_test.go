//go:build unix

package kernel

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fence hands out slices that end right before, or begin right after, a page that
// is not mapped: a kernel that reads or writes beside them dies.
type fence struct {
	page []byte
	size int
}

func newFence(t *testing.T) *fence {
	size := 8 * unix.Getpagesize()
	all, err := unix.Mmap(-1, 0, 3*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, part := range [][]byte{all[:size], all[2*size:]} {
		if err := unix.Mprotect(part, unix.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return &fence{page: all[size : 2*size], size: size / 4}
}

// put copies x to the end, or the beginning, of the mapped pages.
func (f *fence) put(x []float32, end bool) []float32 {
	all := unsafe.Slice((*float32)(unsafe.Pointer(&f.page[0])), f.size)
	pos := 0
	if end {
		pos = f.size - len(x)
	}
	copy(all[pos:pos+len(x)], x)
	return all[pos : pos+len(x) : pos+len(x)]
}

func TestGemmBesideUnmappedPages(t *testing.T) {
	fa, fb, fc, fs := newFence(t), newFence(t), newFence(t), newFence(t)
	eachTable(t, func(t *testing.T, k *table) {
		r := source(31)
		for i := range 4000 {
			n := max(1, r.IntN(45)-4)
			p := random(r, layout(i/2%4), 1+r.IntN(40), n, 1+r.IntN(40), false)
			end := i%2 == 0
			// The shortest slices: the last row ends with its last column.
			p.c = fc.put(p.c[:(p.m-1)*p.ldc+p.n], end)
			p.a = fa.put(p.a[:(p.m-1)*p.aRow+(p.k-1)*p.aCol+1], end)
			rows, cols := p.k, p.n
			if p.transposed {
				rows, cols = cols, rows
			}
			p.b = fb.put(p.b[:(rows-1)*p.ldb+cols], end)
			if p.scale != nil {
				p.scale = fs.put(p.scale, end)
			}
			k.gemm(p.product)
		}
	})
}

func TestOthersBesideUnmappedPages(t *testing.T) {
	var fences [5]*fence
	for i := range fences {
		fences[i] = newFence(t)
	}
	r := source(32)
	for _, k := range tables() {
		for n := 1; n < 100; n++ {
			for _, end := range []bool{true, false} {
				for _, f := range runs {
					var in [5][]float32
					for i := range in {
						in[i] = fences[i].put(strange(r, n), end)
					}
					f(k, in)
				}
				rows := 1 + n%9
				x, y := fences[0].put(normal(r, rows*n), end), fences[1].put(normal(r, rows*n), end)
				s := fences[2].put(normal(r, rows), end)
				k.rowDots(s, x, y, rows, n, n, n)
				k.rowDots(s, x, x, rows, n, n, n)
				k.scaleRows(y, x, rows, n, n, n, s)
				k.softmax(y, x, rows, n, n, n)
				k.sumSquares(x)
			}
		}
	}
}

func TestColumnsBesideUnmappedPages(t *testing.T) {
	var f [4]*fence
	for i := range f {
		f[i] = newFence(t)
	}
	eachTable(t, func(t *testing.T, k *table) {
		r := source(34)
		for i := range 400 {
			rows, cols := 1+r.IntN(5), 1+r.IntN(40)
			ld := cols + r.IntN(3)
			var x [4][]float32
			for m := range x { // the last row ends with its last column
				x[m] = f[m].put(normal(r, (rows-1)*ld+cols), i%2 == 0)
			}
			var v [7][]float64
			for m := range v {
				v[m] = wide(normal(r, cols))
			}
			w := [2][]float32{normal(r, cols), normal(r, cols)}
			k.columnSums(v[0], x[0], rows, ld)
			k.columnSquares(v[0], v[1], x[0], rows, ld)
			k.columnDots(v[0], v[1], x[0], x[1], rows, ld)
			k.columnAdd(w[0], x[0], rows, ld)
			k.columnMulAdd(w[0], x[0], x[1], rows, ld)
			k.standardise(x[0], x[1], x[2], rows, ld, v[0], v[1], w[0], w[1])
			k.unstandardise(x[0], x[1], x[2], rows, ld, v[0], v[1], v[2])
			k.bend(x[0], x[1], x[2], x[3], rows, ld, Bending{v[0], v[1], v[2], v[3], v[4], v[5], v[6]})
		}
	})
}
