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
	against := inversions(sy, make([]float64, n)) // sorts sy
	ty := tiesOf(n, func(i int) bool { return sy[i] == sy[i-1] })
	all := ofGroup(n)
	// Of ordered pairs, those in order less those against it.
	score := all.pairs - tx.pairs - ty.pairs + both.pairs - float64(4*against)
	tau = clip(score / math.Sqrt(float64((all.pairs-tx.pairs)*(all.pairs-ty.pairs))))
	if fewer := min(against, float64(all.pairs/2)-against); tx.pairs == 0 && ty.pairs == 0 && (n <= 33 || fewer <= 1) {
		return tau, kendallExact(n, fewer)
	}
	return tau, 2 * bitmath.NormalTail(math.Abs(score)/2/math.Sqrt(kendallVariance(all, tx, ty)))
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

// ties counts ordered pairs and triples of values inside groups of equal ones.
type ties struct{ pairs, triples float64 }

func ofGroup(size int) ties {
	t := float64(size)
	return ties{float64(t * (t - 1)), float64(t * (t - 1) * (t - 2))}
}

func tiesOf(n int, same func(i int) bool) (s ties) {
	for first, i := 0, 1; i <= n; i++ {
		if i == n || !same(i) {
			group := ofGroup(i - first)
			s.pairs, s.triples, first = s.pairs+group.pairs, s.triples+group.triples, i
		}
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

// kendallVariance is that of half the score where the order of one side is drawn at random (Kendall 1970, chapter 4).
// His sums of t(t-1)(2t+5) are twice the triples and nine times the pairs, so that it is two products, of what is
// not tied.
func kendallVariance(all, tx, ty ties) float64 {
	v := float64((all.pairs-tx.pairs)*(all.pairs-ty.pairs)) / (2 * all.pairs)
	if all.triples > 0 {
		v += float64((all.triples-tx.triples)*(all.triples-ty.triples)) / (9 * all.triples)
	}
	return v
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
