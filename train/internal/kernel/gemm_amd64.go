package kernel

import "sync"

const (
	depth    = 512 // most of k in one call: a panel of B of 32 columns then takes 64 KiB
	height   = 512 // most rows in one call, so that a call stays below 0.3 ms
	maxWidth = 32  // columns of the widest panel
	word     = 4   // bytes of a float32
)

// buffers are panels of B that are transposed or scaled before they are used.
var buffers = sync.Pool{New: func() any { return new([depth * maxWidth]float32) }}

func gemmAVX2(j product)   { multiply(&j, false) }
func gemmAVX512(j product) { multiply(&j, true) }

// routine says which assembly computes a panel.
type routine int

const (
	panel8 routine = iota
	panel16
	panelMasked
	panel32
	panelMasked32
)

// strip is one panel of columns: width columns from start, of which the first
// shift belong to the panel before, which is done already.
type strip struct {
	start, width, shift int
	run                 routine
}

// cut returns the panel of n columns that begins with column col. The last panel is
// shifted left to be whole; only matrices that are too narrow need masks.
func cut(n, col int, wide bool) strip {
	rest := n - col
	switch {
	case wide && rest >= 32:
		return strip{col, 32, 0, panel32}
	case wide && rest > 16:
		return strip{col, rest, 0, panelMasked32}
	case rest >= 16:
		return strip{col, 16, 0, panel16}
	case n < 8:
		return strip{col, rest, 0, panelMasked}
	case rest <= 8:
		return strip{n - 8, 8, 8 - rest, panel8}
	case n >= 16:
		return strip{n - 16, 16, 16 - rest, panel16}
	}
	return strip{col, 8, 0, panel8}
}

// multiply computes any product.
func multiply(j *product, wide bool) {
	if j.m == 0 || j.n == 0 {
		return
	}
	if j.k == 0 {
		clearProduct(j)
		return
	}
	if isColumn(j) {
		multiplyColumn(j, wide)
		return
	}
	multiplyPanels(j, wide)
}

// multiplyPanels runs over k in chunks, the chain of each element going on in C, and
// in each chunk over the panels of columns.
func multiplyPanels(j *product, wide bool) {
	var buffer *[depth * maxWidth]float32
	if j.transposed || j.scale != nil {
		buffer = buffers.Get().(*[depth * maxWidth]float32)
		defer buffers.Put(buffer)
	}
	for p := 0; p < j.k; p += depth {
		for col := 0; col < j.n; {
			s := cut(j.n, col, wide)
			chunk(j, s, p, min(depth, j.k-p), buffer)
			col = s.start + s.width
		}
	}
}

func clearProduct(j *product) {
	if j.accumulate {
		return
	}
	for i := range j.m {
		clear(j.c[i*j.ldc : i*j.ldc+j.n])
	}
}

// chunk computes k terms from p on of one panel of C.
func chunk(j *product, s strip, p, k int, buffer *[depth * maxWidth]float32) {
	q := panel{aRow: j.aRow * word, aCol: j.aCol * word, ldc: j.ldc * word, k: k}
	switch {
	case j.transposed:
		q.b, q.ldb = &buffer[0], s.width*word
		pack(buffer[:], j.b[s.start*j.ldb+p:], j.ldb, s.width, k)
	case j.scale != nil:
		q.b, q.ldb = &buffer[0], s.width*word
		if s.run == panel32 || s.run == panelMasked32 {
			scaleRowsAVX512(buffer[:], j.b[p*j.ldb+s.start:], k, s.width, s.width, j.ldb, j.scale[p:])
		} else {
			scaleRowsAVX2(buffer[:], j.b[p*j.ldb+s.start:], k, s.width, s.width, j.ldb, j.scale[p:])
		}
	default:
		q.b, q.ldb = &j.b[p*j.ldb+s.start], j.ldb*word
	}
	if j.accumulate || p > 0 {
		q.accumulate = 1
		if s.shift > 0 {
			q.mask = &lanes[16-s.shift]
		}
	}
	for row := 0; row < j.m; row += height {
		q.a = &j.a[row*j.aRow+p*j.aCol]
		q.c = &j.c[row*j.ldc+s.start]
		q.m = min(height, j.m-row)
		s.call(&q)
	}
}

func (s strip) call(q *panel) {
	switch s.run {
	case panel8:
		panel8AVX2(q)
	case panel16:
		panel16AVX2(q)
	case panel32:
		panel32AVX512(q)
	case panelMasked:
		q.mask = &lanes[16-s.width]
		panelMaskedAVX2(q)
	case panelMasked32:
		q.low, q.high = 1<<16-1, 1<<(s.width-16)-1
		panelMaskedAVX512(q)
	}
}

// pack transposes width rows of b, k long, into dst (k×width), 8×8 elements at a
// time; the last block of a side is shifted back to be whole.
func pack(dst, b []float32, ldb, width, k int) {
	if width < 8 || k < 8 {
		packSmall(dst, b, ldb, width, k)
		return
	}
	for col := 0; col < width; col += 8 {
		col := min(col, width-8)
		transposeAVX2(&dst[col], width*word, &b[col*ldb], ldb*word, k/8)
		if k%8 != 0 {
			transposeAVX2(&dst[(k-8)*width+col], width*word, &b[col*ldb+k-8], ldb*word, 1)
		}
	}
}

func packSmall(dst, b []float32, ldb, width, k int) {
	for col := range width {
		row := b[col*ldb:][:k]
		for p, v := range row {
			dst[p*width+col] = v
		}
	}
}
