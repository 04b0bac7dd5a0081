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

// Levels is how many releases lead from firstParts parts of a line to single cells, each
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
	Missing bool    // one cell more, behind those of the line, that is counted with them
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
// The estimate is that of generalised least squares, from the leaves to the root and
// back (Hay, Rastogi, Miklau, Suciu 2010), but that the parts of a range share its count
// by the nearest point that is not negative, in units of their noise: dense parts stay
// unbiased, sparse ones lose what noise added. Variances of leaves are scaled so that
// those of an undivided first part sum to the variance of its estimate. Leaves come from
// left to right and cover all cells. An error is that of ask, or names a wrong number of
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

// root is the line and its first parts.
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
