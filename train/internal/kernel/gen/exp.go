package main

// expConstants writes the constants of exp and tanh.
func (a *asm) expConstants() {
	for _, n := range expNumbers() {
		a.constant(n.name, float32(n.value))
	}
	a.constant("one", 1)
	a.bits("bias", 127)
}

func (a *asm) tanhConstants() { a.bits("sign", 1<<31) }

// expm1 takes x in Y0 apart as split does: 2^n to Y1 and exp(r)-1 to Y2; it uses Y3.
func (a *asm) expm1() {
	a.op("VMULPS %s, Y0, Y1", constant("log2e"))
	a.op("VROUNDPS $8, Y1, Y1") // n
	a.op("VMULPS %s, Y1, Y2", constant("ln2High"))
	a.op("VSUBPS Y2, Y0, Y0")
	a.op("VMULPS %s, Y1, Y2", constant("ln2Low"))
	a.op("VSUBPS Y2, Y0, Y0") // r
	a.op("VMULPS %s, Y0, Y2", constant("exp5"))
	for _, c := range []string{"exp4", "exp3", "exp2", "exp1"} {
		a.op("VADDPS %s, Y2, Y2", constant(c))
		a.op("VMULPS Y0, Y2, Y2")
	}
	a.op("VADDPS %s, Y2, Y2", constant("exp0"))
	a.op("VMULPS Y0, Y0, Y3")
	a.op("VMULPS Y3, Y2, Y2")
	a.op("VADDPS Y0, Y2, Y2")
	a.op("VCVTPS2DQ Y1, Y1") // 2^n by its exponent bits
	a.op("VPADDD %s, Y1, Y1", constant("bias"))
	a.op("VPSLLD $23, Y1, Y1")
}

// exp replaces Y0 by exp(Y0), step by step as exp32 does; it uses Y1 to Y5.
func (a *asm) exp() {
	a.op("VCMPPS $0x11, %s, Y0, Y5", constant("expLow")) // below the range
	a.op("VMOVUPS %s, Y1", constant("expHigh"))
	a.op("VMINPS Y0, Y1, Y0") // the second source, Y0, if it is NaN
	a.expm1()
	a.op("VADDPS %s, Y2, Y2", constant("one"))
	a.op("VMULPS Y1, Y2, Y2")
	a.op("VANDNPS Y2, Y5, Y0")
}

// tanh replaces Y0 by tanh(Y0), as tanh32 does; it uses Y1 to Y7.
func (a *asm) tanh() {
	a.op("VANDPS %s, Y0, Y7", constant("sign"))
	a.op("VXORPS Y7, Y0, Y0") // |x|
	a.op("VADDPS Y0, Y0, Y0")
	a.op("VMOVUPS %s, Y1", constant("tanhHigh"))
	a.op("VMINPS Y0, Y1, Y0")
	a.op("VXORPS %s, Y0, Y0", constant("sign"))
	a.expm1()
	a.op("VMULPS Y1, Y2, Y2")
	a.op("VMOVUPS %s, Y3", constant("one"))
	a.op("VSUBPS Y1, Y3, Y4")
	a.op("VSUBPS Y2, Y4, Y4")
	a.op("VADDPS Y1, Y3, Y3")
	a.op("VADDPS Y2, Y3, Y3")
	a.op("VDIVPS Y3, Y4, Y0")
	a.op("VORPS Y7, Y0, Y0")
}
