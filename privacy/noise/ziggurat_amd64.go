package noise

import "golang.org/x/sys/cpu"

//go:noescape
func normalsAVX2(dst *float64, words *byte, table *layer, inside *uint8, turns int)

//go:noescape
func normalsAVX512(dst *float64, words *byte, table *layer, inside *uint8, turns int)

//go:noescape
func addRoundedAVX2(dst *float32, normal *float64, ratio, step, limit float64, turns int) (near uint64)

func choose() level {
	x := &cpu.X86
	switch {
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX2:
		return avx512
	case x.HasAVX2:
		return avx2
	}
	return generic
}

func (l level) normals(dst []float64, words []byte, inside []uint8) {
	turns := len(dst) / 8
	if l == generic || turns == 0 {
		normalsGeneric(dst, words, inside)
		return
	}
	_, _ = words[64*turns-1], inside[turns-1]
	if l == avx512 {
		normalsAVX512(&dst[0], &words[0], &layers[0], &inside[0], turns)
	} else {
		normalsAVX2(&dst[0], &words[0], &layers[0], &inside[0], turns)
	}
	if 8*turns < len(dst) {
		normalsGeneric(dst[8*turns:], words[64*turns:], inside[turns:])
	}
}

func (l level) addRounded(dst []float32, normal []float64, ratio, step, limit float64) (near bool) {
	turns := len(dst) / 8
	if l == generic || turns == 0 {
		return addRoundedGeneric(dst, normal, ratio, step, limit)
	}
	_ = normal[8*turns-1]
	near = addRoundedAVX2(&dst[0], &normal[0], ratio, step, limit, turns) != 0
	return addRoundedGeneric(dst[8*turns:], normal[8*turns:], ratio, step, limit) || near
}
