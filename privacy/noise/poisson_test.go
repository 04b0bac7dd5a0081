package noise

import (
	"fmt"
	"math"
	"testing"

	"weir/internal/stattest"
)

func TestPoissonEdges(t *testing.T) {
	st := testStream("edges")
	for _, q := range []float64{0, -1, math.NaN()} {
		if got := st.Poisson(nil, 100, q); len(got) != 0 {
			t.Errorf("q %g takes %d rows, must take none", q, len(got))
		}
	}
	if got := st.Poisson(nil, 100, 1); len(got) != 100 || got[99] != 99 {
		t.Errorf("q 1 takes %d of 100 rows", len(got))
	}
	for _, n := range []int{0, 1, math.MaxInt32} {
		for _, q := range []float64{1e-300, 1e-17, 1e-9} {
			for _, i := range st.Poisson(nil, n, q) {
				if int(i) >= n || i < 0 {
					t.Errorf("n %d, q %g takes row %d", n, q, i)
				}
			}
		}
	}
}

// poissonPs returns the p-values of the total, of each row's rate, and of
// neighbouring rows taken together, over rounds samples of n rows.
func poissonPs(n, rounds int, drawn, claimed float64) (total, rows, pairs float64) {
	st := testStream(fmt.Sprint("poisson", n, drawn))
	perRow, dst := make([]int, n), []int32(nil)
	sum, together := 0, 0
	for range rounds {
		dst = st.Poisson(dst, n, drawn)
		for j, i := range dst {
			perRow[i]++
			if j > 0 && dst[j-1] == i-1 {
				together++
			}
		}
		sum += len(dst)
	}
	return stattest.Binomial(sum, n*rounds, claimed), stattest.Uniform(perRow), stattest.Binomial(together, (n-1)*rounds, claimed*claimed)
}

// False-alarm rate 1e-6 for each of three tests; a rate 1 % off is rejected.
func TestPoissonRates(t *testing.T) {
	for _, c := range []struct {
		n, rounds int
		q         float64
	}{{50, 40000, 0.2}, {50, 40000, 0.3}, {1000, 50000, 0.01}, {7, 200000, 0.999}, {100000, 4000, 0.002}, {30, 40000, 0.25}} {
		total, rows, pairs := poissonPs(c.n, c.rounds, c.q, c.q)
		if total < stattest.FalseAlarm || rows < stattest.FalseAlarm || pairs < stattest.FalseAlarm {
			t.Errorf("n %d, q %g: p-values %g, %g, %g", c.n, c.q, total, rows, pairs)
		}
		if total, _, _ := poissonPs(c.n, c.rounds, c.q, 0.99*c.q); total >= stattest.FalseAlarm {
			t.Errorf("n %d: q %g passes for %g, p-value %g", c.n, c.q, 0.99*c.q, total)
		}
	}
}

func BenchmarkPoisson(b *testing.B) {
	st, dst := testStream("bench"), []int32(nil)
	for _, q := range []float64{128.0 / 32561, 0.2, 0.5} {
		b.Run(fmt.Sprintf("q=%.3g", q), func(b *testing.B) {
			taken := 0
			for b.Loop() {
				dst = st.Poisson(dst, 32561, q)
				taken += len(dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(taken), "ns/row-taken")
		})
	}
}
