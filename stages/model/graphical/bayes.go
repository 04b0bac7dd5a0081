package graphical

import (
	"weir/internal/bitmath"
	"weir/train/graphical"
)

// conditionals are the logarithms of what a family's noisy counts say of its column
// given its parents: counts below 0 are 0, and parents without any have the shares of
// the column on its own.
func conditionals(f family, sizes []int, y, shares []float64) graphical.Factor {
	log := make([]float64, len(y))
	f.axis(sizes).each(func(cell func(int) int) {
		sum := 0.0
		for code := range shares {
			sum += max(y[cell(code)], 0)
		}
		for code, share := range shares {
			if sum > 0 {
				share = max(y[cell(code)], 0) / sum
			}
			log[cell(code)] = bitmath.Log(max(share, leastShare))
		}
	})
	return graphical.Factor{Vars: f.set(), Log: log}
}

// leastShare stands for a share of 0, whose logarithm a model cannot store: no table
// of rows is so long that it would get one.
const leastShare = 1e-15

// base are the sets that the junction tree of the network has to hold: columns, what rules
// of the domain tie together, and families.
func (n *network) base() []graphical.Set {
	sets := append(alone(len(n.sizes)), tiedSets(n.rules)...)
	for _, f := range n.families {
		sets = append(sets, f.set())
	}
	return sets
}

// host is the model of the network, in the junction tree that holds its families, under
// the rules of the domain: what they forbid is left out, public totals are those declared.
func (n *network) host(factors []graphical.Factor) (*graphical.Model, error) {
	limits := n.s.limits()
	tree, err := graphical.NewTree(n.sizes, n.base(), limits)
	if err != nil {
		return nil, err
	}
	m, err := graphical.FromPotentials(graphical.Potentials{Domain: n.sizes, Total: n.rows, Cliques: tree.Cliques(), Factors: factors, Masks: n.masks}, limits)
	if err != nil {
		return nil, err
	}
	return n.scaled(m, limits)
}

// shareBits is the resolution of released shares, so that scores are whole numbers.
const shareBits = 20

// wholeShares are counts of a column as parts of 2^shareBits that sum to it; nothing
// is known of counts that are nowhere above 0.
func wholeShares(counts []float64) []int64 {
	parts, sum, left := make([]int64, len(counts)), 0.0, int64(1)<<shareBits
	for _, y := range counts {
		sum += max(y, 0)
	}
	if sum <= 0 {
		counts, sum = repeated(1, len(counts)), float64(len(counts))
	}
	heaviest := 0
	for i, y := range counts {
		parts[i] = int64(max(y, 0) / sum * (1 << shareBits))
		if left -= parts[i]; parts[i] > parts[heaviest] {
			heaviest = i
		}
	}
	parts[heaviest] += left
	return parts
}

// dependence is the L1 distance, in rows, of a family's counts from those of its
// parents spread by released shares of its column. Adding a row moves it by at most 2:
// in the row's combination of parents, one cell by 1 less its share, the others by
// theirs.
func dependence(a axis, counts, shares []int64) float64 {
	sum := int64(0)
	a.each(func(cell func(int) int) {
		parents := int64(0)
		for code := range shares {
			parents += counts[cell(code)]
		}
		for code, share := range shares {
			d := counts[cell(code)]<<shareBits - share*parents
			sum += max(d, -d)
		}
	})
	return float64(sum) / (1 << shareBits)
}

// dependencePublished is twice the rows times the score R of Zhang et al. 2017: the L1
// distance of a family's counts from the product of the exact counts of its column and
// its parents over the rows n. With P and Q the shares of column and parents, a further
// row moves the counts by 1 and n P Q by (-n P Q + n P g + n e Q + e g)/(n+1), e and g
// being that row's: by less than 3, together less than 4. A row that replaces another
// moves them by 2 and by 4 + 4/n: the 3/n + 2/n^2 of R, which is printed; and by no more
// than 8, which is removing one and adding one.
func dependencePublished(a axis, counts []int64) float64 {
	rows := int64(0)
	for _, n := range counts {
		rows += n
	}
	if rows == 0 {
		return 0
	}
	column := make([]int64, a.size)
	a.each(func(cell func(int) int) {
		for code := range column {
			column[code] += counts[cell(code)]
		}
	})
	sum := 0.0
	a.each(func(cell func(int) int) {
		parents, whole := int64(0), int64(0)
		for code := range column {
			parents += counts[cell(code)]
		}
		for code, n := range column {
			d := counts[cell(code)]*rows - n*parents
			whole += max(d, -d)
		}
		sum += float64(whole)
	})
	return sum / float64(rows)
}
