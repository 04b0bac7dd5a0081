package noise

import "golang.org/x/sys/cpu"

//go:noescape
func normalsAVX2(dst *float64, words *byte, table *layer, inside *uint8, turns int)

//go:noescape
func normalsAVX512(dst *float64, words *byte, table *layer, inside *uint8, turns int)

//go:noescape
func addNoiseAVX2(dst *float32, words *byte, table *layer, done *uint8, r *rounding, turns int)

//go:noescape
func addNoiseAVX512(dst *float32, words *byte, table *layer, done *uint8, r *rounding, turns int)

func choose() level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI2:
		return generic
	case x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512VL:
		return avx512
	}
	return avx2
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

func (l level) addNoise(dst []float32, words []byte, done []uint8, r *rounding) {
	turns := len(dst) / 8
	if l == generic || turns == 0 {
		addNoiseGeneric(dst, words, done, r)
		return
	}
	_, _ = words[64*turns-1], done[turns-1]
	if l == avx512 {
		addNoiseAVX512(&dst[0], &words[0], &layers[0], &done[0], r, turns)
	} else {
		addNoiseAVX2(&dst[0], &words[0], &layers[0], &done[0], r, turns)
	}
	if 8*turns < len(dst) {
		addNoiseGeneric(dst[8*turns:], words[64*turns:], done[turns:], r)
	}
}
