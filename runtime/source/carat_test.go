package source

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
)

// TestCaratHasPlantedCovariance: 66,754 users by 96 apps as in Jälkö et al. 2021, shares that
// fall from a tenth to a hundredth, and each covariance within 6.5 standard errors of the
// planted one (false alarm below 1e-10 each, 4,656 of them), of which sqrt(E[x_j x_k]/n) is
// a bound. A table of independent apps is 100 standard errors away.
func TestCaratHasPlantedCovariance(t *testing.T) {
	r, _ := collect(t, "carat", 0, 7, nil)
	if r.NumRows() != 66754 || r.NumCols() != 96 {
		t.Fatalf("%d rows of %d columns, must be 66754 of 96", r.NumRows(), r.NumCols())
	}
	n, cells, p := 66754., make([][]int32, 96), make([]float64, 96)
	for j := range cells {
		cells[j] = r.Column(j).(*array.Int32).Int32Values()
		p[j] = ones(r.Column(j).(*array.Int32)) / n
	}
	separate := 0.0
	for j := range cells {
		for k := range j + 1 {
			both := 0.0
			for i, v := range cells[j] {
				both += float64(v * cells[k][i])
			}
			want := appCovariance(j, k)
			se := math.Sqrt((want + popularity(j)*popularity(k)) / n)
			if got := both/n - p[j]*p[k]; math.Abs(got-want) > 6.5*se {
				t.Errorf("apps %d, %d: covariance %.5f, must be near %.5f", j+1, k+1, got, want)
			}
			if j != k {
				separate = max(separate, want/se)
			}
		}
	}
	if separate < 20 {
		t.Errorf("the strongest covariance is %.0f standard errors from 0", separate)
	}
	if math.Abs(popularity(0)-0.1) > 1e-12 || math.Abs(popularity(95)-0.01) > 1e-12 {
		t.Errorf("shares fall from %g to %g", popularity(0), popularity(95))
	}
}

// appCovariance returns the planted truth. Activity has mean 1 and mean square 1 + appSpread², so
// that E[x_j x_k] is the latter times the mean of the product of shares.
func appCovariance(j, k int) float64 {
	pj, pk := popularity(j), popularity(k)
	if j == k {
		return float64(pj * (1 - pj))
	}
	both := float64(pj * pk)
	if j%clusters == k%clusters {
		wj, oj := taste(j)
		wk, ok := taste(k)
		both += float64(float64(tasteShare*(1-tasteShare)*(wj-oj)) * (wk - ok))
	}
	return float64((1+appSpread*appSpread)*both) - float64(pj*pk)
}
