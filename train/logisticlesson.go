package train

import (
	"errors"
	"fmt"

	"weir/train/internal/kernel"
	"weir/train/net"
)

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
	kernel.GemmTN(hi-lo, t.width, t.seen.Rows, r.Data, r.LD, t.seen.Data, t.seen.LD, s.grad[lo*t.width:hi*t.width], t.width, false)
}

// withShard adds that of teacher k's own rows and of the penalty.
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
