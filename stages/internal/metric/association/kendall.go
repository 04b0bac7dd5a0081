package association

import (
	"math"
	"slices"

	"weir/internal/bitmath"
)

// KendallTauB is Kendall's tau-b with its two-sided p-value, over pairs without
// missing values, in n log n steps (Knight 1966). As scipy's kendalltau, p is
// exact without ties for up to 33 pairs or at most one discordant (or
// concordant) pair, and normal with the variance of ties else.
func KendallTauB(x, y []float64) (tau, p float64) {
	n := len(x)
	if n < 2 || constant(x) || constant(y) {
		return math.NaN(), math.NaN()
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		if c := compare(x[a], x[b]); c != 0 {
			return c
		}
		return compare(y[a], y[b])
	})
	sx, sy := make([]float64, n), make([]float64, n)
	for k, i := range order {
		sx[k], sy[k] = x[i], y[i]
	}
	both := tiesOf(n, func(i int) bool { return sx[i] == sx[i-1] && sy[i] == sy[i-1] })
	tx := tiesOf(n, func(i int) bool { return sx[i] == sx[i-1] })
	swaps := inversions(sy, make([]float64, n)) // sorts sy
	ty := tiesOf(n, func(i int) bool { return sy[i] == sy[i-1] })
	all := float64(float64(n) * float64(n-1) / 2)
	balance := all - tx.pairs - ty.pairs + both.pairs - float64(2*swaps)
	tau = clip(balance / math.Sqrt(all-tx.pairs) / math.Sqrt(all-ty.pairs))
	if tx.pairs == 0 && ty.pairs == 0 && (n <= 33 || min(swaps, all-swaps) <= 1) {
		return tau, kendallExact(n, min(swaps, all-swaps))
	}
	return tau, kendallNormal(float64(n), balance, tx, ty)
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// ties sums t(t-1)/2, t(t-1)(t-2) and t(t-1)(2t+5) over groups of t equal values.
type ties struct{ pairs, triples, spread float64 }

func tiesOf(n int, same func(i int) bool) (s ties) {
	t := 1.0
	for i := 1; i <= n; i++ {
		if i < n && same(i) {
			t++
			continue
		}
		s.pairs += float64(t * (t - 1) / 2)
		s.triples += float64(t * (t - 1) * (t - 2))
		s.spread += float64(t * (t - 1) * (float64(2*t) + 5))
		t = 1
	}
	return s
}

// inversions sorts y and counts pairs that were strictly out of order.
func inversions(y, spare []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	mid := len(y) / 2
	count := inversions(y[:mid], spare[:mid]) + inversions(y[mid:], spare[mid:])
	i, j := 0, mid
	for k := range spare[:len(y)] {
		if j == len(y) || i < mid && y[i] <= y[j] {
			spare[k] = y[i]
			i++
			continue
		}
		spare[k] = y[j]
		count += float64(mid - i)
		j++
	}
	copy(y, spare[:len(y)])
	return count
}

func kendallNormal(n, balance float64, tx, ty ties) float64 {
	m := n * (n - 1)
	v := (float64(m*(float64(2*n)+5))-tx.spread-ty.spread)/18 + 2*tx.pairs*ty.pairs/m
	if n > 2 {
		v += tx.triples * ty.triples / (9 * m * (n - 2))
	}
	return 2 * bitmath.NormalTail(math.Abs(balance)/math.Sqrt(v))
}

// kendallExact is twice the share of the orders of n values with at most c
// inversions (Kendall 1970, chapter 5).
func kendallExact(n int, c float64) float64 {
	share := make([]float64, int(c)+1)
	share[0] = 1
	for k := 2; k <= n; k++ {
		next := make([]float64, len(share))
		for i := range next {
			for j := max(0, i-k+1); j <= i; j++ {
				next[i] += share[j] / float64(k)
			}
		}
		share = next
	}
	return min(1, 2*sum(share))
}
