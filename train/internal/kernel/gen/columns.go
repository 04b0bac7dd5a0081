package main

import "fmt"

// columnKernel goes down the columns of matrices of one shape and stride, some columns at a time: what is known or
// summed of them stays in registers. Its argument is a struct columns; cols counts whole turns.
type columnKernel struct {
	name     string
	matrices int
	half     bool // a turn is 4 columns instead of 8
	load     func(*asm)
	body     func(*asm)
	store    func(*asm)
}

// The matrices of a columnKernel, as addresses of the row at hand; AX is the column in bytes of float32.
var matrixRows = []string{"SI", "DX", "BX", "R9"}

func columns() string {
	a := newAsm()
	for _, k := range []columnKernel{
		{name: "columnSumsAVX2", matrices: 1, load: doubles(0, 1), body: columnSums, store: storeDoubles(1)},
		{name: "columnSquaresAVX2", matrices: 1, load: doubles(0, 2), body: columnSquares, store: storeDoubles(1)},
		{name: "columnDotsAVX2", matrices: 2, load: doubles(0, 2), body: columnDots, store: storeDoubles(2)},
		{name: "columnAddAVX2", matrices: 1, load: singles(1), body: columnAdd, store: storeSingles},
		{name: "columnMulAddAVX2", matrices: 2, load: singles(1), body: columnMulAdd, store: storeSingles},
		{name: "standardiseAVX2", matrices: 3, load: both(doubles(0, 2), singles(2)), body: standardise},
		{name: "unstandardiseAVX2", matrices: 3, load: doubles(0, 3), body: unstandardise},
		{name: "bendAVX2", matrices: 4, half: true, load: bendLoad, body: bend},
	} {
		k.write(a)
	}
	return a.String()
}

func (k columnKernel) write(a *asm) {
	width := 32
	if k.half {
		width = 16
	}
	next, row, done := a.fresh("columns"), a.fresh("row"), a.fresh("done")
	a.text(k.name, 8)
	a.op("MOVQ c+0(FP), DI")
	a.op("MOVQ columns_ld(DI), R8")
	a.op("XORQ AX, AX")
	a.to(next)
	a.op("CMPQ AX, columns_cols(DI)")
	a.op("JGE %s", done)
	for i := range k.matrices {
		a.op("MOVQ columns_x+%d(DI), %s", 8*i, matrixRows[i])
	}
	k.load(a)
	a.op("MOVQ columns_rows(DI), CX")
	a.op("PCALIGN $32")
	a.to(row)
	k.body(a)
	for i := range k.matrices {
		a.op("ADDQ R8, %s", matrixRows[i])
	}
	a.op("DECQ CX")
	a.op("JNZ %s", row)
	if k.store != nil {
		k.store(a)
	}
	a.op("ADDQ $%d, AX", width)
	a.op("JMP %s", next)
	a.to(done)
	a.ret()
}

func both(f, g func(*asm)) func(*asm) { return func(a *asm) { f(a); g(a) } }

// doubles loads n vectors of float64, eight columns of each, into registers from first on.
func doubles(first, n int) func(*asm) {
	return func(a *asm) {
		for i := range n {
			a.op("MOVQ columns_v+%d(DI), R11", 8*i)
			a.op("VMOVUPD (R11)(AX*2), Y%d", first+2*i)
			a.op("VMOVUPD 32(R11)(AX*2), Y%d", first+2*i+1)
		}
	}
}

func storeDoubles(n int) func(*asm) {
	return func(a *asm) {
		for i := range n {
			a.op("MOVQ columns_v+%d(DI), R11", 8*i)
			a.op("VMOVUPD Y%d, (R11)(AX*2)", 2*i)
			a.op("VMOVUPD Y%d, 32(R11)(AX*2)", 2*i+1)
		}
	}
}

// singles loads n vectors of float32, eight columns of each, into Y15 and down.
func singles(n int) func(*asm) {
	return func(a *asm) {
		for i := range n {
			a.op("MOVQ columns_w+%d(DI), R11", 8*i)
			a.op("VMOVUPS (R11)(AX*1), Y%d", 15-i)
		}
	}
}

func storeSingles(a *asm) { a.op("VMOVUPS Y15, (R11)(AX*1)") }

// element returns four columns of a row of a matrix.
func element(matrix, half int) string {
	return fmt.Sprintf("%d(%s)(AX*1)", 16*half, matrixRows[matrix])
}

func columnSums(a *asm) {
	for h := range 2 {
		a.op("VCVTPS2PD %s, Y%d", element(0, h), 8+h)
		a.op("VADDPD Y%d, Y%d, Y%d", 8+h, h, h)
	}
}

// columnSquares: sums in Y0 and Y1, means in Y2 and Y3.
func columnSquares(a *asm) {
	for h := range 2 {
		a.op("VCVTPS2PD %s, Y%d", element(0, h), 8+h)
		a.op("VSUBPD Y%d, Y%d, Y%d", 2+h, 8+h, 8+h)
		a.op("VMULPD Y%d, Y%d, Y%d", 8+h, 8+h, 8+h)
		a.op("VADDPD Y%d, Y%d, Y%d", 8+h, h, h)
	}
}

// columnDots: sums in Y0 and Y1, dot products in Y2 and Y3.
func columnDots(a *asm) {
	for h := range 2 {
		a.op("VCVTPS2PD %s, Y%d", element(0, h), 8+h)
		a.op("VCVTPS2PD %s, Y%d", element(1, h), 10+h)
		a.op("VADDPD Y%d, Y%d, Y%d", 8+h, h, h)
		a.op("VMULPD Y%d, Y%d, Y%d", 8+h, 10+h, 10+h)
		a.op("VADDPD Y%d, Y%d, Y%d", 10+h, 2+h, 2+h)
	}
}

func columnAdd(a *asm) { a.op("VADDPS %s, Y15, Y15", element(0, 0)) }

func columnMulAdd(a *asm) {
	a.op("VMOVUPS %s, Y0", element(0, 0))
	a.op("VMULPS %s, Y0, Y0", element(1, 0))
	a.op("VADDPS Y0, Y15, Y15")
}

// standardise: means in Y0 and Y1, inverse deviations in Y2 and Y3, gains in Y15, offsets in Y14.
func standardise(a *asm) {
	for h := range 2 {
		a.op("VCVTPS2PD %s, Y%d", element(0, h), 8+h)
		a.op("VSUBPD Y%d, Y%d, Y%d", h, 8+h, 8+h)
		a.op("VMULPD Y%d, Y%d, Y%d", 2+h, 8+h, 8+h)
	}
	a.narrow(8, 1)
	a.op("VMULPS Y15, Y8, Y8")
	a.op("VADDPS Y14, Y8, Y8")
	a.op("VMOVUPS Y8, %s", element(2, 0))
}

// narrow rounds registers from and from+1 to float32, into from, and stores it.
func (a *asm) narrow(start, matrix int) {
	for h := range 2 {
		a.op("VCVTPD2PSY Y%d, X%d", start+h, start+h)
	}
	a.op("VINSERTF128 $1, X%d, Y%d, Y%d", start+1, start, start)
	a.op("VMOVUPS Y%d, %s", start, element(matrix, 0))
}

// unstandardise: what is subtracted in Y0 and Y1, what the unit value is multiplied by in Y2 and Y3, what all is
// multiplied by in Y4 and Y5.
func unstandardise(a *asm) {
	for h := range 2 {
		a.op("VCVTPS2PD %s, Y%d", element(0, h), 8+h)
		a.op("VCVTPS2PD %s, Y%d", element(1, h), 10+h)
		a.op("VSUBPD Y%d, Y%d, Y%d", h, 8+h, 8+h)
		a.op("VMULPD Y%d, Y%d, Y%d", 2+h, 10+h, 10+h)
		a.op("VSUBPD Y%d, Y%d, Y%d", 10+h, 8+h, 8+h)
		a.op("VMULPD Y%d, Y%d, Y%d", 4+h, 8+h, 8+h)
	}
	a.narrow(8, 2)
}

func bendLoad(a *asm) {
	for i := range 7 {
		a.op("MOVQ columns_v+%d(DI), R11", 8*i)
		a.op("VMOVUPD (R11)(AX*2), Y%d", i)
	}
}

// bend: the matrices are dx, u, a and t, the vectors are bendGeneric's, in turn.
func bend(a *asm) {
	a.op("VCVTPS2PD %s, Y8", element(2, 0)) // along (a - ma)
	a.op("VSUBPD Y2, Y8, Y8")
	a.op("VMULPD Y1, Y8, Y8")
	a.op("VCVTPS2PD %s, Y9", element(3, 0)) // au (t - mean)
	a.op("VSUBPD Y4, Y9, Y9")
	a.op("VMULPD Y3, Y9, Y9")
	a.op("VADDPD Y9, Y8, Y8")
	a.op("VCVTPS2PD %s, Y9", element(1, 0)) // u c
	a.op("VMULPD Y0, Y9, Y9")
	a.op("VADDPD Y8, Y9, Y9")
	a.op("VMULPD Y5, Y9, Y9")
	a.op("VMULPD Y6, Y9, Y9")
	a.op("VMULPD Y6, Y9, Y9")
	a.op("VCVTPD2PSY Y9, X9")
	a.op("VMOVUPS %s, X8", element(0, 0))
	a.op("VSUBPS X9, X8, X8")
	a.op("VMOVUPS X8, %s", element(0, 0))
}
