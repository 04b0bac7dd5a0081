package kernel

import "math"

func axpyGeneric(alpha float32, x, y []float32) {
	for i, v := range x {
		y[i] += float32(alpha * v)
	}
}

func scaleGeneric(alpha float32, x []float32) {
	for i := range x {
		x[i] *= alpha
	}
}

func addGeneric(dst, x, y []float32) {
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func mulGeneric(dst, x, y []float32) {
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func clampGeneric(x []float32, lo, hi float32) {
	for i, v := range x {
		if v < lo {
			v = lo
		}
		if hi < v {
			v = hi
		}
		x[i] = v
	}
}

// sumSquaresGeneric sums in 8 lanes of float64, as the assembly does.
func sumSquaresGeneric(x []float32) float64 {
	var l [8]float64
	for i, v := range x {
		w := float64(v)
		l[i%8] += float64(w * w)
	}
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}

// whole is 2^23: a float32 of this size or more is an integer.
const whole = 1 << 23

func latticeRoundGeneric(dst []float32, step, inverse float32) {
	for i, x := range dst {
		q := x * inverse
		if q < whole && q > -whole {
			dst[i] = float32(math.RoundToEven(float64(q))) * step
		}
	}
}
