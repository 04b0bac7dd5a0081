package main

// expConstants writes the constants of exp and tanh; they are those of
// activation_generic.go, which names their source.
func (a *asm) expConstants() {
	a.constant("expHigh", 88.37626)
	a.constant("expLow", -87.336540)
	a.constant("log2e", 1.44269504)
	a.constant("ln2High", 0.693359375)
	a.constant("ln2Low", -2.12194440e-4)
	a.constant("exp0", 1.9875691500e-4)
	a.constant("exp1", 1.3981999507e-3)
	a.constant("exp2", 8.3334519073e-3)
	a.constant("exp3", 4.1665795894e-2)
	a.constant("exp4", 1.6666665459e-1)
	a.constant("exp5", 5.0000001201e-1)
	a.constant("one", 1)
	a.bits("bias", 127)
}

func (a *asm) tanhConstants() {
	a.constant("tanh0", -5.70498872745e-3)
	a.constant("tanh1", 2.06390887954e-2)
	a.constant("tanh2", -5.37397155531e-2)
	a.constant("tanh3", 1.33314422036e-1)
	a.constant("tanh4", -3.33332819422e-1)
	a.constant("tanhSmall", 0.625)
	a.constant("tanhLarge", 20)
	a.constant("two", 2)
	a.bits("sign", 1<<31)
}

// exp replaces Y0 by exp(Y0), step by step as exp32 does; it uses Y1 to Y5.
func (a *asm) exp() {
	a.op("VCMPPS $0x11, %s, Y0, Y5", constant("expLow")) // below the range
	a.op("VMOVUPS %s, Y1", constant("expHigh"))
	a.op("VMINPS Y0, Y1, Y0") // the second source, Y0, if it is NaN
	a.op("VMULPS %s, Y0, Y1", constant("log2e"))
	a.op("VROUNDPS $8, Y1, Y1") // n
	a.op("VMULPS %s, Y1, Y2", constant("ln2High"))
	a.op("VSUBPS Y2, Y0, Y0")
	a.op("VMULPS %s, Y1, Y2", constant("ln2Low"))
	a.op("VSUBPS Y2, Y0, Y0") // r
	a.op("VMULPS %s, Y0, Y2", constant("exp0"))
	for _, c := range []string{"exp1", "exp2", "exp3", "exp4"} {
		a.op("VADDPS %s, Y2, Y2", constant(c))
		a.op("VMULPS Y0, Y2, Y2")
	}
	a.op("VADDPS %s, Y2, Y2", constant("exp5"))
	a.op("VMULPS Y0, Y0, Y3")
	a.op("VMULPS Y3, Y2, Y2")
	a.op("VADDPS Y0, Y2, Y2")
	a.op("VADDPS %s, Y2, Y2", constant("one"))
	a.op("VCVTPS2DQ Y1, Y1") // 2^n by its exponent bits
	a.op("VPADDD %s, Y1, Y1", constant("bias"))
	a.op("VPSLLD $23, Y1, Y1")
	a.op("VMULPS Y1, Y2, Y2")
	a.op("VANDNPS Y2, Y5, Y0")
}

// tanh replaces Y0 by tanh(Y0), as tanh32 does; it uses Y1 to Y9.
func (a *asm) tanh() {
	a.op("VMOVUPS Y0, Y6") // x
	a.op("VANDPS %s, Y6, Y7", constant("sign"))
	a.op("VXORPS Y7, Y6, Y0")                               // |x|
	a.op("VCMPPS $0x11, %s, Y0, Y8", constant("tanhSmall")) // where the polynomial holds
	a.op("VADDPS Y0, Y0, Y0")
	a.op("VMOVUPS %s, Y1", constant("tanhLarge"))
	a.op("VMINPS Y0, Y1, Y0")
	a.exp()
	a.op("VADDPS %s, Y0, Y0", constant("one"))
	a.op("VMOVUPS %s, Y1", constant("two"))
	a.op("VDIVPS Y0, Y1, Y0")
	a.op("VMOVUPS %s, Y1", constant("one"))
	a.op("VSUBPS Y0, Y1, Y0")
	a.op("VORPS Y7, Y0, Y9") // the outer branch
	a.op("VMULPS Y6, Y6, Y1")
	a.op("VMULPS %s, Y1, Y2", constant("tanh0"))
	for _, c := range []string{"tanh1", "tanh2", "tanh3", "tanh4"} {
		a.op("VADDPS %s, Y2, Y2", constant(c))
		a.op("VMULPS Y1, Y2, Y2")
	}
	a.op("VMULPS Y6, Y2, Y2")
	a.op("VADDPS Y6, Y2, Y2")
	a.op("VBLENDVPS Y8, Y2, Y9, Y0")
}
