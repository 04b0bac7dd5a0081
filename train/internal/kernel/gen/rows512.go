package main

// AVX-512 row kernels: sixteen columns a turn and the last ones under mask K1.

// columns16 sets R13 to the number of whole turns of cols (R12), BX and K1 to the
// lanes of the rest.
func (a *asm) columns16() {
	a.op("MOVQ R12, R13")
	a.op("SHRQ $4, R13")
	a.op("MOVQ R12, CX")
	a.op("ANDQ $15, CX")
	a.op("MOVL $1, BX")
	a.op("SHLL CX, BX")
	a.op("DECL BX")
	a.op("KMOVW BX, K1")
}

// turns16 runs whole for each turn, CX counting them, and rest for what is left.
func (a *asm) turns16(whole, rest func()) {
	loop, after := a.fresh("loop"), a.fresh("after")
	a.op("MOVQ R13, CX")
	a.op("TESTQ CX, CX")
	a.op("JZ %s", after)
	a.to(loop)
	whole()
	a.op("DECQ CX")
	a.op("JNZ %s", loop)
	a.to(after)
	rest()
}

// rowSquares512 writes rowDots of x and x: each element is loaded once, and four rows
// are added up together.
func rowSquares512(a *asm) {
	a.text("rowSquaresAVX512", 72)
	a.slices([]string{"dst", "x"}, 0)
	a.op("MOVQ rows+48(FP), R9")
	a.op("MOVQ cols+56(FP), R12")
	a.stride("ldx", 64, "R10")
	a.columns16()
	a.op("LEAQ (R10)(R10*2), R8")
	four, one := a.fresh("four"), a.fresh("one")
	a.to(four)
	a.op("CMPQ R9, $4")
	a.op("JLT %s", one)
	a.squares16(4)
	a.sums4()
	a.op("VMOVUPS X4, (DI)")
	a.op("ADDQ $16, DI")
	a.op("LEAQ (SI)(R10*4), SI")
	a.op("SUBQ $4, R9")
	a.op("JMP %s", four)
	a.to(one)
	rowLoop(a, func() {
		a.squares16(1)
		a.op("VEXTRACTF64X4 $1, Z0, Y1")
		a.op("VADDPS Y1, Y0, Y0")
		a.sum8()
		a.op("VMOVSS X0, (DI)")
		a.op("ADDQ $4, DI")
		a.op("ADDQ R10, SI")
	})
	a.ret()
}

// squares16 adds up in 16 lanes of Z0, Z1, ... the squares of the given number of rows.
func (a *asm) squares16(rows int) {
	x := []string{"(BX)", "(BX)(R10*1)", "(BX)(R10*2)", "(BX)(R8*1)"}
	turn := func(load string) {
		for r := range rows {
			a.op(load, x[r], 8+r)
			a.op("VMULPS Z%d, Z%d, Z%d", 8+r, 8+r, 8+r)
			a.op("VADDPS Z%d, Z%d, Z%d", 8+r, r, r)
		}
	}
	for r := range rows {
		a.op("VPXORD Z%d, Z%d, Z%d", r, r, r)
	}
	a.op("MOVQ SI, BX")
	a.turns16(func() {
		turn("VMOVUPS %s, Z%d")
		a.op("ADDQ $64, BX")
	}, func() { turn("VMOVUPS.Z %s, K1, Z%d") })
}

// sums4 sets X4 to the sums of the lanes of Z0 to Z3, each added as by sum8.
func (a *asm) sums4() {
	for r := range 4 {
		a.op("VEXTRACTF64X4 $1, Z%d, Y4", r)
		a.op("VADDPS Y4, Y%d, Y%d", r, r)
		a.op("VEXTRACTF128 $1, Y%d, X4", r)
		a.op("VADDPS X4, X%d, X%d", r, r)
	}
	for r := 0; r < 4; r += 2 {
		a.op("VUNPCKLPD X%d, X%d, X4", r+1, r)
		a.op("VUNPCKHPD X%d, X%d, X5", r+1, r)
		a.op("VADDPS X5, X4, X%d", r)
	}
	a.op("VSHUFPS $0x88, X2, X0, X4")
	a.op("VSHUFPS $0xDD, X2, X0, X5")
	a.op("VADDPS X5, X4, X4")
}

func scaleRows512(a *asm) {
	a.text("scaleRowsAVX512", 104)
	a.op("MOVQ dst_base+0(FP), DI")
	a.op("MOVQ x_base+24(FP), SI")
	a.op("MOVQ rows+48(FP), R9")
	a.op("MOVQ cols+56(FP), R12")
	a.stride("ldd", 64, "R10")
	a.stride("ldx", 72, "R11")
	a.op("MOVQ s_base+80(FP), DX")
	a.columns16()
	rowLoop(a, func() {
		done := a.fresh("done")
		a.op("VBROADCASTSS (DX), Z2")
		a.op("XORQ AX, AX")
		a.turns16(func() {
			a.op("VMULPS (SI)(AX*4), Z2, Z1")
			a.op("VMOVUPS Z1, (DI)(AX*4)")
			a.op("ADDQ $16, AX")
		}, func() {
			a.op("TESTL BX, BX")
			a.op("JZ %s", done)
			a.op("VMOVUPS.Z (SI)(AX*4), K1, Z1")
			a.op("VMULPS Z1, Z2, Z1")
			a.op("VMOVUPS Z1, K1, (DI)(AX*4)")
			a.to(done)
		})
		a.op("ADDQ $4, DX")
		a.op("ADDQ R10, DI")
		a.op("ADDQ R11, SI")
	})
	a.ret()
}
