package graphical

import (
	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/published"
)

// publishedPrivBayes is what Zhang et al. 2017 say of the choices and tables of a stage:
// their epsilons added, a selection at score R moving by 3/n + 2/n^2 and Laplace tables moving
// by 2 in L1. That holds for exchanged rows of a public number n, and then it is proven
// too, for choices and tables: each is pure. The paper has no release of single columns
// and says nothing of theirs, which epsilon (proven) holds.
//
// There is no such number under add_remove, where n is private and the printed bound
// of R does not hold, nor for scores against released shares or with weights, which the
// paper has not.
func publishedPrivBayes(s *PrivBayes, h pipeline.Header, w wanted) *pipeline.Published {
	rows := publicRows(h)
	if !w.even(len(h.Domain.Columns)) || s.Score != "published" || h.Terms.Adjacency != privacy.ReplaceOne || rows <= 0 || len(h.Domain.Columns) < 2 {
		return nil
	}
	return &pipeline.Published{
		Method: "PrivBayes, Zhang et al. 2017: epsilons of choices and tables added; without the columns on their own, which the paper does not release",
		Epsilon: func(multiplier, _ float64) (float64, error) {
			return published.PrivBayes{Rows: int64(rows), Attributes: int64(len(h.Domain.Columns)), Epsilon: 1 / multiplier, Beta: s.Network}.Total(), nil
		},
	}
}
