package metric

import (
	"math"

	"weir/internal/bitmath"
	"weir/stages/internal/columns"
)

// Contingency is a table of counts, without categories that never occur.
type Contingency struct {
	Counts     [][]float64
	rows, cols []float64
	N          float64
}

// NewContingency drops empty rows and columns of counts.
func NewContingency(counts [][]float64) Contingency {
	var t Contingency
	var used []int
	for j := range width(counts) {
		total := 0.0
		for _, r := range counts {
			total += r[j]
		}
		if total > 0 {
			used, t.cols = append(used, j), append(t.cols, total)
			t.N += total
		}
	}
	for _, r := range counts {
		if total := sumOf(r); total > 0 {
			row := make([]float64, len(used))
			for k, j := range used {
				row[k] = r[j]
			}
			t.Counts, t.rows = append(t.Counts, row), append(t.rows, total)
		}
	}
	return t
}

func width(counts [][]float64) int {
	if len(counts) == 0 {
		return 0
	}
	return len(counts[0])
}

// maxCells is the most pairs of categories of a Contingency: 128 MB of counts.
const maxCells = 1 << 24

// Cross counts the pairs of codes; rows where one is missing (-1) are left out.
// With more than maxCells pairs of categories it is empty, and so undefined.
func Cross(a, b []int32, ka, kb int) Contingency {
	if ka > 0 && kb > maxCells/ka {
		return Contingency{}
	}
	counts := make([][]float64, ka)
	all := make([]float64, ka*kb)
	for i := range counts {
		counts[i] = all[i*kb : (i+1)*kb]
	}
	for i, v := range a {
		if w := b[i]; v >= 0 && w >= 0 {
			counts[v][w]++
		}
	}
	return NewContingency(counts)
}

// undefined: a side has fewer than two categories.
func (t Contingency) undefined() bool { return len(t.rows) < 2 || len(t.cols) < 2 }

// Test runs the chi-square test of independence, without Yates correction; chi2
// is 0, dof 0 and p NaN where a side has fewer than two categories.
func (t Contingency) Test() (chi2, p float64, dof int) {
	if t.undefined() {
		return 0, math.NaN(), 0
	}
	for i, r := range t.Counts {
		for j, o := range r {
			e := t.rows[i] * t.cols[j] / t.N
			chi2 += (o - e) * (o - e) / e
		}
	}
	dof = (len(t.rows) - 1) * (len(t.cols) - 1)
	return chi2, bitmath.ChiSquareTail(dof, chi2), dof
}

// CramersV returns sqrt(chi2/n / min(r-1, c-1)).
func (t Contingency) CramersV() float64 {
	if t.undefined() {
		return math.NaN()
	}
	chi2, _, _ := t.Test()
	return min(1, math.Sqrt(chi2/t.N/float64(min(len(t.rows), len(t.cols))-1)))
}

// CramersVCorrected returns the bias-corrected V (Bergsma 2013); NaN also where so
// few rows are left that a corrected number of categories is not above one.
func (t Contingency) CramersVCorrected() float64 {
	if t.undefined() {
		return math.NaN()
	}
	chi2, _, _ := t.Test()
	r, c := float64(len(t.rows)), float64(len(t.cols))
	phi2 := max(0, chi2/t.N-(r-1)*(c-1)/(t.N-1))
	least := min(r-(r-1)*(r-1)/(t.N-1), c-(c-1)*(c-1)/(t.N-1)) - 1
	if !(least > 0) {
		return math.NaN()
	}
	return math.Sqrt(phi2 / least)
}

// Information holds what a table says about its sides, in nats.
type Information struct {
	MI           float64 // mutual information
	Rows, Cols   float64 // entropies
	NMI          float64 // MI over the mean of the entropies; NaN where that is 0
	RowGivenCol  float64 // Theil's U(rows|cols) = MI/H(rows)
	ColGivenRows float64 // Theil's U(cols|rows) = MI/H(cols)
}

// Information returns NaN throughout for an empty table.
func (t Contingency) Information() Information {
	if t.N == 0 {
		n := math.NaN()
		return Information{n, n, n, n, n, n}
	}
	i := Information{Rows: entropy(t.rows, t.N), Cols: entropy(t.cols, t.N)}
	for a, r := range t.Counts {
		for b, o := range r {
			if o > 0 {
				i.MI += float64(o / t.N * bitmath.Log(o*t.N/t.rows[a]/t.cols[b]))
			}
		}
	}
	i.MI = max(0, i.MI)
	i.NMI, i.RowGivenCol, i.ColGivenRows = ratio(i.MI, (i.Rows+i.Cols)/2), ratio(i.MI, i.Rows), ratio(i.MI, i.Cols)
	return i
}

func entropy(counts []float64, n float64) float64 {
	h := 0.0
	for _, c := range counts {
		h -= float64(c / n * bitmath.Log(c/n))
	}
	return max(0, h)
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// CorrelationRatio returns eta = sqrt(SSB/SST) of numbers x grouped by codes, with
// the p-value of one-way ANOVA; rows where one is missing are left out. Both are
// NaN where x is constant or fewer than two groups occur; p also where every
// group has one row.
func CorrelationRatio(codes []int32, categories int, x []float64) (eta, p float64) {
	n, totals := make([]float64, categories), make([]float64, categories)
	var retained []float64
	for i, c := range codes {
		if c >= 0 && !math.IsNaN(x[i]) {
			n[c]++
			totals[c] += x[i]
			retained = append(retained, x[i])
		}
	}
	groups := 0.0
	for _, k := range n {
		if k > 0 {
			groups++
		}
	}
	if groups < 2 || constant(retained) {
		return math.NaN(), math.NaN()
	}
	mean := sumOf(retained) / float64(len(retained))
	amongGroups, within := 0.0, 0.0
	for c, k := range n {
		if k > 0 {
			d := totals[c]/k - mean
			amongGroups += float64(k * d * d)
		}
	}
	for i, c := range codes {
		if c >= 0 && !math.IsNaN(x[i]) {
			d := x[i] - totals[c]/n[c]
			within += float64(d * d)
		}
	}
	return math.Sqrt(amongGroups / (amongGroups + within)), anova(amongGroups, within, groups, float64(len(retained)))
}

func anova(amongGroups, within, groups, n float64) float64 {
	switch {
	case n <= groups:
		return math.NaN()
	case within == 0:
		return 0
	}
	f := amongGroups / (groups - 1) / (within / (n - groups))
	return bitmath.FTail(groups-1, n-groups, f)
}

// MixedAssociation returns the association of two columns of any type: Pearson (signed) for
// numbers, Cramer's V without bias correction for categories, eta for one of
// each. Rows where one is missing are left out.
func MixedAssociation(a, b *columns.Column) float64 {
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
	x, y := CompletePairs(a.Numbers, b.Numbers)
	return Pearson(x, y)
}
