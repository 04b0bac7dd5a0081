package histogram

import (
	"math"

	"weir/internal/bitmath"
)

// keptFrom is from how many standard deviations of its noise on a count is told from what
// lies around it. Others are settled.
const keptFrom = 4

// settle estimates the counts of neighbouring groups of cells, which sum to total, from
// noisy ones of independent noise. A count of at least keptFrom standard deviations is kept,
// but for what all kept ones lack of the rest of total, by variance and not below 0. Of the
// others no estimate that looks at one count alone and is never negative is unbiased; far out,
// where values are large, that bias would be most of a mean. So they are taken together, as
// what falls away from the nearest kept group (run). Where noise hides every count all are the
// nearest ones that are not negative.
func settle(groups []Leaf, total float64) []float64 {
	y, variances := make([]float64, len(groups)), make([]float64, len(groups))
	var retained []int
	for i, g := range groups {
		if y[i], variances[i] = g.Count, g.Var; g.Count >= keptFrom*g.sd() {
			retained = append(retained, i)
		}
	}
	if !isBody(groups, retained) {
		return Nearest(y, variances, total)
	}
	counts, rest := make([]float64, len(groups)), total
	for _, r := range runs(groups, retained, 0) {
		for k, count := range r.settled() {
			counts[r.places[k]], rest = count, rest-count
		}
	}
	if !(rest > 0) {
		return Nearest(y, variances, total)
	}
	y, variances = pick(y, retained), pick(variances, retained)
	for k, count := range Nearest(y, variances, rest) {
		counts[retained[k]] = count
	}
	return counts
}

// mostlyKept is the part of all rows that kept groups have to hold for others to be taken for
// a tail.
const mostlyKept = .5

// isBody tells whether the kept groups are the body of a line.
func isBody(groups []Leaf, remaining []int) bool {
	retained, whole := 0.0, 0.0
	for _, g := range groups {
		whole += g.Count
	}
	for _, i := range remaining {
		retained += groups[i].Count
	}
	return len(remaining) > 0 && retained >= mostlyKept*whole
}

func pick(src []float64, places []int) []float64 {
	dst := make([]float64, len(places))
	for k, i := range places {
		dst[k] = src[i]
	}
	return dst
}

// middle returns where half of the rows of the kept groups lie on each side, in cells.
func middle(groups []Leaf, retained []int) float64 {
	whole := 0.0
	for _, i := range retained {
		whole += groups[i].Count
	}
	left := whole / 2
	for _, i := range retained {
		if g := groups[i]; g.Count >= left {
			return float64(g.Lo) + float64(float64(g.Hi-g.Lo)*left/g.Count)
		}
		left -= groups[i].Count
	}
	return float64(groups[retained[0]].Lo) // of no row
}

// run is groups that are not kept, going away from the edge of a kept one.
type run struct {
	groups []Leaf
	places []int
	left   bool    // of the kept group
	edge   float64 // where the kept group ends, in cells
	width  float64 // that distances are measured in
	beside float64 // rows of the range of that width that ends at the edge
}

// runs returns two for each kept group: what lies to its left and to its right to which no
// other kept group is nearer, of those that are not between two kept groups less than gap cells
// apart.
func runs(groups []Leaf, retained []int, gap int) []run {
	all, centre := make([]run, 0, 2*len(retained)), middle(groups, retained)
	for k, i := range retained {
		left, right := run{groups: groups, left: true}, run{groups: groups}
		for at := i - 1; at >= 0 && (k == 0 || at > retained[k-1] && groups[i].Lo-groups[at].Hi < groups[at].Lo-
			groups[retained[k-1]].Hi); at-- {
			left.places = append(left.places, at)
		}
		for at := i + 1; at < len(groups) && (k == len(retained)-1 || at < retained[k+1] &&
			groups[at].Lo-groups[i].Hi <= groups[retained[k+1]].Lo-groups[at].Hi); at++ {
			right.places = append(right.places, at)
		}
		for _, r := range []run{left, right} {
			if len(r.places) > 0 && separation(groups, retained, k, r.left) >= gap {
				r.stand(groups[i], centre)
				all = append(all, r)
			}
		}
	}
	return all
}

// separation returns how many cells there are from a kept group to the next one on that side; more
// than any line has where there is none.
func separation(groups []Leaf, retained []int, k int, left bool) int {
	switch {
	case left && k > 0:
		return groups[retained[k]].Lo - groups[retained[k-1]].Hi
	case !left && k < len(retained)-1:
		return groups[retained[k+1]].Lo - groups[retained[k]].Hi
	}
	return math.MaxInt
}

// nearby is the part of a run's width, inside its edge, by whose rows it is judged how many
// there are at the edge: beside a heap, which is one cell, there are few.
const nearby = .25

// stand measures distances in those from the centre of all rows to the edge, at least in
// widths of the kept group, and finds how many rows a range of that width would have at the
// density near the edge.
func (r *run) stand(src Leaf, centre float64) {
	r.edge, r.width, r.beside = float64(src.Hi), float64(src.Hi-src.Lo), src.Count
	if r.left {
		r.edge = float64(src.Lo)
	}
	away := math.Abs(r.edge - centre)
	if away <= r.width {
		return
	}
	near := max(nearby*away, r.width)
	lo, hi := r.edge-near, r.edge
	if r.left {
		lo, hi = r.edge, r.edge+near
	}
	retained := 0.0
	for _, g := range r.groups {
		retained += float64(g.Count * max(0, min(hi, float64(g.Hi))-max(lo, float64(g.Lo))) / float64(g.Hi-g.Lo))
	}
	r.width, r.beside = away, max(retained, 0)*away/near
}

// settled returns the estimated counts of a run. Rows become fewer by a power of the distance:
// with m0 rows in the range of width w that ends at the edge, one from d1 to d2 beyond it has
// the mean
//
//	m0 a rho [(1 + d1/w)^-b - (1 + d2/w)^-b] / (1 - rho),  rho = 2^-b,
//
// that is a rho m0 in the range of width w beside the edge, and its count is an exponential one
// of that mean. What is returned is the mean of the posterior means over a grid of rho and a, by the
// likelihood of the run: two numbers are told from all of its counts where each alone is
// not.
func (r run) settled() []float64 {
	octaves := r.octaves()
	var logs []float64
	var means [][]float64
	most := math.Inf(-1)
	for step := 1; step <= ratios; step++ {
		shape := falling(mostRatio*float64(step)/ratios, octaves)
		for _, level := range []float64{.25, .5, 1, 2} {
			log, mean := 0.0, make([]float64, len(shape))
			for k, i := range r.places {
				g := r.groups[i]
				mean[k] = max(r.beside*level*shape[k], leastMean*g.sd())
				log += logDensity(g.Count, g.sd(), mean[k])
			}
			logs, means, most = append(logs, log), append(means, mean), max(most, log)
		}
	}
	return r.mean(logs, means, most)
}

// mean returns the mean of the posterior means of each law of the grid, by likelihood.
func (r run) mean(logs []float64, means [][]float64, most float64) []float64 {
	counts, whole := make([]float64, len(r.places)), 0.0
	for law, log := range logs {
		weight := bitmath.Exp(log - most)
		if whole += weight; weight < negligible {
			continue
		}
		for k, i := range r.places {
			counts[k] += float64(weight * Posterior(r.groups[i].Count, r.groups[i].sd(), means[law][k]))
		}
	}
	for k := range counts {
		counts[k] /= whole
	}
	return r.scaled(counts)
}

// scaled scales the counts of a run to what was counted of all of it, where that is told from
// none as the count of a kept group is: what each range has is not known then, but how many rows
// they have together. Since all groups share one total, the sum has the variance of the run
// or of all other groups, whichever is less: v (w - v)/w, v of the run's w.
func (r run) scaled(counts []float64) []float64 {
	retained, variance, whole, all := 0.0, 0.0, 0.0, 0.0
	for k, i := range r.places {
		retained, variance, whole = retained+r.groups[i].Count, variance+r.groups[i].Var, whole+counts[k]
	}
	for _, g := range r.groups {
		all += g.Var
	}
	if variance *= max(all-variance, 0) / all; retained >= keptFrom*math.Sqrt(variance) && whole > 0 {
		for k := range counts {
			counts[k] *= retained / whole
		}
	}
	return counts
}

const (
	ratios     = 10    // that rows may become fewer by from one octave of distance to the next: .05 to .5
	mostRatio  = .5    // beyond, each octave adds more to the mean than the one before it, and bounds would set the mean
	leastMean  = 1e-9  // of a standard deviation: less is nothing
	negligible = 1e-12 // weight of a law beside the best one
)

// octaves returns the logarithms, to base 2, of 1 + d/w at both ends of each range.
func (r run) octaves() [][2]float64 {
	list := make([][2]float64, len(r.places))
	for k, i := range r.places {
		near, far := float64(r.groups[i].Lo)-r.edge, float64(r.groups[i].Hi)-r.edge
		if r.left {
			near, far = -far, -near
		}
		list[k] = [2]float64{bitmath.Log2(1 + near/r.width), bitmath.Log2(1 + far/r.width)}
	}
	return list
}

// falling returns the means of ranges over m0, for a ratio rho of one octave to the one
// before it.
func falling(rho float64, octaves [][2]float64) []float64 {
	shape := make([]float64, len(octaves))
	for k, o := range octaves {
		shape[k] = rho * (bitmath.Pow(rho, o[0]) - bitmath.Pow(rho, o[1])) / (1 - rho)
	}
	return shape
}
