package main

func rowKernels() string {
	a := newAsm()
	a.expConstants()
	a.bits("lowest", 0xff800000) // -Inf
	rowDots(a)
	scaleRows(a)
	softmax(a)
	rowSquares512(a)
	scaleRows512(a)
	return a.String()
}

// rowLoop runs body for each of R9 rows; skip leaves it when there are none.
func rowLoop(a *asm, body func()) {
	next, done := a.fresh("row"), a.fresh("end")
	a.op("TESTQ R9, R9")
	a.op("JZ %s", done)
	a.to(next)
	body()
	a.op("DECQ R9")
	a.op("JNZ %s", next)
	a.to(done)
}

// stride loads a row stride into reg, in bytes.
func (a *asm) stride(name string, offset int, reg string) {
	a.op("MOVQ %s+%d(FP), %s", name, offset, reg)
	a.op("SHLQ $2, %s", reg)
}

// tailMask sets R13 to cols (R12) modulo 8 and Y15 to the mask of these lanes.
func (a *asm) tailMask() {
	a.op("MOVQ R12, R13")
	a.op("ANDQ $7, R13")
	a.maskOf("R13", 15)
}

// sum8 adds the lanes of Y0 into X0, as the Go function of that name.
func (a *asm) sum8() {
	a.op("VEXTRACTF128 $1, Y0, X1")
	a.op("VADDPS X1, X0, X0")
	a.op("VPERMILPS $0x0e, X0, X1")
	a.op("VADDPS X1, X0, X0")
	a.op("VPERMILPS $1, X0, X1")
	a.op("VADDSS X1, X0, X0")
}

// rowDots sums 16 lanes in Y0 and Y1: the last whole vector and the last lanes go
// where their columns modulo 16 belong.
func rowDots(a *asm) {
	a.text("rowDotsAVX2", 104)
	a.slices([]string{"dst", "x", "y"}, 0)
	a.op("MOVQ rows+72(FP), R9")
	a.op("MOVQ cols+80(FP), R12")
	a.tailMask()
	a.stride("ldx", 88, "R10")
	a.stride("ldy", 96, "R11")
	x, y := "(SI)(AX*4)", "(DX)(AX*4)"
	rowLoop(a, func() {
		loop, after, odd, sum := a.fresh("loop"), a.fresh("after"), a.fresh("odd"), a.fresh("sum")
		a.op("VXORPS Y0, Y0, Y0")
		a.op("VXORPS Y1, Y1, Y1")
		a.op("XORQ AX, AX")
		a.op("MOVQ R12, CX")
		a.to(loop)
		a.op("CMPQ CX, $16")
		a.op("JLT %s", after)
		a.product(x, y, "", 2)
		a.product("32"+x, "32"+y, "", 3)
		a.op("VADDPS Y2, Y0, Y0")
		a.op("VADDPS Y3, Y1, Y1")
		a.op("ADDQ $16, AX")
		a.op("SUBQ $16, CX")
		a.op("JMP %s", loop)
		a.to(after)
		a.op("CMPQ CX, $8")
		a.op("JGE %s", odd)
		a.op("TESTQ R13, R13")
		a.op("JZ %s", sum)
		a.product(x, y, "Y15", 2)
		a.op("VADDPS Y2, Y0, Y0")
		a.op("JMP %s", sum)
		a.to(odd)
		a.product(x, y, "", 2)
		a.op("VADDPS Y2, Y0, Y0")
		a.op("TESTQ R13, R13")
		a.op("JZ %s", sum)
		a.op("ADDQ $8, AX")
		a.product(x, y, "Y15", 3)
		a.op("VADDPS Y3, Y1, Y1")
		a.to(sum)
		a.op("VADDPS Y1, Y0, Y0")
		a.sum8()
		a.op("VMOVSS X0, (DI)")
		a.op("ADDQ $4, DI")
		a.op("ADDQ R10, SI")
		a.op("ADDQ R11, DX")
	})
	a.ret()
}

// product sets register to to x*y, under a mask if one is named.
func (a *asm) product(x, y, mask string, end int) {
	if mask == "" {
		a.op("VMOVUPS %s, Y%d", x, end)
		a.op("VMULPS %s, Y%d, Y%d", y, end, end)
		return
	}
	a.op("VMASKMOVPS %s, %s, Y%d", x, mask, end)
	a.op("VMASKMOVPS %s, %s, Y4", y, mask)
	a.op("VMULPS Y4, Y%d, Y%d", end, end)
}

// scaleRows multiplies each row of x by its weight into dst.
func scaleRows(a *asm) {
	a.text("scaleRowsAVX2", 104)
	a.op("MOVQ dst_base+0(FP), DI")
	a.op("MOVQ x_base+24(FP), SI")
	a.op("MOVQ rows+48(FP), R9")
	a.op("MOVQ cols+56(FP), R12")
	a.tailMask()
	a.stride("ldd", 64, "R10")
	a.stride("ldx", 72, "R11")
	a.op("MOVQ s_base+80(FP), DX")
	rowLoop(a, func() {
		a.op("VBROADCASTSS (DX), Y14")
		p := operand{asm: a, pointer: map[string]string{"dst": "DI", "x": "SI"}, mask: 15}
		rowTurns(p, func(p operand) {
			p.load("x", 0)
			p.op("VMULPS Y14, Y0, Y0")
			p.store(0, "dst")
		})
		a.op("ADDQ $4, DX")
		a.op("ADDQ R10, DI")
		a.op("ADDQ R11, SI")
	})
	a.ret()
}

// rowTurns writes a loop over the R12 columns of a row, with the mask of tailMask.
func rowTurns(p operand, body func(operand)) {
	loop, tail, done := p.fresh("loop"), p.fresh("tail"), p.fresh("done")
	p.op("XORQ AX, AX")
	p.op("MOVQ R12, CX")
	p.op("SUBQ $8, CX")
	p.op("JLT %s", tail)
	p.to(loop)
	body(p)
	p.op("ADDQ $8, AX")
	p.op("SUBQ $8, CX")
	p.op("JGE %s", loop)
	p.to(tail)
	p.op("TESTQ R13, R13")
	p.op("JZ %s", done)
	p.masked = true
	body(p)
	p.to(done)
}

// softmax goes over a row of more than 8 columns three times: the largest, the exponentials and their sum
// in 8 lanes, the quotients.
func softmax(a *asm) {
	a.text("softmaxAVX2", 80)
	a.op("MOVQ dst_base+0(FP), DI")
	a.op("MOVQ x_base+24(FP), SI")
	a.op("MOVQ rows+48(FP), R9")
	a.op("MOVQ cols+56(FP), R12")
	wide := a.fresh("wide")
	a.op("CMPQ R12, $8")
	a.op("JGT %s", wide)
	softmaxNarrow(a)
	a.to(wide)
	a.tailMask()
	a.stride("ldd", 64, "R10")
	a.stride("ldx", 72, "R11")
	p := operand{asm: a, pointer: map[string]string{"dst": "DI", "x": "SI"}, mask: 15}
	rowLoop(a, func() {
		a.op("VMOVUPS %s, Y14", constant("lowest"))
		rowTurns(p, func(p operand) {
			p.load("x", 0)
			if p.masked {
				p.op("VMOVUPS %s, Y1", constant("lowest"))
				p.op("VBLENDVPS Y15, Y0, Y1, Y0")
			}
			p.op("VMAXPS Y14, Y0, Y14") // keeps the largest so far if x is NaN
		})
		a.largest()
		a.op("VXORPS Y13, Y13, Y13")
		rowTurns(p, func(p operand) {
			p.load("x", 0)
			p.op("VSUBPS Y14, Y0, Y0")
			p.exp()
			p.store(0, "dst")
			if p.masked {
				p.op("VANDPS Y15, Y0, Y0")
			}
			p.op("VADDPS Y0, Y13, Y13")
		})
		a.op("VMOVUPS Y13, Y0")
		a.sum8()
		a.op("VBROADCASTSS X0, Y13")
		rowTurns(p, func(p operand) {
			p.load("dst", 0)
			p.op("VDIVPS Y13, Y0, Y0")
			p.store(0, "dst")
		})
		a.op("ADDQ R10, DI")
		a.op("ADDQ R11, SI")
	})
	a.ret()
}

// largest spreads the largest lane of Y14 over Y14; it uses Y1.
func (a *asm) largest() {
	a.op("VEXTRACTF128 $1, Y14, X1")
	a.op("VMAXPS X1, X14, X14")
	a.op("VPERMILPS $0x0e, X14, X1")
	a.op("VMAXPS X1, X14, X14")
	a.op("VPERMILPS $1, X14, X1")
	a.op("VMAXSS X1, X14, X14")
	a.op("VBROADCASTSS X14, Y14")
}

// softmaxNarrow keeps a row of at most 8 columns in one register. A NaN loses in
// VMAXPS, whose second source is the vector of -Inf, as in the wide loop.
func softmaxNarrow(a *asm) {
	a.maskOf("R12", 15)
	a.stride("ldd", 64, "R10")
	a.stride("ldx", 72, "R11")
	a.op("VMOVUPS %s, Y12", constant("lowest"))
	rowLoop(a, func() {
		a.op("VMASKMOVPS (SI), Y15, Y0")
		a.op("VBLENDVPS Y15, Y0, Y12, Y14")
		a.op("VMAXPS Y12, Y14, Y14")
		a.largest()
		a.op("VSUBPS Y14, Y0, Y0")
		a.exp()
		a.op("VMOVUPS Y0, Y13")
		a.op("VANDPS Y15, Y0, Y0")
		a.sum8()
		a.op("VBROADCASTSS X0, Y0")
		a.op("VDIVPS Y0, Y13, Y13")
		a.op("VMASKMOVPS Y13, Y15, (DI)")
		a.op("ADDQ R10, DI")
		a.op("ADDQ R11, SI")
	})
	a.ret()
}
