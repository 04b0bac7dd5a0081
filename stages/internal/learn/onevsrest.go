package learn

// oneVsRest fits one output against the rest for each class; probabilities are
// the sigmoids divided by their sum (sklearn OneVsRestClassifier, liblinear).
func oneVsRest(y Labels, fit func(t []float64) (*Linear, error)) (Scorer, error) {
	all := &versus{}
	for k := range y.Classes {
		m, err := fit(y.is(k))
		if err != nil {
			return nil, err
		}
		all.Coef = append(all.Coef, m.Coef[0])
		all.Intercept = append(all.Intercept, m.Intercept[0])
	}
	return all, nil
}

type versus struct{ Linear }

func (v *versus) Probabilities() bool { return true }

func (v *versus) Scores(x Matrix) Matrix {
	d := v.Decision(x)
	for i := range d.Rows {
		sum := 0.0
		for _, c := range d.Cols {
			c[i] = Sigmoid(c[i])
			sum += c[i]
		}
		for _, c := range d.Cols {
			if c[i] /= sum; sum == 0 {
				c[i] = 1 / float64(len(d.Cols))
			}
		}
	}
	return d
}
