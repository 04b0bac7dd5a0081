package main

// optimiser is one update; its coefficients stand in Y15, Y14, ... and the
// gradient (g+noise)*gscale in Y0 when body runs. Y7 is the mask.
type optimiser struct {
	name         string
	slices       []string
	coefficients []string
	body         func(operand)
}

func optimisers() string {
	a := newAsm()
	for _, o := range []optimiser{
		{"adamAVX2", []string{"w", "m", "v", "g", "noise"}, []string{"gscale", "beta1", "rest1", "beta2", "rest2", "root",
			"eps", "step"}, adam},
		{"rmsPropAVX2", []string{"w", "v", "g", "noise"}, []string{"gscale", "alpha", "rest", "eps", "step"}, rmsProp},
		{"momentumAVX2", []string{"w", "m", "g", "noise"}, []string{"gscale", "momentum", "step"}, momentum},
	} {
		o.write(a)
	}
	return a.String()
}

func (o optimiser) write(a *asm) {
	first := 24 * len(o.slices)
	a.text(o.name, first+4*len(o.coefficients))
	pointer := a.slices(o.slices, 0)
	for i, c := range o.coefficients {
		a.op("VBROADCASTSS c_%s+%d(FP), Y%d", c, first+4*i, 15-i)
	}
	p := operand{asm: a, pointer: pointer, mask: 7}
	plain := a.fresh("plain")
	a.op("TESTQ %s, %s", pointer["noise"], pointer["noise"])
	a.op("JZ %s", plain)
	turns(p, 1, func(p operand) {
		p.load("g", 0)
		p.load("noise", 1)
		p.op("VADDPS Y1, Y0, Y0")
		p.op("VMULPS Y15, Y0, Y0")
		o.body(p)
	})
	a.ret()
	a.to(plain)
	turns(p, 1, func(p operand) {
		p.load("g", 0)
		p.op("VMULPS Y15, Y0, Y0")
		o.body(p)
	})
	a.ret()
}

// average sets Y1 = keep*slice + rest*Y2 and stores it.
func (p operand) average(slice, keep, rest string) {
	p.load(slice, 1)
	p.op("VMULPS %s, Y1, Y1", keep)
	p.op("VMULPS %s, Y2, Y2", rest)
	p.op("VADDPS Y2, Y1, Y1")
	p.store(1, slice)
}

func adam(p operand) {
	p.op("VMOVUPS Y0, Y2")
	p.average("m", "Y14", "Y13")
	p.op("VMOVUPS Y1, Y3")
	p.op("VMULPS Y0, Y0, Y2")
	p.average("v", "Y12", "Y11")
	p.op("VSQRTPS Y1, Y1")
	p.op("VMULPS Y10, Y1, Y1")
	p.op("VADDPS Y9, Y1, Y1")
	p.op("VMULPS Y8, Y3, Y3")
	p.op("VDIVPS Y1, Y3, Y3")
	p.descend(3)
}

func rmsProp(p operand) {
	p.op("VMULPS Y0, Y0, Y2")
	p.average("v", "Y14", "Y13")
	p.op("VSQRTPS Y1, Y1")
	p.op("VADDPS Y12, Y1, Y1")
	p.op("VMULPS Y11, Y0, Y3")
	p.op("VDIVPS Y1, Y3, Y3")
	p.descend(3)
}

func momentum(p operand) {
	p.load("m", 1)
	p.op("VMULPS Y14, Y1, Y1")
	p.op("VADDPS Y0, Y1, Y1")
	p.store(1, "m")
	p.op("VMULPS Y13, Y1, Y1")
	p.descend(1)
}

// descend subtracts register y from the weights.
func (p operand) descend(y int) {
	p.load("w", 4)
	p.op("VSUBPS Y%d, Y4, Y4", y)
	p.store(4, "w")
}
