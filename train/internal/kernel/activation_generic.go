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

// The coefficients of exp and tanh are those of the Cephes library (S. Moshier,
// expf.c and tanhf.c); every product and sum is rounded apart, as in the assembly.
const (
	expHigh = 88.37626   // just below 127.5*ln 2: the exponent stays in range
	expLow  = -87.336540 // ln 2^-126: below it exp is set to zero
	log2e   = 1.44269504
	ln2High = 0.693359375 // 10 bits, so that its products with n are exact
	ln2Low  = -2.12194440e-4
	exp0    = 1.9875691500e-4
	exp1    = 1.3981999507e-3
	exp2    = 8.3334519073e-3
	exp3    = 4.1665795894e-2
	exp4    = 1.6666665459e-1
	exp5    = 5.0000001201e-1

	tanh0     = -5.70498872745e-3
	tanh1     = 2.06390887954e-2
	tanh2     = -5.37397155531e-2
	tanh3     = 1.33314422036e-1
	tanh4     = -3.33332819422e-1
	tanhSmall = 0.625 // below, the polynomial; from here on 1-2/(exp(2x)+1)
	tanhLarge = 20    // 2|x| is cut here: tanh(10) is 1 in float32
)

// exp32 is exp(x) to about 1 unit in the last place. Below expLow it is zero,
// above expHigh it stays at exp(expHigh).
func exp32(x float32) float32 {
	if x < expLow {
		return 0
	}
	if expHigh < x {
		x = expHigh
	}
	n := float32(math.RoundToEven(float64(float32(x * log2e))))
	r := x - float32(n*ln2High)
	r -= float32(n * ln2Low)
	y := float32(exp0*r) + exp1
	y = float32(y*r) + exp2
	y = float32(y*r) + exp3
	y = float32(y*r) + exp4
	y = float32(y*r) + exp5
	y = float32(y*float32(r*r)) + r
	y++
	if x != x {
		return y
	}
	return y * math.Float32frombits(uint32(int32(n)+127)<<23)
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

func tanh32(x float32) float32 {
	a := math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	if a < tanhSmall {
		z := x * x
		y := float32(z*tanh0) + tanh1
		y = float32(y*z) + tanh2
		y = float32(y*z) + tanh3
		y = float32(y*z) + tanh4
		return float32(float32(y*z)*x) + x
	}
	t := a + a
	if tanhLarge < t {
		t = tanhLarge
	}
	y := 1 - 2/(exp32(t)+1)
	return math.Float32frombits(math.Float32bits(y) | math.Float32bits(x)&(1<<31))
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
