package histogram

import (
	"math"

	"weir/internal/bitmath"
)

const (
	scoutShare = .15 // of the budget, for the first release
	mostParts  = 16  // that the first release counts
	bodySeen   = 3   // standard deviations of the first release that a part of the body shows
	mostHole   = 2   // parts without rows that a body may have inside
)

// Scout counts a line of few cells in two releases. The first, of scoutShare of the budget,
// counts equal parts of the line; those that hold rows are its body. The second counts the
// single cells of the body, and what lies beyond in ranges that are the wider the farther they are
// away: nearly all cells of a long tail are empty, and the noise of each would hide how little
// they hold together.
//
// ask is as in Tree: each release is one histogram over disjoint ranges that hold all cells,
// missing values included, whichever ranges the first has led to. An error comes from ask, or
// names a wrong number of answers.
func (l Line) Scout(ask func(part float64, nodes [][2]int) (y []float64, variance float64, err error)) (Scouted,
	error) {
	parts := l.parts(max(min(mostParts, l.Cells/2), 1))
	first, v1, err := l.answersTo(parts, scoutShare, ask)
	if err != nil {
		return Scouted{}, err
	}
	ranges := awayFromBody(l.bodyOf(parts, first, math.Sqrt(v1)), len(parts))
	var nodes [][2]int
	for _, r := range ranges {
		nodes = append(nodes, r.nodes(parts)...)
	}
	second, v2, err := l.answersTo(nodes, 1-scoutShare, ask)
	if err != nil {
		return Scouted{}, err
	}
	var c Scouted
	for _, r := range ranges {
		own := second[:len(r.nodes(parts))]
		c.groups = append(c.groups, r.group(parts, first, v1, own, v2))
		second = second[len(own):]
	}
	if l.Missing {
		g := both(l.Cells, l.Cells+1, first[len(parts)], v1, second[0], v2)
		c.missing = &g
	}
	return c, nil
}

// parts returns n equal ranges of the cells.
func (l Line) parts(n int) [][2]int {
	parts := make([][2]int, n)
	for k := range parts {
		parts[k] = [2]int{k * l.Cells / n, (k + 1) * l.Cells / n}
	}
	return parts
}

// answersTo releases the counts of ranges, and behind them of missing values.
func (l Line) answersTo(nodes [][2]int, part float64, ask func(float64, [][2]int) ([]float64, float64, error)) (
	[]float64,
	float64, error) {
	if l.Missing {
		nodes = append(nodes[:len(nodes):len(nodes)], [2]int{l.Cells, l.Cells + 1})
	}
	y, variance, err := ask(part, nodes)
	if err == nil {
		err = answered(len(y), len(nodes))
	}
	return y, variance, err
}

// bodyOf tells which parts are told apart: those that show rows beside the first release's
// noise, and so many that their cells would beside the second's; parts beside them that show the latter alone; holes
// of mostHole parts. Where none shows, the largest.
func (l Line) bodyOf(parts [][2]int, y []float64, sd float64) []bool {
	near := min(max(.8*float64(l.Cells)/float64(len(parts)), 1.5), 5) * l.SD / math.Sqrt(1-scoutShare)
	body, largest, any := make([]bool, len(parts)), 0, false
	for k := range parts {
		if body[k] = y[k] >= max(bodySeen*sd, near); body[k] {
			any = true
		}
		if y[k] > y[largest] {
			largest = k
		}
	}
	if !any {
		body[largest] = true
		return body
	}
	seen := append([]bool(nil), body...)
	for k := range parts {
		beside := k > 0 && seen[k-1] || k+1 < len(parts) && seen[k+1]
		body[k] = seen[k] || beside && y[k] >= near
	}
	return filled(body)
}

// filled closes small holes.
func filled(body []bool) []bool {
	last := -1
	for k := range body {
		if !body[k] {
			continue
		}
		if last >= 0 && k-last-1 <= mostHole {
			for hole := last + 1; hole < k; hole++ {
				body[hole] = true
			}
		}
		last = k
	}
	return body
}

// stretch is neighbouring parts that the second release counts alike: cell by cell, or as one
// range.
type stretch struct {
	from, to int
	fine     bool
}

// awayFromBody returns the parts of the body, and ranges of 1, 2, 4 and more other parts going away
// from it. What is left at the end of a line joins the range before it where it is at most
// half as wide. Between two parts of a body ranges go away from both, to the middle.
func awayFromBody(body []bool, n int) (ranges []stretch) {
	for start := 0; start < n; {
		end := start
		for end < n && body[end] == body[start] {
			end++
		}
		switch {
		case body[start]:
			for k := start; k < end; k++ {
				ranges = append(ranges, stretch{k, k + 1, true})
			}
		case start == 0:
			ranges = append(ranges, leftward(start, end)...)
		case end == n:
			ranges = append(ranges, rightward(start, end)...)
		default:
			middle := (start + end) / 2
			ranges = append(append(ranges, rightward(start, middle)...), leftward(middle, end)...)
		}
		start = end
	}
	return ranges
}

// rightward divides parts into ranges that double from left to right.
func rightward(start, end int) (ranges []stretch) {
	for width := 1; start < end; width *= 2 {
		next := min(start+width, end)
		if rest := end - next; rest > 0 && 2*rest <= width {
			next = end
		}
		ranges, start = append(ranges, stretch{start, next, false}), next
	}
	return ranges
}

func leftward(from, end int) []stretch {
	ranges := rightward(0, end-from)
	for i, r := range ranges {
		ranges[i] = stretch{end - r.to, end - r.from, false}
	}
	for i, j := 0, len(ranges)-1; i < j; i, j = i+1, j-1 {
		ranges[i], ranges[j] = ranges[j], ranges[i]
	}
	return ranges
}

// nodes returns the ranges of cells that the second release asks.
func (r stretch) nodes(parts [][2]int) (nodes [][2]int) {
	lo, hi := parts[r.from][0], parts[r.to-1][1]
	if !r.fine {
		return [][2]int{{lo, hi}}
	}
	for cell := lo; cell < hi; cell++ {
		nodes = append(nodes, [2]int{cell, cell + 1})
	}
	return nodes
}

// group joins what both releases say of a stretch.
func (r stretch) group(parts [][2]int, first []float64, v1 float64, second []float64, v2 float64) group {
	g := both(parts[r.from][0], parts[r.to-1][1], sum(first[r.from:r.to]), float64(r.to-r.from)*v1, sum(second),
		float64(len(second))*v2)
	if r.fine {
		g.cells, g.noise = second, v2
	}
	return g
}

// both returns a range that was counted twice.
func both(lo, hi int, y1, v1, y2, v2 float64) group {
	w1, w2 := 1/v1, 1/v2
	v := 1 / (w1 + w2)
	return group{Leaf: Leaf{Lo: lo, Hi: hi, Count: float64((float64(w1*y1) + float64(w2*y2)) * v), Var: v}, variance: v}
}

// Scouted is a line of cells as releases counted it: groups of neighbouring cells, from left
// to right, with an estimate of each by least squares over all releases.
type Scouted struct {
	groups  []group
	missing *group // values that are not a cell of the line; nil: the line has none
}

// group is neighbouring cells that one release counted together.
type group struct {
	Leaf               // Var is scaled so that groups sum to what is known of them together
	variance float64   // of the estimate of this group by itself
	cells    []float64 // counts of its cells, of a release that told them apart; nil: none did
	noise    float64   // variance of those
}

// Leaves estimates the counts of the line, none below 0, where all rows are total, missing values
// included; total 0 is what was counted. Groups are settled (settle), then shared out to their
// cells, where these were counted, by Haar's steps. Leaves come from left to right and
// cover all cells. A range of several cells whose count was settled has no variance: it is
// known from what lies around it, not from its own noise.
func (c Scouted) Leaves(total float64) []Leaf {
	groups, missing := c.shared(total)
	plain, present := make([]Leaf, len(groups)), -missing
	for i, g := range groups {
		plain[i] = Leaf{Lo: g.Lo, Hi: g.Hi, Count: g.Count, Var: g.variance}
		present += g.Count
	}
	if total > 0 {
		present = total - missing
	}
	counts := settle(plain, max(present, 0))
	var leaves []Leaf
	for start, i := 0, 0; i < len(groups); i++ {
		if groups[i].cells == nil {
			leaf := groups[i].Leaf
			if leaf.Count = counts[i]; leaf.Hi-leaf.Lo > 1 && plain[i].Count < keptFrom*plain[i].sd() {
				leaf.Var = 0
			}
			leaves, start = append(leaves, leaf), i+1
		} else if i+1 == len(groups) || groups[i+1].cells == nil {
			leaves = body(leaves, groups[start:i+1], counts[start:i+1])
		}
	}
	return leaves
}

// shared returns the groups, and the missing values, such that their counts sum to total:
// what they lack is shared by variance.
func (c Scouted) shared(total float64) (groups []group, missing float64) {
	groups = append(groups, c.groups...)
	if c.missing != nil {
		groups = append(groups, *c.missing)
	}
	lack, variance := total, 0.0
	for _, g := range groups {
		lack, variance = lack-g.Count, variance+g.variance
	}
	for i := range groups {
		if total > 0 {
			groups[i].Count += lack * groups[i].variance / variance
		}
	}
	if last := len(groups) - 1; c.missing != nil {
		return groups[:last], max(groups[last].Count, 0)
	}
	return groups, 0
}

// body appends the cells of neighbouring groups, each of which gets its count: what noise
// explains of the steps between cells is levelled (Haar) over all of them.
func body(leaves []Leaf, groups []group, counts []float64) []Leaf {
	var fine []float64
	for i, g := range groups {
		more := (counts[i] - sum(g.cells)) / float64(len(g.cells))
		for _, y := range g.cells {
			fine = append(fine, y+more)
		}
	}
	n := float64(len(fine))
	fine = levelled(fine, min(haarLevels, int(bitmath.Log2(n))), 1,
		haarStep*math.Sqrt(float64(2*groups[0].noise*bitmath.Log(n))))
	for i, g := range groups {
		k := len(g.cells)
		for at, count := range Simplex(fine[:k], counts[i]) {
			leaves = append(leaves, Leaf{Lo: g.Lo + at, Hi: g.Lo + at + 1, Count: count, Var: g.Var / float64(k)})
		}
		fine = fine[k:]
	}
	return leaves
}
