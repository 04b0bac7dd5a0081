package domain

// Forbidden says which combinations of bins hold no row that keeps a rule: bins[i] are
// sets of values of column r.Columns[i], and combinations are in row-major order, the
// last column fastest. A combination with any row that keeps the rule is not forbidden.
// Where columns in order have different steps, that is judged by the values of the
// coarser one.
func Forbidden(d *Domain, r *Rule, bins [][]Values) []bool {
	tries := triesOf(d, r, bins)
	cells := 1
	for _, list := range bins {
		cells *= len(list)
	}
	forbidden, at := make([]bool, cells), make([]int, len(bins))
	values := make([]float64, len(bins))
	for cell := range forbidden {
		rest := cell
		for i := len(bins) - 1; i >= 0; i-- {
			at[i], rest = rest%len(bins[i]), rest/len(bins[i])
		}
		forbidden[cell] = !anyKeeps(r, tries, at, values, 0)
	}
	return forbidden
}

// triesOf are by column and bin the points of the bin that stand for all its values.
func triesOf(d *Domain, r *Rule, bins [][]Values) [][][]float64 {
	lists := map[int][]float64{}
	for i, column := range r.Columns {
		sets := r.form.sets(i)
		lists[column] = points(&d.Columns[column], append(sets[:len(sets):len(sets)], bins[i]...))
	}
	shareOrdered(d, []*Rule{r}, lists)
	tries := make([][][]float64, len(bins))
	for i, column := range r.Columns {
		tries[i] = make([][]float64, len(bins[i]))
		for _, v := range lists[column] {
			for b := range bins[i] {
				if bins[i][b].Has(v) {
					tries[i][b] = append(tries[i][b], v)
				}
			}
		}
	}
	return tries
}

func anyKeeps(r *Rule, tries [][][]float64, at []int, values []float64, column int) bool {
	if column == len(at) {
		return r.Keeps(values)
	}
	for _, v := range tries[column][at[column]] {
		values[column] = v
		if anyKeeps(r, tries, at, values, column+1) {
			return true
		}
	}
	return false
}
