package main

import "fmt"

// shape is one kernel of the matrix product: up to rows rows of C by vectors
// registers of columns.
type shape struct {
	name          string
	rows, vectors int
	wide          bool // 512-bit registers
	masked        bool // the panel has fewer columns than the registers
}

// General registers of a panel routine. DX is the row stride of C outside the loop
// over k and the counter inside it.
const (
	regPanel, regA, regARun, regARow, regARow3, regARow5, regARow7 = "DI", "AX", "SI", "R8", "R9", "R10", "R14"
	regACol, regB, regBRun, regLdb, regC, regCount                 = "R11", "BX", "R13", "R12", "CX", "DX"
)

func gemm() string {
	a := newAsm()
	for _, s := range []shape{
		{name: "panel16AVX2", rows: 6, vectors: 2},
		{name: "panel8AVX2", rows: 8, vectors: 1},
		{name: "panelMaskedAVX2", rows: 8, vectors: 1, masked: true},
		{name: "panel32AVX512", rows: 8, vectors: 2, wide: true},
		{name: "panelMaskedAVX512", rows: 8, vectors: 2, wide: true, masked: true},
	} {
		s.routine(a)
	}
	transpose(a)
	return a.String()
}

func (s shape) bytes() int {
	if s.wide {
		return 64
	}
	return 32
}

func (s shape) reg(i int) string {
	if s.wide {
		return fmt.Sprintf("Z%d", i)
	}
	return fmt.Sprintf("Y%d", i)
}

// Vector registers: first the sums, then the vectors of B, the broadcast elements
// of A (two, taken in turn) and, with masks on AVX2, the mask.
func (s shape) sum(row, v int) string { return s.reg(row*s.vectors + v) }
func (s shape) b(v int) string        { return s.reg(s.rows*s.vectors + v) }
func (s shape) bcast(row int) string  { return s.reg(s.rows*s.vectors + s.vectors + row%2) }
func (s shape) mask() string          { return s.reg(s.rows*s.vectors + s.vectors + 2) }

// routine writes the loop over the rows of a panel. Blocks of s.rows rows come
// first; a remainder is cut so that no block is smaller than three rows unless
// the panel is, because the sums of one or two rows wait for each other.
func (s shape) routine(a *asm) {
	a.text(s.name, 8)
	a.op("MOVQ p+0(FP), %s", regPanel)
	for _, l := range [][2]string{{"a", regA}, {"aRow", regARow}, {"aCol", regACol}, {"b", regB}, {"ldb", regLdb},
		{"c", regC}} {
		a.op("MOVQ panel_%s(%s), %s", l[0], regPanel, l[1])
	}
	a.op("LEAQ (%s)(%s*2), %s", regARow, regARow, regARow3)
	a.op("LEAQ (%s)(%s*4), %s", regARow, regARow, regARow5)
	if s.rows > 7 {
		a.op("LEAQ (%s)(%s*4), %s", regARow3, regARow, regARow7)
	}
	s.loadMasks(a)
	next, done := a.fresh("next"), a.fresh("done")
	a.to(next)
	a.op("MOVQ panel_m(%s), %s", regPanel, regCount)
	full, four := a.fresh("rows"), a.fresh("rows")
	labels := make([]string, s.rows)
	a.op("CMPQ %s, $%d", regCount, s.rows+2)
	a.op("JGT %s", full)
	a.op("CMPQ %s, $%d", regCount, s.rows)
	a.op("JGT %s", four)
	a.op("JEQ %s", full)
	for r := s.rows - 1; r > 0; r-- {
		labels[r] = a.fresh("rows")
		if r == 4 {
			labels[r] = four
		}
		a.op("CMPQ %s, $%d", regCount, r)
		a.op("JEQ %s", labels[r])
	}
	a.op("JMP %s", done)
	for r := s.rows; r > 0; r-- {
		if r == s.rows {
			a.to(full)
		} else {
			a.to(labels[r])
		}
		s.tile(a, r)
		a.op("SUBQ $%d, panel_m(%s)", r, regPanel)
		a.op("JMP %s", next)
	}
	a.to(done)
	a.ret()
}

func (s shape) loadMasks(a *asm) {
	switch {
	case s.masked && s.wide:
		a.op("KMOVW panel_low(%s), K1", regPanel)
		a.op("KMOVW panel_high(%s), K2", regPanel)
	case s.masked:
		a.op("MOVQ panel_mask(%s), %s", regPanel, regARun)
		a.op("VMOVUPS (%s), %s", regARun, s.mask())
	}
}

// load and store move one vector of a row of B or C.
func (s shape) load(a *asm, base string, v int, newName string) {
	switch {
	case s.masked && s.wide:
		a.op("VMOVUPS.Z %d(%s), K%d, %s", v*s.bytes(), base, v+1, newName)
	case s.masked:
		a.op("VMASKMOVPS (%s), %s, %s", base, s.mask(), newName)
	default:
		a.op("VMOVUPS %d(%s), %s", v*s.bytes(), base, newName)
	}
}

func (s shape) store(a *asm, oldName, base string, v int) {
	switch {
	case s.masked && s.wide:
		a.op("VMOVUPS %s, K%d, %d(%s)", oldName, v+1, v*s.bytes(), base)
	case s.masked:
		a.op("VMASKMOVPS %s, %s, (%s)", oldName, s.mask(), base)
	default:
		a.op("VMOVUPS %s, %d(%s)", oldName, v*s.bytes(), base)
	}
}

// tile writes the product for rows rows of C and moves on to the rows below.
func (s shape) tile(a *asm, rows int) {
	s.start(a, rows)
	loop := a.fresh("loop")
	a.op("MOVQ %s, %s", regA, regARun)
	a.op("MOVQ %s, %s", regB, regBRun)
	a.op("MOVQ panel_k(%s), %s", regPanel, regCount)
	a.op("PCALIGN $32")
	a.to(loop)
	for v := range s.vectors {
		s.load(a, regBRun, v, s.b(v))
	}
	for r := range rows {
		a.op("VBROADCASTSS %s, %s", rowAddress(r), s.bcast(r))
		for v := range s.vectors {
			a.op("VFMADD231PS %s, %s, %s", s.b(v), s.bcast(r), s.sum(r, v))
		}
	}
	a.op("ADDQ %s, %s", regACol, regARun)
	a.op("ADDQ %s, %s", regLdb, regBRun)
	a.op("DECQ %s", regCount)
	a.op("JNZ %s", loop)
	s.finish(a, rows)
	for range rows {
		a.op("ADDQ %s, %s", regARow, regA)
	}
}

// rowAddress returns element k of row r of the block of A.
func rowAddress(r int) string {
	return []string{
		"(SI)", "(SI)(R8*1)", "(SI)(R8*2)", "(SI)(R9*1)", "(SI)(R8*4)", "(SI)(R10*1)", "(SI)(R9*2)", "(SI)(R14*1)",
	}[r]
}

// start sets the sums to zero or, when the chain goes on, to C.
func (s shape) start(a *asm, rows int) {
	load, ready := a.fresh("load"), a.fresh("ready")
	a.op("CMPQ panel_accumulate(%s), $0", regPanel)
	a.op("JNE %s", load)
	for r := range rows {
		for v := range s.vectors {
			s.zero(a, s.sum(r, v))
		}
	}
	a.op("JMP %s", ready)
	a.to(load)
	a.op("MOVQ %s, %s", regC, regARun)
	a.op("MOVQ panel_ldc(%s), %s", regPanel, regCount)
	for r := range rows {
		for v := range s.vectors {
			s.load(a, regARun, v, s.sum(r, v))
		}
		if r < rows-1 {
			a.op("ADDQ %s, %s", regCount, regARun)
		}
	}
	a.to(ready)
}

func (s shape) zero(a *asm, reg string) {
	if s.wide {
		a.op("VPXORD %s, %s, %s", reg, reg, reg)
		return
	}
	a.op("VXORPS %s, %s, %s", reg, reg, reg)
}

// finish stores the sums and leaves regC at the row below. Where the panel was
// shifted left to be whole, the lanes that belong to its neighbour keep C.
func (s shape) finish(a *asm, rows int) {
	a.op("MOVQ panel_ldc(%s), %s", regPanel, regCount)
	if !s.masked && !s.wide {
		plain := a.fresh("plain")
		a.op("MOVQ panel_mask(%s), %s", regPanel, regARun)
		a.op("TESTQ %s, %s", regARun, regARun)
		a.op("JZ %s", plain)
		a.op("MOVQ %s, %s", regC, regBRun)
		for v := range s.vectors {
			a.op("VMOVUPS %d(%s), %s", v*s.bytes(), regARun, s.b(v))
		}
		for r := range rows {
			for v := range s.vectors {
				a.op("VBLENDVPS %s, %d(%s), %s, %s", s.b(v), v*s.bytes(), regBRun, s.sum(r, v), s.sum(r, v))
			}
			a.op("ADDQ %s, %s", regCount, regBRun)
		}
		a.to(plain)
	}
	for r := range rows {
		for v := range s.vectors {
			s.store(a, s.sum(r, v), regC, v)
		}
		a.op("ADDQ %s, %s", regCount, regC)
	}
}

// transpose writes the transposition of blocks of 8×8: each step reads 8 columns of
// 8 rows of src and writes 8 rows of 8 columns to dst.
func transpose(a *asm) {
	a.text("transposeAVX2", 40)
	a.op("MOVQ dst+0(FP), DI")
	a.op("MOVQ ldd+8(FP), DX")
	a.op("MOVQ src+16(FP), SI")
	a.op("MOVQ lds+24(FP), R8")
	a.op("MOVQ blocks+32(FP), CX")
	a.op("LEAQ (R8)(R8*2), R9")
	a.op("LEAQ (SI)(R8*4), R10")
	a.op("LEAQ (DX)(DX*2), R11")
	a.to("transposeNext")
	rows := []string{"", "(R8*1)", "(R8*2)", "(R9*1)"}
	for half := range 2 {
		for r := range 4 {
			a.op("VMOVUPS %d(SI)%s, X%d", 16*half, rows[r], 4*half+r)
			a.op("VINSERTF128 $1, %d(R10)%s, Y%d, Y%d", 16*half, rows[r], 4*half+r, 4*half+r)
		}
	}
	columns := []string{"", "(DX*1)", "(DX*2)", "(R11*1)"}
	for half := range 2 {
		y := 4 * half
		a.op("VUNPCKLPS Y%d, Y%d, Y8", y+1, y)
		a.op("VUNPCKHPS Y%d, Y%d, Y9", y+1, y)
		a.op("VUNPCKLPS Y%d, Y%d, Y10", y+3, y+2)
		a.op("VUNPCKHPS Y%d, Y%d, Y11", y+3, y+2)
		for c := range 4 {
			a.op("VSHUFPS $%#x, Y%d, Y%d, Y12", []int{0x44, 0xEE}[c%2], 10+c/2, 8+c/2)
			a.op("VMOVUPS Y12, (DI)%s", columns[c])
		}
		a.op("LEAQ (DI)(DX*4), DI")
	}
	a.op("ADDQ $32, SI")
	a.op("ADDQ $32, R10")
	a.op("DECQ CX")
	a.op("JNZ transposeNext")
	a.ret()
}
