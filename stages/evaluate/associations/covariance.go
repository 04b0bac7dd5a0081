package associations

import (
	"context"

	"weir/stages/internal/columns"
	"weir/stages/internal/features"
	"weir/stages/internal/learn"
	"weir/stages/internal/metric"
	"weir/stages/internal/metric/association"
)

// scattered is the mean and covariance of an encoded frame, block by block, so
// that memory does not grow with the width times the rows.
func scattered(ctx context.Context, e *features.Encoder, f *columns.Frame) (*association.Scatter, error) {
	s := association.NewScatter(len(e.Names()))
	return s, e.Blocks(ctx, f, func(_ int, x learn.Matrix) { s.Add(x) })
}

// covariance compares the covariance of the encoded tables: numbers scaled to
// their declared bounds or the real extremes, one indicator a category.
func (r *associationRun) covariance(ctx context.Context, name string) error {
	left, drawn := r.leftOut(r.sides[0].frame)
	e := features.NewEncoder(features.Options{Scaling: features.Bounds}, left, r.sides[0].frame, r.others()...)
	var all []*association.Scatter
	for _, s := range r.sides {
		c, err := scattered(ctx, e, s.frame)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	r.covariances(name, "", drawn, e, all[0], all[1])
	for k := 2; k < len(all); k++ {
		r.covariances(name, "_"+r.ports[k], drawn, e, all[0], all[k])
	}
	return nil
}

func (r *associationRun) others() []*columns.Frame {
	var list []*columns.Frame
	for _, s := range r.sides[1:] {
		list = append(list, s.frame)
	}
	return list
}

var covarianceNames = [...]string{"_frobenius_difference", "_relative_frobenius_difference", "_spectral_difference", "_max_difference"}

func (r *associationRun) covariances(name, suffix, drawn string, e *features.Encoder, real, other *association.Scatter) {
	if real.Rows() < 2 || other.Rows() < 2 || len(e.Names()) == 0 {
		r.noCovariance(name, suffix, "needs two rows of each table and a column in common")
		return
	}
	d, ok := association.CompareCovariances(real.Covariance(), other.Covariance())
	if !ok {
		r.noCovariance(name, suffix, "the eigenvalues of the difference do not converge")
		return
	}
	for i, v := range []float64{d.Frobenius, d.Relative, d.Spectral, d.MaxAbsolute} {
		r.Add(name+covarianceNames[i]+suffix, "", metric.Or(v, "every real column is constant").With(drawn))
	}
}

func (r *associationRun) noCovariance(name, suffix, reason string) {
	for _, n := range covarianceNames {
		r.Add(name+n+suffix, "", metric.None(reason))
	}
}
