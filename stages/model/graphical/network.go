package graphical

import (
	"fmt"
	"slices"

	"weir/internal/bitmath"
	"weir/train/graphical"
)

// family is a column of a Bayesian network and its parents, ascending.
type family struct {
	column  int
	parents graphical.Set
}

func (f family) key() string { return fmt.Sprint(f.column, f.parents) }

// set returns the columns of a family, ascending.
func (f family) set() graphical.Set {
	s := append(slices.Clone(f.parents), f.column)
	slices.Sort(s)
	return s
}

// mostParents bounds a family; tables of more columns have few rows a cell anyway.
const mostParents = 5

// mostFamilies is how many sets of parents are looked at in a step.
const mostFamilies = 20_000

// families lists what may come next in a network: each column that is not in it, with
// each set of columns of the network that is maximal among those that keep the
// family's table to the given number of cells. A column whose own codes are more has no parents.
// In wide tables parents are fewer, by the columns alone.
func families(sizes []int, network []family, cells float64) (list []family) {
	var inside graphical.Set
	for _, f := range network {
		inside = append(inside, f.column)
	}
	slices.Sort(inside)
	most := parentsOf(len(inside), len(sizes)-len(inside))
	for x := range sizes {
		if _, is := slices.BinarySearch(inside, x); is {
			continue
		}
		for _, parents := range maximal(sizes, inside, cells/float64(sizes[x]), most) {
			list = append(list, family{x, parents})
		}
	}
	return list
}

// parentsOf returns the most parents with which so many columns have no more than
// mostFamilies sets of parents among the columns of the network.
func parentsOf(inside, columns int) (most int) {
	sets, ofSize := float64(columns), float64(columns)
	for k := 1; k <= mostParents; k++ {
		ofSize = float64(ofSize * (max(0, float64(inside-k+1)) / float64(k)))
		if sets += ofSize; sets > mostFamilies {
			break
		}
		most = k
	}
	return most
}

// limited returns a family with as many of its parents as the junction tree of the network
// has room for within limits, beside the sets of base.
func (f family) limited(sizes []int, base []graphical.Set, limits graphical.Limits) family {
	for len(f.parents) > 0 && len(graphical.Grow(sizes, base, []graphical.Set{f.set()}, limits)) == 0 {
		f.parents = f.parents[:len(f.parents)-1]
	}
	return f
}

// maximal lists the sets of at most the given number of columns with at most the given number of cells,
// and that no further column of those given fits into: at least the empty set.
func maximal(sizes []int, set graphical.Set, cells float64, most int) (list []graphical.Set) {
	var grow func(s graphical.Set, from int, room float64)
	grow = func(s graphical.Set, first int, room float64) {
		full := len(s) == most
		for i := 0; i < len(set) && !full; i++ {
			if fits := room >= float64(sizes[set[i]]) && !slices.Contains(s, set[i]); fits && i >= first {
				grow(append(slices.Clone(s), set[i]), i+1, room/float64(sizes[set[i]]))
			}
		}
		if full || !extends(sizes, set, s, room) {
			list = append(list, s)
		}
	}
	grow(nil, 0, cells)
	return list
}

func extends(sizes []int, of, s graphical.Set, room float64) bool {
	return slices.ContainsFunc(of, func(c int) bool { return room >= float64(sizes[c]) && !slices.Contains(s, c) })
}

// axis says how the cells of a family's table are laid out around its column: a cell is
// (before*sizes[column] + code)*after + rest.
type axis struct{ before, size, after int }

func (f family) axis(sizes []int) axis {
	a := axis{1, sizes[f.column], 1}
	for _, c := range f.parents {
		if c < f.column {
			a.before *= sizes[c]
		} else {
			a.after *= sizes[c]
		}
	}
	return a
}

// each visits the cells of one combination of the parents after the other.
func (a axis) each(visit func(cell func(code int) int)) {
	for b := range a.before {
		for r := range a.after {
			visit(func(code int) int { return (b*a.size+code)*a.after + r })
		}
	}
}

// conditionals returns the logarithms of what a family's noisy counts say of its column
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

// base returns the sets that the junction tree of the network has to hold: columns, what rules
// of the domain tie together, and families.
func (n *network) base() []graphical.Set {
	sets := append(alone(len(n.sizes)), tiedSets(n.rules)...)
	for _, f := range n.families {
		sets = append(sets, f.set())
	}
	return sets
}

// host returns the model of the network, in the junction tree that holds its families, under
// the rules of the domain: what they forbid is left out, public totals are those declared.
func (n *network) host(factors []graphical.Factor) (*graphical.Model, error) {
	limits := n.s.limits()
	tree, err := graphical.NewTree(n.sizes, n.base(), limits)
	if err != nil {
		return nil, err
	}
	m, err := graphical.FromPotentials(graphical.Potentials{Domain: n.sizes, Total: n.rows, Cliques: tree.Cliques(),
		Factors: factors, Masks: n.masks}, limits)
	if err != nil {
		return nil, err
	}
	return n.scaled(m, limits)
}

// shareBits is the resolution of released shares, so that scores are whole numbers.
const shareBits = 20

// wholeShares returns counts of a column as parts of 2^shareBits that sum to it; nothing
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

// dependence returns the L1 distance, in rows, of a family's counts from the counts of its
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

// dependencePublished returns twice the rows times the score R of Zhang et al. 2017: the L1
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

// wanted says how much families of a network matter, from public settings alone: by pair,
// over the largest weight, so that a weighted score moves no further than the score.
type wanted map[[2]int]float64

func wantedOf(pairs []graphical.Set, weights []float64) wanted {
	w := make(wanted, len(pairs))
	if len(pairs) == 0 {
		return w
	}
	most := largest(weights)
	for i, pair := range pairs {
		w[[2]int{pair[0], pair[1]}] = weights[i] / most
	}
	return w
}

// weightOf returns the weight of a family: the largest of its column's pairs with a parent; 0 without
// parents, since such a family tells of no pair.
func (w wanted) weightOf(f family) (most float64) {
	for _, p := range f.parents {
		most = max(most, w[[2]int{min(p, f.column), max(p, f.column)}])
	}
	return most
}

// even tells whether all pairs of the given number of columns matter alike, as in the paper.
func (w wanted) even(columns int) bool {
	for _, x := range w {
		if x < 1 {
			return false
		}
	}
	return len(w) == columns*(columns-1)/2
}
