package account

import (
	"math"

	"weir/internal/bitmath"
)

// maxSampleOrder bounds the sums of the without-replacement theorems, whose
// cost grows with the order. Orders above it are not used, which is no loss of
// soundness. Theorem 27 is tried up to order 256.
const (
	maxSampleOrder = 1024
	maxTightOrder  = 256
)

// withoutReplacement bounds the Renyi divergence of a mechanism on a sample of
// a fraction gamma drawn without replacement, under replacement of one record
// (Wang, Balle, Kasiviswanathan 2019).
type withoutReplacement struct {
	gamma float64
	inner curve               // under replacement of a member of the sample
	tight func(l int) float64 // ln of the l-th forward difference, or nil
	memo  map[int]float64     // cumulants (alpha-1)*rdp by order
	diffs map[int]float64     // tight, by l
}

func newWithoutReplacement(gamma float64, inner curve, tight func(int) float64) *withoutReplacement {
	return &withoutReplacement{gamma, inner, tight, map[int]float64{}, map[int]float64{}}
}

// at interpolates the cumulant (alpha-1)*rdp, which is convex in the order, linearly
// between integers (their corollary 10); below 2 this is the divergence at 2.
func (w *withoutReplacement) at(alpha float64) float64 {
	switch {
	case w.gamma == 0:
		return 0
	case w.gamma == 1:
		return w.inner.at(alpha)
	case alpha > maxSampleOrder:
		return math.Inf(1)
	}
	low := int(math.Floor(alpha))
	high := int(math.Ceil(alpha))
	if low == high {
		return w.cumulant(low) / (alpha - 1)
	}
	t := alpha - float64(low)
	return (float64((1-t)*w.cumulant(low)) + float64(t*w.cumulant(high))) / (alpha - 1)
}

// cumulant is the smaller of theorem 9 and, for a tight curve, theorem 27.
func (w *withoutReplacement) cumulant(alpha int) float64 {
	if alpha <= 1 {
		return 0
	}
	if v, ok := w.memo[alpha]; ok {
		return v
	}
	v := w.bound(alpha, w.theorem9)
	if w.tight != nil && alpha <= maxTightOrder {
		v = math.Min(v, w.bound(alpha, w.theorem27))
	}
	w.memo[alpha] = v
	return v
}

// bound is ln(1 + sum over j of C(alpha,j) gamma^j term(j)), or the cumulant of
// the inner mechanism where that is less: a mixture over samples that both
// tables share is never worse than the worst of them (quasi-convexity).
func (w *withoutReplacement) bound(alpha int, term func(j int) float64) float64 {
	sum := math.Inf(-1)
	for j := 2; j <= alpha; j++ {
		sum = logAddExp(sum, logComb(float64(alpha), float64(j))+float64(float64(j)*bitmath.Log(w.gamma))+term(j))
	}
	if sum <= 36 {
		sum = bitmath.Log1p(bitmath.Exp(sum))
	}
	return math.Min(sum, float64(alpha-1)*w.inner.at(float64(alpha)))
}

// theorem9: min{4(e^eps(2)-1), e^eps(2) min{2, (e^eps(inf)-1)^2}} for j = 2,
// e^((j-1)eps(j)) min{2, (e^eps(inf)-1)^j} above.
func (w *withoutReplacement) theorem9(j int) float64 {
	r := w.inner.at(float64(j))
	t := float64(float64(j-1)*r) + math.Min(math.Ln2, float64(j)*logExpm1(w.inner.pure))
	if j == 2 {
		t = math.Min(t, bitmath.Log(4)+logExpm1(r))
	}
	return t
}

// theorem27 replaces the terms above j = 2 by 4 sqrt(B(2 floor(j/2)) B(2 ceil(j/2))).
func (w *withoutReplacement) theorem27(j int) float64 {
	t := w.theorem9(j)
	if j > 2 {
		t = math.Min(t, bitmath.Log(4)+float64(0.5*(w.difference(j/2*2)+w.difference((j+1)/2*2))))
	}
	return t
}

func (w *withoutReplacement) difference(l int) float64 {
	v, ok := w.diffs[l]
	if !ok {
		v = w.tight(l)
		w.diffs[l] = v
	}
	return v
}

// logExpm1 is ln(e^x - 1).
func logExpm1(x float64) float64 {
	if x > 36 {
		return x
	}
	return bitmath.Log(bitmath.Expm1(x))
}
