package learn

// Weighted is a fitted classifier that says how much each column counts.
type Weighted interface {
	// Weights has a number for each column that was learnt from; nil where there is none, as of more than two classes
	// by regression.
	Weights() []float64
}

// Weights are the coefficients of two classes.
func (l *logit) Weights() []float64 {
	if len(l.Coef) != 1 {
		return nil
	}
	return l.Coef[0]
}

// Weights are the importances: each tree's total decrease of impurity by column, as shares, and their mean over the trees
// (Breiman 2001, section 10, by the measure of CART).
func (t *trees) Weights() []float64 {
	mean := make([]float64, t.columns)
	for _, tree := range t.list {
		for j, v := range tree.importances(t.columns) {
			mean[j] += v / float64(len(t.list))
		}
	}
	return mean
}

// Weights are those of the chosen one.
func (c *chosen) Weights() []float64 { return weightsOf(c.Scorer) }

func weightsOf(s Scorer) []float64 {
	if w, ok := s.(Weighted); ok {
		return w.Weights()
	}
	return nil
}

// importances is the total decrease of impurity by column, as shares; zeros where nothing splits.
func (t *Tree) importances(columns int) []float64 {
	shares, sum := make([]float64, columns), 0.0
	for _, n := range t.Nodes {
		if n.Feature < 0 {
			continue
		}
		l, r := t.Nodes[n.Left], t.Nodes[n.Right]
		d := float64(n.Weight*n.Impurity) - float64(l.Weight*l.Impurity) - float64(r.Weight*r.Impurity)
		shares[n.Feature] += d
		sum += d
	}
	for j := range shares {
		if sum > 0 {
			shares[j] /= sum
		}
	}
	return shares
}
