//go:build !amd64

package noise

func choose() level { return generic }

func (level) normals(dst []float64, words []byte, inside []uint8) {
	normalsGeneric(dst, words, inside)
}

func (level) addNoise(dst []float32, words []byte, done []uint8, r *rounding) {
	addNoiseGeneric(dst, words, done, r)
}
