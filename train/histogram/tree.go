package histogram

import (
	"fmt"
	"math"

	"weir/internal/bitmath"
)

// Leaf is a range of grid cells [Lo, Hi) that is not divided further: its estimated
// count and the variance of its noise.
type Leaf struct {
	Lo, Hi     int
	Count, Var float64
}

// firstParts is how many parts of the line are asked first.
const firstParts = 4

// divideAt is the least estimate that is divided, in standard deviations of the noise
// that its halves will have.
const divideAt = 5

// growth is by how much more of the budget a release takes than the one before it: what
// it divides, fewer releases count.
const growth = 1.2

// Levels returns how many releases lead from firstParts parts of a line to single cells, each
// halving what the one before left.
func Levels(cells int) int {
	levels := 1
	for widest := (cells + firstParts - 1) / firstParts; widest > 1; widest = (widest + 1) / 2 {
		levels++
	}
	return levels
}

// Line is a line of cells whose counts are found by a Tree.
type Line struct {
	Cells   int
	Missing bool    // one cell more, behind the cells of the line, that is counted with them
	Total   float64 // of all of them where it is public; 0: it is not
	SD      float64 // noise of one release that takes all of the budget
}

// Tree finds where the counts of a line lie, release after release. The first asks
// firstParts parts of the line; each later one asks the halves of those parts whose
// estimate is at least divideAt standard deviations, and every other part again, so that
// no part of the budget is lost on where the line is not divided. Where nothing is left
// to divide, the next release takes the whole rest.
//
// ask releases the noisy counts of disjoint ranges of cells [lo, hi), of the noise that
// its part of the budget buys, and returns their variance; it must charge them as one
// histogram whatever the ranges are. Missing is the range from Cells to Cells+1. Tree
// sees no other count, so that all that it chooses is chosen from released numbers.
// Parts sum to 1 on every path.
//
// The estimate is by generalised least squares, from the leaves to the root and
// back (Hay, Rastogi, Miklau, Suciu 2010), but that the parts of a range share its count
// by the nearest point that is not negative, in units of their noise: dense parts stay
// unbiased, sparse ones lose what noise added. Variances of leaves are scaled so that
// the variances of an undivided first part sum to the variance of its estimate. Leaves come from
// left to right and cover all cells. An error comes from ask, or names a wrong number of
// answers.
func (l Line) Tree(ask func(part float64, nodes [][2]int) (y []float64, variance float64, err error)) (Divided, error) {
	root, levels := l.root(), Levels(l.Cells)
	rest := 1.
	for left, open := levels, true; left > 0; {
		take := rest
		if open && left > 1 {
			take = rest * (growth - 1) / (bitmath.Pow(growth, float64(left)) - 1)
		}
		if err := l.release(&root, take, ask); err != nil {
			return Divided{}, err
		}
		left--
		if rest -= take; !open || left == 0 {
			break
		}
		open = root.halve(l.Cells, divideAt*l.SD/math.Sqrt(rest))
	}
	return Divided{root: &root, cells: l.Cells}, nil
}

// root returns the line and its first parts.
func (l Line) root() part {
	root := part{hi: l.Cells}
	for k := range min(firstParts, l.Cells) {
		of := min(firstParts, l.Cells)
		root.parts = append(root.parts, part{lo: k * l.Cells / of, hi: (k + 1) * l.Cells / of})
	}
	if l.Missing {
		root.parts = append(root.parts, part{lo: l.Cells, hi: l.Cells + 1})
	}
	return root
}

// release asks all ranges that are not divided, and estimates anew.
func (l Line) release(root *part, share float64, ask func(float64, [][2]int) ([]float64, float64, error)) error {
	whole := root.whole(nil)
	nodes := make([][2]int, len(whole))
	for i, p := range whole {
		nodes[i] = [2]int{p.lo, p.hi}
	}
	y, variance, err := ask(share, nodes)
	if err == nil {
		err = answered(len(y), len(nodes))
	}
	if err != nil {
		return err
	}
	for i, p := range whole {
		p.sum, p.weight = p.sum+y[i]/variance, p.weight+1/variance
	}
	root.up()
	if root.count = l.Total; l.Total <= 0 {
		root.count = max(root.mean, 0)
	}
	root.down()
	return nil
}

// answered says that a release has another number of counts than were asked.
func answered(counts, ranges int) error {
	if counts != ranges {
		return fmt.Errorf("histogram: internal error: %d counts for %d ranges", counts, ranges)
	}
	return nil
}

// haarLevels is how many widths of step are looked at: 1, 2, 4, 8 and 16 cells.
const haarLevels = 5

// haarStep is the threshold of a step of one cell, in sd sqrt(2 ln n).
const haarStep = .7

// Haar estimates a histogram from noisy counts y of equal noise sd: steps between
// neighbours that noise explains are levelled, others stay, so that heaps keep their
// counts and flat stretches are averaged. It is the translation-invariant Haar
// transform (Coifman, Donoho 1995) with hard threshold .7 sd sqrt(2 ln n) for a step
// of one cell, less by sqrt(2) at each wider one as the noise of means is; the line is
// a ring. The result is the nearest one that is not negative and sums to total
// (Simplex): on the fine histograms of Adult and Cardio its error is .55 to 1 times the error
// of clipping at 0 and scaling. All are 0 where total is not positive.
func Haar(y []float64, sd, total float64) []float64 {
	n := max(len(y), 1)
	levels := min(haarLevels, int(bitmath.Log2(float64(n))))
	return Simplex(levelled(y, levels, 1, haarStep*sd*math.Sqrt(2*bitmath.Log(float64(n)))), total)
}

// levelled levels steps of `width` cells and all wider ones, of `levels` widths.
func levelled(fine []float64, levels, width int, threshold float64) []float64 {
	if levels == 0 {
		return fine
	}
	n := len(fine)
	threshold /= math.Sqrt2 // a step is half a difference
	mean, step := make([]float64, n), make([]float64, n)
	for i, v := range fine {
		next := fine[(i+width)%n]
		mean[i], step[i] = (v+next)/2, (v-next)/2
		if math.Abs(step[i]) < threshold {
			step[i] = 0
		}
	}
	mean = levelled(mean, levels-1, 2*width, threshold)
	out := make([]float64, n)
	for i := range out {
		left := (i - width + n) % n
		out[i] = (mean[i] + step[i] + mean[left] - step[left]) / 2
	}
	return out
}

// branching is by how much ranges of one level are wider than ranges of the next.
const branching = 2

// explained returns how many standard deviations of one leaf the leaves of a level have to
// hold together to hold anything, where noise is what they may hold: of a score of empty ones
// the projection leaves one or more on average. It asks for more the further out they lie.
func explained(levels int) float64 { return float64(min(levels+1, 3)) }

// weights returns the shares of leaves in their bin: less than the estimate, since noise
// put counts where nothing is, and never 0, since a count of 0 is an estimate too.
//
// The narrowest leaves get max(count - .25 sd, 0) + .05 sd. The factors were measured
// behind Haar and Tree as they are here: on eight columns of Adult and Cardio, noise sd
// 15, 60 and 250, their error is up to a fifth below the error of .5 and .1, and up to a
// fortieth above on one (hours at noise sd 250).
//
// Leaves of an earlier level of a tree are beside them where a column has a long tail.
// They lie far out, so a few rows that noise put there move the mean by more than all
// others: ranges of one level count together, as nothing where noise explains their sum,
// else as max(count - .5 sd, 0); and what each gets beside is as much less as its cells
// are more. Log-normal amounts between 0 and 10,000 (median 7.4, 5,000 rows) so have 1.3
// times their mean, where the rule for narrow leaves makes it 8 times; the error of
// marginals is no greater (docs/marginals.md section 5).
func weights(leaves []Leaf) []float64 {
	levels := levelsOf(leaves)
	retained, sd := heldBy(leaves, levels)
	w := make([]float64, len(leaves))
	for i, l := range leaves {
		pos, ownValue := levels[i], math.Sqrt(l.Var)
		w[i] = .05 * ownValue / bitmath.Pow(branching, float64(pos))
		switch {
		case pos == 0:
			w[i] += max(l.Count-float64(.25*ownValue), 0)
		case retained[pos] >= explained(pos)*sd[pos]:
			w[i] += max(l.Count-float64(.5*ownValue), 0)
		}
	}
	if !(sum(w) > 0) {
		for i, l := range leaves {
			w[i] = float64(l.Hi - l.Lo)
		}
	}
	return w
}

// levelsOf says of each leaf how many levels of a tree it lies above the narrowest one.
func levelsOf(leaves []Leaf) []int {
	narrowest := leaves[0].Hi - leaves[0].Lo
	for _, l := range leaves {
		narrowest = min(narrowest, l.Hi-l.Lo)
	}
	levels := make([]int, len(leaves))
	for i, l := range leaves {
		times := float64(l.Hi-l.Lo) / float64(narrowest)
		levels[i] = int(math.Round(bitmath.Log2(times) / bitmath.Log2(branching)))
	}
	return levels
}

// heldBy is, by level, what its leaves hold together, and the greatest noise of one.
func heldBy(leaves []Leaf, levels []int) (retained, sd map[int]float64) {
	retained, sd = map[int]float64{}, map[int]float64{}
	for i, l := range leaves {
		retained[levels[i]] += l.Count
		sd[levels[i]] = max(sd[levels[i]], math.Sqrt(l.Var))
	}
	return retained, sd
}

// Merge puts neighbouring leaves together to bins of about rows/bins rows, from the
// left: each bin is a range [from, to) of leaves, and all leaves are in one. A leaf of
// a single cell whose count is more than half of that and at least 4 standard
// deviations of its noise stands alone:
// it is a heap of its own (0 of a capital gain). What is left before such a leaf or at
// the end, and is less than half a bin, joins the bin before unless that stands alone.
// There is one bin where rows or bins is not positive.
func Merge(leaves []Leaf, rows float64, bins int) [][2]int {
	want := rows / float64(bins)
	if bins <= 0 || !(rows > 0) {
		want = math.Inf(1)
	}
	m := merger{want: want}
	for i, l := range leaves {
		if l.Hi-l.Lo == 1 && l.Count > want/2 && l.Count >= 4*l.sd() {
			m.end(i, m.rows < want/2)
			m.end(i+1, false)
			m.alone = true
			continue
		}
		if m.rows += l.Count; m.rows >= want {
			m.end(i+1, false)
		}
	}
	m.end(len(leaves), m.rows < want/2)
	return m.bins
}

// merger is the bins so far, and the one that is being filled.
type merger struct {
	want  float64
	bins  [][2]int
	from  int     // first leaf of the bin being filled
	rows  float64 // in it
	alone bool    // the last of bins is one leaf that stands alone
}

// end ends the bin being filled before leaf `to`; a small one joins the bin before.
func (m *merger) end(end int, small bool) {
	if m.from == end {
		return
	}
	if small && len(m.bins) > 0 && !m.alone {
		m.bins[len(m.bins)-1][1] = end
	} else {
		m.bins = append(m.bins, [2]int{m.from, end})
		m.alone = false
	}
	m.from, m.rows = end, 0
}
