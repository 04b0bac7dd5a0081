package marginal

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Queries lists the sets of k of n columns, in lexical order: all of them, or
// `most` different ones drawn by rng where there are more. drawn says which.
func Queries(n, k, most int, rng *rand.Rand) (list [][]int, drawn bool) {
	if choose(n, k) <= float64(most) {
		return all(n, k), false
	}
	seen := map[string]bool{}
	for len(list) < most {
		set := draw(n, k, rng)
		key := fmt.Sprint(set)
		if !seen[key] {
			seen[key] = true
			list = append(list, set)
		}
	}
	slices.SortFunc(list, slices.Compare)
	return list, true
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return max(c, 0)
}

func all(n, k int) [][]int {
	if k > n {
		return nil
	}
	set := make([]int, k)
	for i := range set {
		set[i] = i
	}
	var list [][]int
	for {
		list = append(list, slices.Clone(set))
		i := k - 1
		for i >= 0 && set[i] == n-k+i {
			i--
		}
		if i < 0 {
			return list
		}
		set[i]++
		for j := i + 1; j < k; j++ {
			set[j] = set[j-1] + 1
		}
	}
}

// draw is a set of k of n places, each set as likely as any other (Floyd).
func draw(n, k int, rng *rand.Rand) []int {
	set := make([]int, 0, k)
	for j := n - k; j < n; j++ {
		v := rng.IntN(j + 1)
		if slices.Contains(set, v) {
			v = j
		}
		set = append(set, v)
	}
	slices.Sort(set)
	return set
}
