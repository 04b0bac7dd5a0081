package learn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestGoldenRBF: values of sklearn.svm.SVC() 1.2.1 on the standardised training rows of
// tables/clf2000.csv: decision values of the first test rows. Both
// solvers stop at a gap of 1e-3, so that decisions agree to about that.
func TestGoldenRBF(t *testing.T) {
	x, test, y, _ := readTable(t, rangeParams{Standardize: true, Table: "tables/clf2000.csv", Target: "y"})
	s, err := RBFSVM{C: 1}.Fit(t.Context(), x, y, Run{Rand: rand.New(rand.NewPCG(1, 2)), Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.14775583, 0.10483438, -0.0208639, -1.37794044}
	for i, w := range want {
		if g := s.Scores(test).Cols[1][i]; math.Abs(g-w) > 2e-3 {
			t.Errorf("decision of row %d is %v, want %v", i, g, w)
		}
	}
}
