package metric

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestGoldenReleasedWeights: the generators that the authors of DP-auto-GAN released give, drawn anew, the
// divergences that their table 2 prints for .36 and .51. A draw of 32,561 rows moves a divergence D by about the
// root of 2 D/n, at most .004 of 5 deviations for the mu-KL of native-country and .003 for the others, beside
// half a unit of the last printed digit. The sums come to .336 and .232, .812 and .492 (printed .33, .23; .81,
// .48) against the training rows, and to .340, .232 and .835, .495 against the test rows. The other table of the
// two gives what no column prints.
func TestGoldenReleasedWeights(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "released.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Columns []struct {
			Name        string
			Train, Test []float64
			Released    map[string][]float64
			Printed     map[string][2]float64
		}
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	sums, others := map[string][2]float64{}, 0
	for _, c := range golden.Columns {
		for epsilon, printed := range c.Printed {
			train, test := NewDiscreteDistances(releasedShares(c.Train), releasedShares(c.Released[epsilon])),
				NewDiscreteDistances(releasedShares(c.Test), releasedShares(c.Released[epsilon]))
			if math.Abs(train.JSD-printed[0]) > 0.0035 || math.Abs(train.MuSmoothedKL-printed[1]) > 0.0075 {
				t.Errorf("%s at %s: %.4f and %.4f, printed %g and %g", c.Name, epsilon, train.JSD, train.MuSmoothedKL, printed[0],
					printed[1])
			}
			other := c.Printed[map[string]string{"0.36": "0.51", "0.51": "0.36"}[epsilon]]
			if math.Abs(train.JSD-other[0]) > 0.0035 {
				others++
			}
			sums["train "+epsilon] = [2]float64{sums["train "+epsilon][0] + train.JSD, sums["train "+epsilon][1] +
				train.MuSmoothedKL}
			sums["test "+epsilon] = [2]float64{sums["test "+epsilon][0] + test.JSD, sums["test "+epsilon][1] + test.MuSmoothedKL}
		}
	}
	for where, want := range map[string][2]float64{"train 0.36": {0.3356, 0.8121}, "train 0.51": {0.2324, 0.4917},
		"test 0.36": {0.3403, 0.8348}, "test 0.51": {0.2320, 0.4946}} {
		if math.Abs(sums[where][0]-want[0]) > 6e-5 || math.Abs(sums[where][1]-want[1]) > 6e-5 {
			t.Errorf("%s: sums %.4f, must be %.4f", where, sums[where], want)
		}
	}
	if len(golden.Columns) != 8 || others < 10 {
		t.Errorf("%d columns; of 16 values %d differ from those of the other epsilon", len(golden.Columns), others)
	}
}

func releasedShares(counts []float64) []float64 {
	n, out := sum(counts), make([]float64, len(counts))
	for i, c := range counts {
		out[i] = c / n
	}
	return out
}
