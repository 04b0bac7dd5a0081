package latent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// clusters returns for each label how many clusters its codes form, from 2 to most: the number at which the index of
// Calinski and Harabasz (1974) of the clusters that Lloyd's algorithm finds is highest, of equals the least; 1 for a
// label that has no two clusters, such as one of fewer than three rows. Codes are clipped to the radius of c first.
//
// It looks at codes without noise and nothing pays for it, so that no guarantee covers what is made of the answer: it
// is for runs that repeat what was published. Random starts come from r, which is public.
func clusters(ctx context.Context, c moments, x labelledCodes, most int, r *rand.Rand) ([]int, error) {
	rows := make([][][]float64, c.Labels)
	clip := c.newRow()
	for i, label := range x.Labels {
		clip.clip(x.row(i))
		rows[label] = append(rows[label], slices.Clone(clip.x))
	}
	best := slices.Repeat([]int{1}, c.Labels)
	for label, items := range rows {
		top := 0.0
		for k := 2; k <= min(most, len(items)-1); k++ {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if index := calinskiHarabasz(items, lloyd(items, k, r), k); index > top {
				best[label], top = k, index
			}
		}
	}
	return best, nil
}

// lloydSteps bounds the steps of Lloyd's algorithm, which most often ends sooner: the index changes in its last digits
// thereafter.
const lloydSteps = 100

// lloyd assigns each row to one of k clusters (Lloyd 1982), from centres that are drawn far apart (Arthur and
// Vassilvitskii 2007).
func lloyd(rows [][]float64, k int, r *rand.Rand) []int {
	centres, items := spreadStarts(rows, k, r), make([]int, len(rows))
	for range lloydSteps {
		moved := false
		for i, x := range rows {
			if to, _ := nearest(x, centres); to != items[i] {
				items[i], moved = to, true
			}
		}
		if !moved {
			break
		}
		for c, mean := range means(rows, items, k) {
			if mean != nil {
				centres[c] = mean
			}
		}
	}
	return items
}

// spreadStarts draws k rows, each with a probability that grows as the square of its distance to those before it.
func spreadStarts(rows [][]float64, k int, r *rand.Rand) [][]float64 {
	centres := [][]float64{slices.Clone(rows[r.IntN(len(rows))])}
	far := make([]float64, len(rows))
	for len(centres) < k {
		total := 0.0
		for i, x := range rows {
			_, far[i] = nearest(x, centres)
			total += far[i]
		}
		pos, left := 0, float64(r.Float64()*total)
		for left -= far[0]; left >= 0 && pos < len(rows)-1; left -= far[pos] {
			pos++
		}
		centres = append(centres, slices.Clone(rows[pos]))
	}
	return centres
}

// nearest returns the centre that is nearest, of equals the first, and the square of its distance.
func nearest(x []float64, centres [][]float64) (pos int, square float64) {
	square = math.Inf(1)
	for c, centre := range centres {
		if d := squared(x, centre); d < square {
			pos, square = c, d
		}
	}
	return pos, square
}

func squared(x, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		sum += float64((v - y[j]) * (v - y[j]))
	}
	return sum
}

// means returns the mean of each cluster; nil for one without a row.
func means(rows [][]float64, items []int, k int) [][]float64 {
	sums, n := make([][]float64, k), make([]float64, k)
	for i, x := range rows {
		c := items[i]
		if n[c]++; sums[c] == nil {
			sums[c] = make([]float64, len(x))
		}
		for j, v := range x {
			sums[c][j] += v
		}
	}
	for c := range sums {
		for j := range sums[c] {
			sums[c][j] /= n[c]
		}
	}
	return sums
}

// calinskiHarabasz returns the spread of the means of clusters over the spread of rows within them, each over its
// degrees of freedom; infinite where all rows are at their means, and 0 where a cluster has no row.
func calinskiHarabasz(rows [][]float64, items []int, k int) float64 {
	centres, all := means(rows, items, k), means(rows, make([]int, len(rows)), 1)[0]
	middle, within := 0.0, 0.0
	for i, x := range rows {
		middle += squared(centres[items[i]], all)
		within += squared(x, centres[items[i]])
	}
	if slices.ContainsFunc(centres, func(c []float64) bool { return c == nil }) {
		return 0
	}
	return middle / float64(k-1) / (within / float64(len(rows)-k))
}
