package kernel

import "math"

func leakyReLUGeneric(dst, x []float32, slope float32) {
	for i, v := range x {
		if !(v > 0) {
			v *= slope
		}
		dst[i] = v
	}
}

func leakyReLUBackwardGeneric(dst, grad, x []float32, slope float32) {
	for i, g := range grad {
		if !(x[i] > 0) {
			g *= slope
		}
		dst[i] = g
	}
}

// split returns x as n ln 2 + r with |r| at most ln(2)/2 and a whole n from -126 to 127: it
// returns 2^n and exp(r)-1, so that exp(x) is their product and 2^n more (the reduction is
// by Cody and Waite 1980). Every product and sum is rounded apart, as in the assembly.
func split(x float32) (power, rest float32) {
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := x - float32(n*ln2High)
	r -= float32(n * ln2Low)
	y := float32(exp5*r) + exp4
	y = float32(y*r) + exp3
	y = float32(y*r) + exp2
	y = float32(y*r) + exp1
	y = float32(y*r) + exp0
	return math.Float32frombits(uint32(int32(n)+127) << 23), float32(y*float32(r*r)) + r
}

// exp32 returns exp(x) to about 1 unit in the last place. Below expLow it is zero,
// above expHigh it stays at exp(expHigh).
func exp32(x float32) float32 {
	switch {
	case x != x:
		return x
	case x < expLow:
		return 0
	case expHigh < x:
		x = expHigh
	}
	power, rest := split(x)
	return (rest + 1) * power
}

func sigmoidGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = 1 / (1 + exp32(-v))
	}
}

func sigmoidBackwardGeneric(dst, grad, out []float32) {
	for i, g := range grad {
		o := out[i]
		dst[i] = g * float32(o*(1-o))
	}
}

// tanh32 returns (1-e)/(1+e) for e = exp(-2|x|), with the sign of x. Near 0, where 2^n is 1, the
// numerator is minus the rest and loses no digits.
func tanh32(x float32) float32 {
	if x != x {
		return x
	}
	bits := math.Float32bits(x)
	t := 2 * math.Float32frombits(bits&^(1<<31))
	if tanhHigh < t {
		t = tanhHigh
	}
	power, rest := split(-t)
	rest = float32(rest * power)
	y := ((1 - power) - rest) / ((1 + power) + rest)
	return math.Float32frombits(math.Float32bits(y) | bits&(1<<31))
}

func tanhGeneric(dst, x []float32) {
	for i, v := range x {
		dst[i] = tanh32(v)
	}
}

func tanhBackwardGeneric(dst, grad, out []float32) {
	for i, g := range grad {
		dst[i] = g * (1 - float32(out[i]*out[i]))
	}
}

func softmaxGeneric(dst, x []float32, rows, cols, ldd, ldx int) {
	for i := range rows {
		softmaxRow(dst[i*ldd:i*ldd+cols], x[i*ldx:i*ldx+cols])
	}
}

// softmaxRow sums in 8 lanes, as the assembly does.
func softmaxRow(dst, x []float32) {
	top := float32(math.Inf(-1))
	for _, v := range x {
		if top < v {
			top = v
		}
	}
	var lane [8]float32
	for j, v := range x {
		e := exp32(v - top)
		dst[j] = e
		lane[j%8] += e
	}
	sum := sum8(&lane)
	for j := range dst {
		dst[j] /= sum
	}
}

// sum8 adds the lanes of a vector in the order of the assembly: halves, then
// pairs, then the last two.
func sum8(l *[8]float32) float32 {
	a, b, c, d := l[0]+l[4], l[1]+l[5], l[2]+l[6], l[3]+l[7]
	return (a + c) + (b + d)
}
