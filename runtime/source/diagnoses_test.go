package source

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// TestDiagnosesHasPublishedShape: columns without ones, below 1 % and from 1, 2.5 and 5 %
// on are as many as in the paper (Tantipongpipat et al. 2021). A rate at a border is off by
// .0005 at most, some 5 of 10,000 rows, which moves at most 8 columns across it; each of
// 925 codes stays at zero with a probability below 1e-4 in 46,520 rows, so that a third
// empty one is a false alarm below 1e-6.
func TestDiagnosesHasPublishedShape(t *testing.T) {
	r, _ := collect(t, "diagnoses", 0, 7, nil)
	if r.NumRows() != 46520 || r.NumCols() != 1071 {
		t.Fatalf("%d rows of %d columns, must be 46520 of 1071", r.NumRows(), r.NumCols())
	}
	count := map[string]int{}
	for j := range int(r.NumCols()) {
		p := ones(r.Column(j).(*array.Int32)) / 46520
		for name, in := range map[string]bool{"none": p == 0, "1 %": p >= 0.01, "2.5 %": p >= 0.025, "5 %": p >= 0.05} {
			if in {
				count[name]++
			}
		}
		if want := frequency(j); math.Abs(p-want) > 6*math.Sqrt(want/46520) {
			t.Errorf("code %d: share %.5f, must be near %.5f", j+1, p, want)
		}
	}
	for name, want := range map[string]int{"none": 146, "1 %": 219, "2.5 %": 127, "5 %": 64} {
		slack := 8
		if name == "none" {
			slack = 2
		}
		if d := count[name] - want; d < -slack || d > slack {
			t.Errorf("%s: %d columns, must be near %d", name, count[name], want)
		}
	}
	comeTogether(t, r)
}

func ones(a *array.Int32) float64 {
	n := 0.0
	for _, v := range a.Int32Values() {
		n += float64(v)
	}
	return n
}

// comeTogether: two codes of one group are more often together than apart they would be, by
// (.15 4² + .85 (.4/.85)²) 1.25 = 3.2 (halves of .5 and 1.5), two of different groups by
// 1.25. The standard errors are below .05.
func comeTogether(t *testing.T, r arrow.Record) {
	t.Helper()
	lift := func(a, b int) float64 {
		x, y := r.Column(a).(*array.Int32).Int32Values(), r.Column(b).(*array.Int32).Int32Values()
		both := 0.0
		for i := range x {
			both += float64(x[i] * y[i])
		}
		return both * 46520 / (ones(r.Column(a).(*array.Int32)) * ones(r.Column(b).(*array.Int32)))
	}
	if same, other := lift(60, 72), lift(60, 73); math.Abs(same-3.2) > 0.3 || math.Abs(other-1.25) > 0.25 {
		t.Errorf("lift %.2f in a group and %.2f between groups, must be near 3.2 and 1.25", same, other)
	}
}
