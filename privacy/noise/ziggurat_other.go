//go:build !amd64

package noise

func choose() level { return generic }

func (level) normals(dst []float64, words []byte, inside []uint8) {
	normalsGeneric(dst, words, inside)
}

func (level) addRounded(dst []float32, normal []float64, ratio, step, limit float64) (near bool) {
	return addRoundedGeneric(dst, normal, ratio, step, limit)
}
