package marginal

import "math"

// Summary is a workload as a whole; all are NaN where it has no queries.
type Summary struct {
	MeanL1, MaxL1 float64
	MaxCell       float64 // greatest error of a cell of any query
	MeanCellError float64 // mean over queries of L1 / number of domain cells
	Worst         int     // place of the query with MaxL1
}

// Summarise sums up comparisons.
func Summarise(list []Comparison) Summary {
	s := Summary{MaxL1: math.NaN(), MaxCell: math.NaN()}
	for i, c := range list {
		s.MeanL1 += c.L1
		s.MeanCellError += c.L1 / c.Cells
		if !(c.L1 <= s.MaxL1) {
			s.MaxL1, s.Worst = c.L1, i
		}
		if !(c.MaxCell <= s.MaxCell) {
			s.MaxCell = c.MaxCell
		}
	}
	s.MeanL1, s.MeanCellError = s.MeanL1/float64(len(list)), s.MeanCellError/float64(len(list))
	return s
}

// Score is 1 - mean(L1)/2: one for equal tables, zero for disjoint ones. Times
// a million it is the score of the 2018 NIST challenge for 3-way marginals in
// 100 bins between the real extremes (NIST TN 2151).
func (s Summary) Score() float64 { return 1 - float64(s.MeanL1/2) }
