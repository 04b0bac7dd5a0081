package main

// elementwise is one loop over slices of the same length.
type elementwise struct {
	name    string
	slices  []string
	first   int      // offset of the first slice among the arguments
	scalars []string // their registers are Y14, Y13, ...
	offset  int      // offset of the first scalar
	size    int      // bytes of all arguments
	unroll  int
	setup   func(*asm)
	body    func(operand)
}

func vectors() string {
	a := newAsm()
	a.expConstants()
	a.tanhConstants()
	a.constant("whole", 1<<23)
	a.bits("magnitude", 1<<31-1)
	for _, e := range []elementwise{
		{name: "leakyReLUAVX2", slices: []string{"dst", "x"}, scalars: []string{"slope"}, offset: 48, size: 52, unroll: 4,
			setup: zeroY12, body: leaky("x")},
		{name: "leakyReLUBackwardAVX2", slices: []string{"dst", "grad", "x"}, scalars: []string{"slope"}, offset: 72,
			size: 76, unroll: 4, setup: zeroY12, body: leaky("grad")},
		{name: "tanhAVX2", slices: []string{"dst", "x"}, size: 48, unroll: 1, body: tanh},
		{name: "tanhBackwardAVX2", slices: []string{"dst", "grad", "out"}, size: 72, unroll: 2, setup: oneY12,
			body: tanhBackward},
		{name: "sigmoidAVX2", slices: []string{"dst", "x"}, size: 48, unroll: 1, setup: oneY12, body: sigmoid},
		{name: "sigmoidBackwardAVX2", slices: []string{"dst", "grad", "out"}, size: 72, unroll: 2, setup: oneY12,
			body: sigmoidBackward},
		{name: "axpyAVX2", slices: []string{"x", "y"}, first: 8, scalars: []string{"alpha"}, size: 56, unroll: 4, body: axpy},
		{name: "scaleAVX2", slices: []string{"x"}, first: 8, scalars: []string{"alpha"}, size: 32, unroll: 4, body: scale},
		{name: "addAVX2", slices: []string{"dst", "x", "y"}, size: 72, unroll: 4, body: binary("VADDPS")},
		{name: "mulAVX2", slices: []string{"dst", "x", "y"}, size: 72, unroll: 4, body: binary("VMULPS")},
		{name: "clampAVX2", slices: []string{"x"}, scalars: []string{"lo", "hi"}, offset: 24, size: 32, unroll: 4,
			body: clamp},
		{name: "latticeRoundAVX2", slices: []string{"dst"}, scalars: []string{"step", "inverse"}, offset: 24, size: 32,
			unroll: 4, body: lattice},
	} {
		e.write(a)
	}
	sumSquares(a)
	return a.String()
}

func (e elementwise) write(a *asm) {
	a.text(e.name, e.size)
	p := operand{asm: a, pointer: a.slices(e.slices, e.first), mask: 15}
	for i, s := range e.scalars {
		a.op("VBROADCASTSS %s+%d(FP), Y%d", s, e.offset+4*i, 14-i)
	}
	if e.setup != nil {
		e.setup(a)
	}
	turns(p, e.unroll, e.body)
	a.ret()
}

func zeroY12(a *asm) { a.op("VXORPS Y12, Y12, Y12") }

func oneY12(a *asm) { a.op("VMOVUPS %s, Y12", constant("one")) }

// leaky takes value where x > 0 and slope*value elsewhere.
func leaky(value string) func(operand) {
	return func(p operand) {
		p.load(value, 0)
		x := 0
		if value != "x" {
			p.load("x", 3)
			x = 3
		}
		p.op("VMULPS Y14, Y0, Y1")
		p.op("VCMPPS $0x1e, Y12, Y%d, Y2", x) // x > 0, false for NaN
		p.op("VBLENDVPS Y2, Y0, Y1, Y1")
		p.store(1, "dst")
	}
}

func tanh(p operand) {
	p.load("x", 0)
	p.tanh()
	p.store(0, "dst")
}

func tanhBackward(p operand) {
	p.load("out", 0)
	p.load("grad", 1)
	p.op("VMULPS Y0, Y0, Y0")
	p.op("VSUBPS Y0, Y12, Y0")
	p.op("VMULPS Y0, Y1, Y0")
	p.store(0, "dst")
}

func sigmoid(p operand) {
	p.load("x", 0)
	p.op("VXORPS %s, Y0, Y0", constant("sign"))
	p.exp()
	p.op("VADDPS Y12, Y0, Y0")
	p.op("VDIVPS Y0, Y12, Y0")
	p.store(0, "dst")
}

func sigmoidBackward(p operand) {
	p.load("out", 0)
	p.load("grad", 1)
	p.op("VSUBPS Y0, Y12, Y2")
	p.op("VMULPS Y2, Y0, Y0")
	p.op("VMULPS Y0, Y1, Y0")
	p.store(0, "dst")
}

func axpy(p operand) {
	p.load("x", 0)
	p.load("y", 1)
	p.op("VMULPS Y0, Y14, Y0")
	p.op("VADDPS Y0, Y1, Y1")
	p.store(1, "y")
}

func scale(p operand) {
	p.load("x", 0)
	p.op("VMULPS Y0, Y14, Y0")
	p.store(0, "x")
}

func binary(op string) func(operand) {
	return func(p operand) {
		p.load("x", 0)
		p.load("y", 1)
		p.op("%s Y1, Y0, Y0", op)
		p.store(0, "dst")
	}
}

// clamp keeps NaN, because VMAXPS and VMINPS return their second source, the first
// operand here, when one is NaN.
func clamp(p operand) {
	p.load("x", 0)
	p.op("VMAXPS Y0, Y14, Y0")
	p.op("VMINPS Y0, Y13, Y0")
	p.store(0, "x")
}

// lattice rounds x/step to an integer where it is below 2^23 in size; elsewhere,
// and for NaN, x is on the lattice already or not a number.
func lattice(p operand) {
	p.load("dst", 0)
	p.op("VMULPS Y13, Y0, Y1")
	p.op("VANDPS %s, Y1, Y2", constant("magnitude"))
	p.op("VCMPPS $0x11, %s, Y2, Y2", constant("whole"))
	p.op("VROUNDPS $8, Y1, Y1")
	p.op("VMULPS Y14, Y1, Y1")
	p.op("VBLENDVPS Y2, Y1, Y0, Y0")
	p.store(0, "dst")
}

// sumSquares keeps lanes 0 to 3 in Y10 and lanes 4 to 7 in Y11, as float64.
func sumSquares(a *asm) {
	a.text("sumSquaresAVX2", 32)
	p := operand{asm: a, pointer: a.slices([]string{"x"}, 0), mask: 15}
	a.op("VXORPD Y10, Y10, Y10")
	a.op("VXORPD Y11, Y11, Y11")
	turns(p, 4, func(p operand) {
		p.load("x", 0)
		p.op("VEXTRACTF128 $1, Y0, X1")
		p.op("VCVTPS2PD X0, Y0")
		p.op("VCVTPS2PD X1, Y1")
		p.op("VMULPD Y0, Y0, Y0")
		p.op("VMULPD Y1, Y1, Y1")
		p.op("VADDPD Y0, Y10, Y10")
		p.op("VADDPD Y1, Y11, Y11")
	})
	a.op("VADDPD Y11, Y10, Y0")
	a.op("VEXTRACTF128 $1, Y0, X1")
	a.op("VADDPD X1, X0, X0")
	a.op("VPERMILPD $1, X0, X1")
	a.op("VADDSD X1, X0, X0")
	a.op("VMOVSD X0, ret+24(FP)")
	a.ret()
}
