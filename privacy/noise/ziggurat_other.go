//go:build !amd64

package noise

func choose() level { return generic }

func (level) normals(dst []float64, words []byte, inside []uint8) {
	normalsGeneric(dst, words, inside)
}

func (level) addRounded(dst []float32, normal []float64, ratio, step float64) {
	addRoundedGeneric(dst, normal, ratio, step)
}
