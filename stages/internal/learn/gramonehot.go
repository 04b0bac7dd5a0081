package learn

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/train/parallel"
)

// narrow is the width up to which a block is cheaper as stored columns: the matrix
// product takes several cells in the time of one sum at a place that varies.
const narrow = 2

// gramOneHot is gram of a matrix with blocks: two blocks meet in one cell a row, a
// block and a stored column in one. A cell is summed by one worker, by ascending row.
func gramOneHot(x Matrix, w []float64, workers int) *mat.SymDense {
	if w == nil {
		w = ones(x.Rows)
	}
	g := oneHotGram{w: w, sum: mat.NewSymDense(len(x.Cols)+1, nil)}
	x.each(func(j int, c []float64) { g.store(j, c) }, func(b Block) {
		if b.Width > narrow {
			g.wide = append(g.wide, b)
			return
		}
		for k, c := range b.columns() {
			g.store(b.First+k, c)
		}
	})
	g.spread(gramStored(Matrix{Rows: x.Rows, Cols: g.stored}, w, workers), len(x.Cols))
	parallel.Do(workers, len(g.wide), func(_, k int) { g.block(k) })
	return g.sum
}

type oneHotGram struct {
	w      []float64
	sum    *mat.SymDense
	stored [][]float64
	places []int // of the stored columns
	wide   []Block
}

func (g *oneHotGram) store(j int, c []float64) {
	g.stored, g.places = append(g.stored, c), append(g.places, j)
}

// spread puts the products of stored columns, and last of the ones, in their places.
func (g *oneHotGram) spread(h *mat.SymDense, last int) {
	places := append(slices.Clone(g.places), last)
	for a, j := range places {
		for b := a; b < len(places); b++ {
			g.sum.SetSym(j, places[b], h.At(a, b))
		}
	}
}

// blockRows is how many rows of a block are gone through before the next partner, so
// that codes and weights stay in the cache.
const blockRows = 4096

// block sums the products of wide block k with itself, the ones, the stored columns
// and the blocks after it.
func (g *oneHotGram) block(k int) {
	a := g.wide[k]
	// An odd column is its own neighbour, and its second sum is not used.
	alone, beside := make([]float64, a.Width), NewMatrix(a.Width, len(g.stored)+1)
	for lo := 0; lo < len(g.w); lo += blockRows {
		hi := min(lo+blockRows, len(g.w))
		codes, w := a.Codes[lo:hi], g.w[lo:hi]
		Block{Codes: codes}.dots(w, alone)
		for j := 0; j < len(g.stored); j += 2 {
			next := g.stored[min(j+1, len(g.stored)-1)]
			weighted(codes, w, g.stored[j][lo:hi], next[lo:hi], beside.Cols[j], beside.Cols[j+1])
		}
		for _, b := range g.wide[k+1:] {
			g.pair(a, b, lo, hi)
		}
	}
	last := g.sum.SymmetricDim() - 1
	for c, v := range alone {
		g.sum.SetSym(a.First+c, a.First+c, v)
		g.sum.SetSym(a.First+c, last, v)
		for j, at := range g.places {
			g.sum.SetSym(a.First+c, at, beside.Cols[j][c])
		}
	}
}

// weighted adds the weighted entries of two columns to the codes of their rows. Of
// one column a sum would wait for the one before it, where codes repeat.
func weighted(codes []int32, w, c, d, toC, toD []float64) {
	w, c, d, toD = w[:len(codes)], c[:len(codes)], d[:len(codes)], toD[:len(toC)]
	for i, k := range codes {
		if uint32(k) < uint32(len(toC)) {
			toC[k] += float64(w[i] * c[i])
			toD[k] += float64(w[i] * d[i])
		}
	}
}

// pair adds the weights of rows lo to hi-1 where blocks a and b meet; a comes before
// b, so that its columns are rows of the upper triangle.
func (g *oneHotGram) pair(a, b Block, lo, hi int) {
	raw := g.sum.RawSymmetric()
	to, other, w := raw.Data[a.First*raw.Stride+b.First:], b.Codes[lo:hi], g.w[lo:hi]
	for i, k := range a.Codes[lo:hi] {
		if l := other[i]; uint32(k) < uint32(a.Width) && uint32(l) < uint32(b.Width) {
			to[int(k)*raw.Stride+int(l)] += w[i]
		}
	}
}
