package train

import (
	"errors"
	"fmt"

	"weir/train/internal/kernel"
	"weir/train/net"
)

// discriminantLesson makes teachers linear discriminants (Fisher 1936) with a diagonal
// covariance: the weight of a feature is the difference of its means, over the rows of the
// shard and over generated rows, divided by its variance over both. That is a step of
// Newton's method for logistic regression from weights of zero, but for correlations.
//
// Columns are counted from the mean of the generated rows, so that products are deviations
// times deviations; their means over a shard follow from its mean columns and mean products,
// which is all that is kept of it. The variance of a product is taken as the product of
// the variances of its columns.
type discriminantLesson struct {
	means   net.Matrix // of the features of each shard, counted from 0
	squares net.Matrix // mean squares of its columns
	fake    []float64  // means of the features of generated rows
	spread  []float64  // mean squares of their columns
}

// leastSpread is what is added to variances, in squares of encoded units: a column that
// is the same in all rows that a teacher sees does not outvote the others.
const leastSpread = 1. / 400

func newDiscriminantLesson(t *teachers) *discriminantLesson {
	d := t.rows.Width()
	s := &discriminantLesson{means: net.NewMatrix(len(t.shards), t.width), squares: net.NewMatrix(len(t.shards), d),
		fake: make([]float64, t.width), spread: make([]float64, d)}
	t.each(func(l *teacherLane, lo, hi int) {
		for k := lo; k < hi; k++ {
			s.look(t, l, k)
		}
	})
	return s
}

// look adds up, over the rows of shard k, the means of their features and of the squares of x, which it overwrites.
func (s *discriminantLesson) look(t *teachers, l *teacherLane, k int) {
	n := len(t.shards[k])
	if n == 0 {
		return
	}
	means, squares := s.means.Row(k), s.squares.Row(k)
	t.eachChunk(l, t.shards[k], func(x, f net.Matrix) {
		for i := range x.Rows {
			kernel.Axpy(1/float32(n), f.Row(i), means)
			kernel.Mul(x.Row(i), x.Row(i), x.Row(i))
			kernel.Axpy(1/float32(n), x.Row(i), squares)
		}
	})
}

func (s *discriminantLesson) learn(t *teachers, fake net.Matrix) {
	meanRows(s.fake[:fake.Cols], fake)
	for j := range t.center {
		t.center[j] = float32(s.fake[j])
	}
	t.see(fake)
	meanRows(s.fake, t.seen)
	clear(s.spread)
	for i := range t.seen.Rows {
		for j, v := range t.seen.Row(i)[:len(s.spread)] {
			s.spread[j] += float64(float64(v)*float64(v)) / float64(t.seen.Rows)
		}
	}
	t.each(func(_ *teacherLane, lo, hi int) {
		inverse := make([]float64, len(s.spread))
		for k := lo; k < hi; k++ {
			if len(t.shards[k]) > 0 {
				s.compare(t, k, inverse)
			}
		}
	})
}

// meanRows writes the mean row of a matrix.
func meanRows(dst []float64, x net.Matrix) {
	clear(dst)
	for i := range x.Rows {
		for j, v := range x.Row(i) {
			dst[j] += float64(v)
		}
	}
	for j := range dst {
		dst[j] /= float64(x.Rows)
	}
}

// compare sets the weights of teacher k; inverse is scratch. Its score is 0 halfway between
// the two means.
func (s *discriminantLesson) compare(t *teachers, k int, inverse []float64) {
	w, means, d, last := t.weights(k, k+1), s.means.Row(k), len(inverse), t.width-1
	offset := 0.0
	set := func(j int, mean, inverse float64) {
		weight := (mean - s.fake[j]) * inverse
		w[j] = float32(weight)
		offset -= float64(weight * (mean + s.fake[j]) / 2)
	}
	for j := range d {
		m, c := float64(means[j]), float64(t.center[j])
		square := float64(s.squares.Row(k)[j]) - float64(2*c*m) + float64(c*c)
		inverse[j] = 1 / (float64((max(0, square)+s.spread[j])/2) + leastSpread)
		set(j, m-c, inverse[j])
	}
	for n, p := range t.c.Products {
		a, b := p[0], p[1]
		ca, cb := float64(t.center[a]), float64(t.center[b])
		mean := float64(means[d+n]) - float64(ca*float64(means[b])) - float64(cb*float64(means[a])) + float64(ca*cb)
		set(d+n, mean, float64(inverse[a]*inverse[b]))
	}
	w[last] = float32(offset)
}

// Logistic says how teachers learn as logistic regressions: by Steps of Adam before each
// vote, from where they were.
type Logistic struct {
	Steps   int     `json:"steps"`
	Rate    float64 `json:"rate"`
	Penalty float64 `json:"penalty"` // 1/C of scikit-learn
}

func (c Logistic) validate() error {
	var errs []error
	if c.Steps < 1 {
		errs = append(errs, fmt.Errorf("teachers.logistic.steps: is %d, must be at least 1", c.Steps))
	}
	if !(c.Penalty >= 0) {
		errs = append(errs, fmt.Errorf("teachers.logistic.penalty: is %g, must be at least 0", c.Penalty))
	}
	if err := c.optimiser().Validate(); err != nil {
		errs = append(errs, fmt.Errorf("teachers.logistic: %w", err))
	}
	return errors.Join(errs...)
}

func (c Logistic) optimiser() Optimiser { return Adam(c.Rate, 0.9, 0.999) }

// logisticLesson makes teachers logistic regressions on the rows of their shard (1) and as
// many generated ones (0). The loss of one on n rows is the mean over its rows plus the mean
// over generated rows, halved, plus Penalty/(4n) times its squared weights without the
// offset: scikit-learn's over 2n rows, divided by 2n.
type logisticLesson struct {
	c       Logistic
	descent *descent // of the weights of all teachers
	grad    []float32
}

func newLogisticLesson(c Logistic, t *teachers) *logisticLesson {
	return &logisticLesson{c: c, descent: newDescent(c.optimiser(), t.w), grad: make([]float32, len(t.w))}
}

func (s *logisticLesson) learn(t *teachers, fake net.Matrix) {
	t.see(fake)
	for range s.c.Steps {
		t.each(func(l *teacherLane, lo, hi int) {
			s.againstGenerated(t, l, lo, hi)
			for k := lo; k < hi; k++ {
				s.withShard(t, l, k)
			}
		})
		s.descent.step(s.grad, 1)
	}
}

// againstGenerated writes the part of teachers lo to hi that generated rows have.
func (s *logisticLesson) againstGenerated(t *teachers, l *teacherLane, lo, hi int) {
	r, half := t.score(l, lo, hi), 0.5/float32(t.seen.Rows)
	for i := range t.seen.Rows {
		row := r.Row(i)[:hi-lo]
		kernel.Sigmoid(row, row)
		kernel.Scale(half, row)
	}
	kernel.GemmTN(hi-lo, t.width, t.seen.Rows, r.Data, r.LD, t.seen.Data, t.seen.LD, s.grad[lo*t.width:hi*t.width],
		t.width, false)
}

// withShard adds the gradient of teacher k's own rows and of the penalty.
func (s *logisticLesson) withShard(t *teachers, l *teacherLane, k int) {
	n, w, g := len(t.shards[k]), t.weights(k, k+1), s.grad[k*t.width:(k+1)*t.width]
	if n == 0 {
		clear(g)
		return
	}
	last, half := len(w)-1, 0.5/float32(n)
	kernel.Axpy(float32(s.c.Penalty/float64(2*n)), w[:last], g[:last])
	t.eachChunk(l, t.shards[k], func(_, f net.Matrix) {
		var scores [shardChunk]float32
		for i := range f.Rows {
			kernel.RowDots(scores[i:], f.Row(i), w, 1, t.width, t.width, t.width)
		}
		kernel.Sigmoid(scores[:], scores[:])
		for i := range f.Rows {
			kernel.Axpy(half*(scores[i]-1), f.Row(i), g)
		}
	})
}
