package train

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"weir/train/net"
)

// Worst leaves rows out of the batches of a loop: so many real rows of each batch, and so many
// generated ones, that are least like others. nil leaves out none.
//
// Real rows. Rank gives each row of the table a place in one order of all, which follows from a
// released score and the row's own contents, so that ties, which are by place, are between equal
// rows alone. A step draws its batch as ever, and the Rows of it that rank highest, all of a
// batch that has no more, add nothing to its sum. They keep their places in it, so that they do not shift
// the draws of others.
//
// Let B be the batch that the coins of all other rows give, K(B) what is kept of it, as a multiset,
// and x a row more. With fewer than Rows rows in B nothing is kept of B, nor of B+x. Else let m be
// the least of the Rows highest of B. If x ranks above m it takes a place among them and m is
// kept: K(B+x) = K(B)+m. If not, K(B+x) = K(B)+x. So x brings one row to what is kept and takes
// none away, and a group S of c rows brings at most |S| (apply it |S| times). Hence:
//
//   - The clipped sum f(B) = sum over K(B) moves by at most one clip, of a whole gradient or of each
//     tensor: f has the sensitivity of a sum over B. (Draws belong to places in the batch before
//     rows are left out, so that a row that B and B+x keep both can be given the same.)
//   - Poisson samples: what a step releases with x is the mixture over B, in whose law x has no part,
//     of (1-q) N(f(B)) + q N(f(B+x)), and without x the mixture of N(f(B)). Divergences are jointly convex,
//     so that the largest over B bounds both directions, and that pair is the one that
//     Poisson-sampled Gaussians are charged for: it asks of f(B+x)-f(B) no more than its
//     length. Under replace_one the second pair is (1-q) N(f(B)) + q N(f(B+y)), each within
//     one clip of f(B): the pair of two clips. c rows are met with probability
//     1-(1-q)^c and move f by at most c clips, which is what privacy.Group charges.
//   - Batches of a shuffle: given its order, which no row has a say in, one place of one batch an epoch
//     has another row: K loses at most one row and gains at most one, so that it moves by two
//     clips, as DPSGD says.
//
// So what is paid for a sum over the batch pays for this one. A rule that looks at the batch in another
// way is not free: whoever drops all rows above the mean score of their batch lets one row move many
// (TestWrongRuleMovesMany).
//
// Generated rows. Score is public: released numbers and the row alone. The Rows of a generated batch with the highest
// scores have gradients of zero, for critic and generator: post-processing, like the batch.
//
// Divisors are public: the expected batch size less Rows, and the generated batch less Rows.
type Worst struct {
	Rows  int
	Rank  []int32 // of each row of the table, from 0, the highest last; no two alike
	Score Score   // of generated rows; nil where a loop makes none
}

// Score gives generated rows a number each, the higher the less they are like others, by
// released numbers and the row alone. label is the label of all rows, or noLabel where the rows say it. It is
// safe for concurrent use.
type Score func(x net.Matrix, label int) []float64

const noLabel = -1

// NewWorst ranks n rows by score, and where it is equal by compare, of rows i and j; what is
// equal there too, by place.
func NewWorst(rows int, scores []float64, compare func(i, j int32) int, score Score) *Worst {
	order := make([]int32, len(scores))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		if c := cmp.Compare(scores[i], scores[j]); c != 0 {
			return c
		}
		return cmp.Or(compare(i, j), cmp.Compare(i, j))
	})
	w := &Worst{Rows: rows, Rank: make([]int32, len(scores)), Score: score}
	for at, i := range order {
		w.Rank[i] = int32(at)
	}
	return w
}

// check refuses an order that is not one of n rows, and a batch that would be empty: batch is the
// public size that sums are divided by, made the rows that a loop generates a step (0: none).
func (w *Worst) check(n int, batch float64, created int) error {
	if w == nil {
		return nil
	}
	var errs []error
	if seen := make([]bool, n); len(w.Rank) != n || slices.ContainsFunc(w.Rank, func(at int32) bool {
		return at < 0 ||
			int(at) >= n || !first(seen, at)
	}) {
		errs = append(errs, errors.New("worst: ranks are not an order of the rows, must name each row once"))
	}
	if w.Rows < 1 || float64(w.Rows) >= batch {
		errs = append(errs, fmt.Errorf("worst: is %d rows of a batch of %g, must be at least 1 and fewer than the batch",
			w.Rows,
			batch))
	}
	if created > 0 && (w.Score == nil || w.Rows >= created) {
		errs = append(errs, fmt.Errorf("worst: is %d of %d generated rows, must be fewer, and have scores", w.Rows, created))
	}
	return errors.Join(errs...)
}

func first(seen []bool, at int32) bool {
	was := seen[at]
	seen[at] = true
	return !was
}

// less returns a public size of a batch without the rows that are left out.
func (w *Worst) less(batch float64) float64 {
	if w == nil {
		return batch
	}
	return batch - float64(w.Rows)
}

// omitted marks the rows of a batch that rank highest; nil is none. A row that is listed twice
// counts twice.
func (w *Worst) omitted(batch []int32) []bool {
	if w == nil {
		return nil
	}
	out := make([]bool, len(batch))
	for _, i := range w.highest(len(batch), func(i int) float64 { return float64(w.Rank[batch[i]]) }) {
		out[i] = true
	}
	return out
}

// survivors drops from the rows of a batch, in place, those that rank highest; the others stay in order.
func (w *Worst) survivors(batch []int32) []int32 {
	if w == nil {
		return batch
	}
	omit, out := w.omitted(batch), batch[:0]
	for i, row := range batch {
		if !omit[i] {
			out = append(out, row)
		}
	}
	return out
}

// ofEach makes the kept lists of lists that stay as they are.
func (w *Worst) ofEach(lists [][]int32) [][]int32 {
	if w == nil {
		return lists
	}
	out := make([][]int32, len(lists))
	for k, list := range lists {
		out[k] = w.survivors(slices.Clone(list))
	}
	return out
}

// highest returns the places of the Rows highest of n numbers, ascending, all where there are fewer; of
// equal ones the first.
func (w *Worst) highest(n int, lookup func(i int) float64) []int {
	least, equal := w.limit(n, lookup)
	places := make([]int, 0, w.Rows)
	for i := range n {
		switch v := lookup(i); {
		case n <= w.Rows || v > least:
			places = append(places, i)
		case v == least && equal > 0:
			places, equal = append(places, i), equal-1
		}
	}
	return places
}

// limit returns the least of the Rows highest of n numbers, and how many of those are equal to it.
func (w *Worst) limit(n int, lookup func(i int) float64) (least float64, equal int) {
	if n <= w.Rows {
		return 0, 0
	}
	top := make([]float64, 0, w.Rows+1) // ascending
	for i := range n {
		v := lookup(i)
		if len(top) == w.Rows && v <= top[0] {
			continue
		}
		at, _ := slices.BinarySearch(top, v)
		top = slices.Insert(top, at, v)
		if len(top) > w.Rows {
			top = slices.Delete(top, 0, 1)
		}
	}
	for equal < len(top) && top[equal] == top[0] {
		equal++
	}
	return top[0], equal
}

// dropped returns the places of the generated rows that are left out, ascending; of equal scores the first.
func (w *Worst) dropped(x net.Matrix, label int) []int {
	if w == nil {
		return nil
	}
	scores := w.Score(x, label)
	return w.highest(x.Rows, func(i int) float64 { return scores[i] })
}

// silence sets the gradients at the generated rows x that are left out to zero.
func (w *Worst) silence(grad, x net.Matrix, label int) {
	for _, i := range w.dropped(x, label) {
		clear(grad.Row(i))
	}
}

// spared moves the generated rows that stay to the front of x and returns them.
func (w *Worst) spared(x net.Matrix) net.Matrix {
	end, out := 0, w.dropped(x, noLabel)
	for i := range x.Rows {
		if len(out) > 0 && out[0] == i {
			out = out[1:]
			continue
		}
		if end != i {
			copy(x.Row(end), x.Row(i))
		}
		end++
	}
	return x.Slice(0, end)
}
