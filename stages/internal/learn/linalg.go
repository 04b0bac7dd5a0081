package learn

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"weir/internal/bitmath"
	"weir/train/parallel"
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// Sigmoid returns 1/(1+exp(-z)), without overflow.
func Sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + bitmath.Exp(-z))
	}
	e := bitmath.Exp(z)
	return e / (1 + e)
}

// sigmoids returns Sigmoid(z) and Sigmoid(-z), each with its leading digits.
func sigmoids(z float64) (s, not float64) {
	e := bitmath.Exp(-math.Abs(z))
	if s, not = 1/(1+e), e/(1+e); z < 0 {
		return not, s
	}
	return s, not
}

// softplus returns log(1+exp(z)), without overflow.
func softplus(z float64) float64 {
	if z > 0 {
		return z + bitmath.Log1p(bitmath.Exp(-z))
	}
	return bitmath.Log1p(bitmath.Exp(z))
}

// softmax replaces z by exp(z)/sum, after subtracting the greatest.
func softmax(z []float64) {
	greatest, sum := math.Inf(-1), 0.0
	for _, v := range z {
		greatest = max(greatest, v)
	}
	for i, v := range z {
		z[i] = bitmath.Exp(v - greatest)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
}

// dot returns the inner product. The conversion keeps compilers of processors that can from
// fusing product and sum, here, in axpy and where trees choose between splits.
func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

func axpy(alpha float64, x, y []float64) {
	for i, v := range x {
		y[i] += float64(alpha * v)
	}
}

func normInf(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func argmax(p []float64) int {
	pos := 0
	for i, v := range p {
		if v > p[pos] {
			pos = i
		}
	}
	return pos
}

// The products of row-major matrices: each element is one sum in one order.

// addTransposed adds x w' to y: x has n rows of in numbers, w has out rows of in.
func addTransposed(y, x, w []float64, n, in, out int) {
	for i := range n {
		for k := range out {
			y[i*out+k] += bitmath.Dot(x[i*in:][:in], w[k*in:][:in])
		}
	}
}

// addProduct adds scale a b to c: a has n rows of in numbers, b has in rows of out.
func addProduct(c []float64, scale float64, a, b []float64, n, in, out int) {
	for i := range n {
		for k, v := range a[i*in:][:in] {
			if v != 0 { // units that are off, and one-hot columns
				bitmath.Axpy(scale*v, b[k*out:][:out], c[i*out:][:out])
			}
		}
	}
}

// addCrossed adds scale a' b to c: a has n rows of in numbers, b has n rows of out.
func addCrossed(c []float64, scale float64, a, b []float64, n, in, out int) {
	for i := range n {
		for k, v := range a[i*in:][:in] {
			if v != 0 {
				bitmath.Axpy(scale*v, b[i*out:][:out], c[k*out:][:out])
			}
		}
	}
}

// cholesky returns the lower triangle L with LL' = h, row by row, or nil where rounding
// leaves h not positive definite.
func cholesky(h *mat.SymDense) [][]float64 {
	l := make([][]float64, h.SymmetricDim())
	for i := range l {
		l[i] = make([]float64, i+1)
		for j := range l[i] {
			v := h.At(i, j) - bitmath.Dot(l[i][:j], l[j][:j])
			switch {
			case j < i:
				l[i][j] = v / l[j][j]
			case !(v > 0):
				return nil
			default:
				l[i][i] = sqrt(v)
			}
		}
	}
	return l
}

// substitute returns the solution x of LL'x = g.
func substitute(l [][]float64, g []float64) []float64 {
	x := make([]float64, len(g))
	for i, row := range l {
		x[i] = (g[i] - bitmath.Dot(row[:i], x[:i])) / row[i]
	}
	for i := len(l) - 1; i >= 0; i-- {
		x[i] /= l[i][i]
		bitmath.Axpy(-x[i], l[i][:i], x[:i])
	}
	return x
}

var errSVD = &NotEstimable{-1, "the singular value decomposition did not converge"}

// qrRows is the number of rows that are reduced at once.
const qrRows = 4096

// triangle returns the upper triangular R of the QR decomposition of the columns,
// square. It is computed by blocks of rows (R of R's: Demmel et al. 2012), in
// memory of one block; the blocks do not depend on workers.
func triangle(cols [][]float64, workers int) *mat.Dense {
	p, n := len(cols), len(cols[0])
	step := max(qrRows, 4*p)
	blocks := (n + step - 1) / step
	parts := make([]*mat.Dense, blocks)
	parallel.Do(workers, blocks, func(_, b int) {
		lo, hi := b*step, min((b+1)*step, n)
		rows := make([][]float64, p)
		for j, c := range cols {
			rows[j] = make([]float64, max(hi-lo, p))
			copy(rows[j], c[lo:hi])
		}
		parts[b] = reduce(rows)
	})
	return stack(parts, p)
}

// reduce returns the triangle of columns, which it uses up.
func reduce(columns [][]float64) *mat.Dense {
	bitmath.Triangle(columns)
	r := mat.NewDense(len(columns), len(columns), nil)
	for j, c := range columns {
		for i, v := range c[:j+1] {
			r.Set(i, j, v)
		}
	}
	return r
}

func stack(parts []*mat.Dense, p int) *mat.Dense {
	if len(parts) == 0 {
		return mat.NewDense(p, p, nil)
	}
	r := parts[0]
	for _, next := range parts[1:] {
		both := make([][]float64, p)
		for j := range both {
			both[j] = append(mat.Col(nil, j, r), mat.Col(nil, j, next)...)
		}
		r = reduce(both)
	}
	return r
}

// singular returns the singular value decomposition U S V' of the first p columns of a triangle:
// the columns of U S, the singular values and the columns of V.
func singular(t *mat.Dense, p int) (scaled [][]float64, values []float64, right [][]float64, err error) {
	scaled = make([][]float64, p)
	for j := range scaled {
		scaled[j] = mat.Col(nil, j, t)[:p]
	}
	values, right, ok := bitmath.Singular(scaled)
	if !ok {
		return nil, nil, nil, errSVD
	}
	return scaled, values, right, nil
}

// gramParts is the number of partial sums of a Gram matrix. It is fixed, so that
// the bits do not depend on the number of workers.
const gramParts = 8

// gram returns Z' diag(w) Z with Z the columns of x and, last, a column of ones.
// Weights are not negative; nil is ones.
func gram(x Matrix, w []float64, workers int) *mat.SymDense {
	if len(x.Blocks) > 0 {
		return gramOneHot(x, w, workers)
	}
	return gramStored(x, w, workers)
}

func gramStored(x Matrix, w []float64, workers int) *mat.SymDense {
	parts := make([]*mat.SymDense, gramParts)
	parallel.Do(workers, gramParts, func(_, k int) {
		parts[k] = gramRows(x, w, k*x.Rows/gramParts, (k+1)*x.Rows/gramParts)
	})
	for _, p := range parts[1:] {
		parts[0].AddSym(parts[0], p)
	}
	return parts[0]
}

func gramRows(x Matrix, w []float64, lo, hi int) *mat.SymDense {
	p := len(x.Cols) + 1
	sum := mat.NewSymDense(p, nil)
	wide := min(chunk, hi-lo) // of few rows, as resamples have, a block holds no more
	block, roots := make([]float64, p*wide), make([]float64, wide)
	for ; lo < hi; lo += chunk {
		n := min(chunk, hi-lo)
		for i := range n {
			roots[i] = 1
			if w != nil {
				roots[i] = sqrt(w[lo+i])
			}
		}
		for j, c := range x.Cols {
			to := block[j*wide : j*wide+n]
			for i, v := range c[lo : lo+n] {
				to[i] = v * roots[i]
			}
		}
		copy(block[(p-1)*wide:], roots[:n])
		addProducts(sum, block, n, wide)
	}
	return sum
}

// addProducts adds the dot products of each two rows of a block, n long and so far apart.
func addProducts(sum *mat.SymDense, block []float64, n, distance int) {
	p := sum.SymmetricDim()
	for i := range p {
		a, to := block[i*distance:][:n], sum.RawSymmetric().Data[i*p:][:p]
		for j := i; j < p; j++ {
			to[j] += bitmath.Dot(a, block[j*distance:][:n])
		}
	}
}

// narrow is the width up to which a block is cheaper as stored columns: the matrix
// product takes several cells in the time of one sum at a place that varies.
const narrow = 2

// gramOneHot returns gram of a matrix with blocks: two blocks meet in one cell a row, a
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
	alone, comparison := make([]float64, a.Width), NewMatrix(a.Width, len(g.stored)+1)
	for lo := 0; lo < len(g.w); lo += blockRows {
		hi := min(lo+blockRows, len(g.w))
		codes, w := a.Codes[lo:hi], g.w[lo:hi]
		Block{Codes: codes}.dots(w, alone)
		for j := 0; j < len(g.stored); j += 2 {
			next := g.stored[min(j+1, len(g.stored)-1)]
			weighted(codes, w, g.stored[j][lo:hi], next[lo:hi], comparison.Cols[j], comparison.Cols[j+1])
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
			g.sum.SetSym(a.First+c, at, comparison.Cols[j][c])
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
	dst, other, w := raw.Data[a.First*raw.Stride+b.First:], b.Codes[lo:hi], g.w[lo:hi]
	for i, k := range a.Codes[lo:hi] {
		if l := other[i]; uint32(k) < uint32(a.Width) && uint32(l) < uint32(b.Width) {
			dst[int(k)*raw.Stride+int(l)] += w[i]
		}
	}
}
