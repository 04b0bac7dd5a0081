package association

import "weir/stages/internal/columns"

// Mixed is the association of two columns of any type: Pearson (signed) for
// numbers, Cramer's V without bias correction for categories, eta for one of
// each. Rows where one is missing are left out.
func Mixed(a, b *columns.Column) float64 {
	switch {
	case a.Coded() && b.Coded():
		return Cross(a.Codes, b.Codes, len(a.Categories), len(b.Categories)).CramersV()
	case a.Coded():
		eta, _ := CorrelationRatio(a.Codes, len(a.Categories), b.Numbers)
		return eta
	case b.Coded():
		eta, _ := CorrelationRatio(b.Codes, len(b.Categories), a.Numbers)
		return eta
	}
	x, y := Complete(a.Numbers, b.Numbers)
	return Pearson(x, y)
}
