package main

import (
	"fmt"
	"math"
)

// signatures are the Go declarations of the assembly, as in asm_amd64.go.
var signatures = map[string]string{
	"panel16AVX2":           "panel16AVX2(p *panel)",
	"panel8AVX2":            "panel8AVX2(p *panel)",
	"panelMaskedAVX2":       "panelMaskedAVX2(p *panel)",
	"panel32AVX512":         "panel32AVX512(p *panel)",
	"panelMaskedAVX512":     "panelMaskedAVX512(p *panel)",
	"transposeAVX2":         "transposeAVX2(dst *float32, ldd int, src *float32, lds, blocks int)",
	"leakyReLUAVX2":         "leakyReLUAVX2(dst, x []float32, slope float32)",
	"leakyReLUBackwardAVX2": "leakyReLUBackwardAVX2(dst, grad, x []float32, slope float32)",
	"tanhAVX2":              "tanhAVX2(dst, x []float32)",
	"tanhBackwardAVX2":      "tanhBackwardAVX2(dst, grad, out []float32)",
	"sigmoidAVX2":           "sigmoidAVX2(dst, x []float32)",
	"sigmoidBackwardAVX2":   "sigmoidBackwardAVX2(dst, grad, out []float32)",
	"axpyAVX2":              "axpyAVX2(alpha float32, x, y []float32)",
	"scaleAVX2":             "scaleAVX2(alpha float32, x []float32)",
	"addAVX2":               "addAVX2(dst, x, y []float32)",
	"mulAVX2":               "mulAVX2(dst, x, y []float32)",
	"clampAVX2":             "clampAVX2(x []float32, lo, hi float32)",
	"latticeRoundAVX2":      "latticeRoundAVX2(dst []float32, step, inverse float32)",
	"sumSquaresAVX2":        "sumSquaresAVX2(x []float32) float64",
	"rowDotsAVX2":           "rowDotsAVX2(dst, x, y []float32, rows, cols, ldx, ldy int)",
	"scaleRowsAVX2":         "scaleRowsAVX2(dst, x []float32, rows, cols, ldd, ldx int, s []float32)",
	"rowSquaresAVX512":      "rowSquaresAVX512(dst, x []float32, rows, cols, ldx int)",
	"scaleRowsAVX512":       "scaleRowsAVX512(dst, x []float32, rows, cols, ldd, ldx int, s []float32)",
	"softmaxAVX2":           "softmaxAVX2(dst, x []float32, rows, cols, ldd, ldx int)",
	"columnSumsAVX2":        "columnSumsAVX2(c *columns)",
	"columnSquaresAVX2":     "columnSquaresAVX2(c *columns)",
	"columnDotsAVX2":        "columnDotsAVX2(c *columns)",
	"columnAddAVX2":         "columnAddAVX2(c *columns)",
	"columnMulAddAVX2":      "columnMulAddAVX2(c *columns)",
	"standardiseAVX2":       "standardiseAVX2(c *columns)",
	"unstandardiseAVX2":     "unstandardiseAVX2(c *columns)",
	"bendAVX2":              "bendAVX2(c *columns)",
	"adamAVX2":              "adamAVX2(w, m, v, g, noise []float32, c adamCoefficients)",
	"rmsPropAVX2":           "rmsPropAVX2(w, v, g, noise []float32, c rmsPropCoefficients)",
	"momentumAVX2":          "momentumAVX2(w, m, g, noise []float32, c momentumCoefficients)",
}

// slicePointers are the registers of the slices of a loop, in the order of arguments.
// AX is the index of the element, CX the number of elements left.
var slicePointers = []string{"DI", "SI", "DX", "BX", "R8"}

// operand is a place in a loop: where in the turn, and whether lanes are masked.
type operand struct {
	*asm
	pointer map[string]string
	offset  int
	masked  bool
	mask    int // the register of the mask
}

func (p operand) load(slice string, y int) {
	if p.masked {
		p.op("VMASKMOVPS (%s)(AX*4), Y%d, Y%d", p.pointer[slice], p.mask, y)
		return
	}
	p.op("VMOVUPS %d(%s)(AX*4), Y%d", p.offset, p.pointer[slice], y)
}

func (p operand) store(y int, slice string) {
	if p.masked {
		p.op("VMASKMOVPS Y%d, Y%d, (%s)(AX*4)", y, p.mask, p.pointer[slice])
		return
	}
	p.op("VMOVUPS Y%d, %d(%s)(AX*4)", y, p.offset, p.pointer[slice])
}

// maskOf loads into y a mask of the first CX lanes of 8; it uses R10 and R11.
func (a *asm) maskOf(count string, y int) {
	a.op("LEAQ ·lanes+64(SB), R10")
	a.op("MOVQ %s, R11", count)
	a.op("SHLQ $2, R11")
	a.op("SUBQ R11, R10")
	a.op("VMOVUPS (R10), Y%d", y)
}

// turns writes a loop over CX elements: unroll vectors a turn, then single vectors,
// then the last lanes under a mask.
func turns(p operand, unroll int, body func(operand)) {
	single, tail, done := p.fresh("single"), p.fresh("tail"), p.fresh("done")
	p.op("XORQ AX, AX")
	if unroll > 1 {
		loop := p.fresh("loop")
		p.op("CMPQ CX, $%d", 8*unroll)
		p.op("JLT %s", single)
		p.op("PCALIGN $32")
		p.to(loop)
		for u := range unroll {
			p.offset = 32 * u
			body(p)
		}
		p.offset = 0
		p.op("ADDQ $%d, AX", 8*unroll)
		p.op("SUBQ $%d, CX", 8*unroll)
		p.op("CMPQ CX, $%d", 8*unroll)
		p.op("JGE %s", loop)
	}
	p.to(single)
	p.op("CMPQ CX, $8")
	p.op("JLT %s", tail)
	body(p)
	p.op("ADDQ $8, AX")
	p.op("SUBQ $8, CX")
	p.op("JMP %s", single)
	p.to(tail)
	p.op("TESTQ CX, CX")
	p.op("JZ %s", done)
	p.maskOf("CX", p.mask)
	p.masked = true
	body(p)
	p.to(done)
}

// slices loads the pointers of the slices and, from the first, the length into CX.
func (a *asm) slices(names []string, first int) map[string]string {
	pointer := map[string]string{}
	for i, n := range names {
		a.op("MOVQ %s_base+%d(FP), %s", n, first+24*i, slicePointers[i])
		pointer[n] = slicePointers[i]
	}
	a.op("MOVQ %s_len+%d(FP), CX", names[0], first+8)
	return pointer
}

// constant writes a read-only vector of eight copies of value and returns its name.
func (a *asm) constant(name string, value float32) {
	a.bits(name, math.Float32bits(value))
}

func (a *asm) bits(name string, bits uint32) {
	for i := range 8 {
		a.raw("DATA %s<>+%d(SB)/4, $0x%08x", name, 4*i, bits)
	}
	a.raw("GLOBL %s<>(SB), RODATA|NOPTR, $32", name)
}

func constant(name string) string { return fmt.Sprintf("%s<>(SB)", name) }
