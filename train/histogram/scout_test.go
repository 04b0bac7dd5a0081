package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestScoutCovers: both releases ask every cell once, missing values too, for .15 and .85 of the budget; leaves
// cover all cells, sum to what is public and are not below 0. Any length, with and without
// missing values, rows public or not, much noise and little.
func TestScoutCovers(t *testing.T) {
	for _, cells := range []int{1, 2, 9, 31, 61, 101, 256} {
		for _, missing := range []int{0, 1} {
			for _, total := range []float64{0, 1} {
				for _, sd := range []float64{1, 20, 500} {
					a := halving(cells, missing, sd)
					found, err := Line{Cells: cells, Missing: missing == 1, Total: total * sum(a.counts), SD: sd}.Scout(a.ask)
					if err != nil {
						t.Fatal(err)
					}
					pos, rows := 0, 0.0
					for _, l := range found.Leaves(total * sum(a.counts)) {
						if l.Lo != pos || l.Hi <= l.Lo || !(l.Count >= 0) || !(l.Var >= 0) || l.Var == 0 && l.Hi == l.Lo+1 {
							t.Fatalf("%d cells: leaf %+v after cell %d", cells, l, pos)
						}
						pos, rows = l.Hi, rows+l.Count
					}
					if pos != cells || total > 0 && rows > sum(a.counts)+1e-6 || total > 0 && missing == 0 &&
						math.Abs(rows-sum(a.counts)) > 1e-6 {
						t.Errorf("%d cells, %d missing: leaves end at %d and hold %g of %g", cells, missing, pos, rows, sum(a.counts))
					}
					if d := cmp.Diff([]float64{.15, .85}, a.parts); d != "" {
						t.Error(d)
					}
					for i, nodes := range a.asked {
						end := 0
						for _, n := range nodes {
							if n[0] != end || n[1] <= n[0] {
								t.Fatalf("release %d asks %v after cell %d", i+1, n, end)
							}
							end = n[1]
						}
						if end != cells+missing {
							t.Errorf("release %d asks %d of %d cells", i+1, end, cells+missing)
						}
					}
				}
			}
		}
	}
}

// halving returns counts that halve from cell to cell.
func halving(cells, missing int, sd float64) *asker {
	a := &asker{counts: make([]float64, cells+missing), sd: sd, rng: rand.New(rand.NewPCG(uint64(cells), uint64(sd)))}
	for i := range a.counts {
		a.counts[i] = math.Floor(10_000 / math.Pow(2, float64(i)))
	}
	return a
}

// TestBodyAndWhatLiesBeyond: by hand, 32 cells in 16 parts of 2 at sd 10: the first release has a sd of 25.8, three of
// which are 77.5, the second one of 10.8, 1.6 of which are 17.4. Parts of 78 and more are the body, with parts of
// 18 beside them and holes of one and two parts; beyond lie ranges of 1, 2 and 4 parts. One part that
// is left on the right joins the last range, of which it is less than half; on the left it does not.
func TestBodyAndWhatLiesBeyond(t *testing.T) {
	first := []float64{0, 0, 18, 78, 0, 0, 900, 18, 17, 0, 0, 0, 0, 0, 0, 0}
	l := Line{Cells: 32, SD: 10}
	body := l.bodyOf(l.parts(16), first, 10/math.Sqrt(.15))
	var got []string
	for _, r := range awayFromBody(body, 16) {
		got = append(got, fmt.Sprint(r.from, "-", r.to, r.fine))
	}
	want := []string{"0-1 false", "1-2 false", "2-3 true", "3-4 true", "4-5 true", "5-6 true", "6-7 true", "7-8 true",
		"8-9 false", "9-11 false", "11-16 false"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if none := l.bodyOf(l.parts(16), make([]float64, 16), 30); !none[0] || none[1] {
		t.Errorf("without a part that shows rows the body is %v, must be the largest, the first", none)
	}
}

// TestScoutErrors: what ask says is passed on; a wrong number of answers is a fault.
func TestScoutErrors(t *testing.T) {
	refused := errors.New("refused")
	for _, fails := range []int{0, 1} {
		n := 0
		_, err := Line{Cells: 20, Total: 5, SD: 1}.Scout(func(part float64, nodes [][2]int) ([]float64, float64, error) {
			if n++; n > fails {
				return nil, 0, refused
			}
			return make([]float64, len(nodes)), 1 / part, nil
		})
		if !errors.Is(err, refused) {
			t.Errorf("release %d: error %v", fails+1, err)
		}
	}
	if _, err := (Line{Cells: 20, SD: 1}).Scout(func(float64, [][2]int) ([]float64, float64, error) {
		return []float64{1},
			1, nil
	}); err == nil {
		t.Error("one count for ten ranges was taken")
	}
}
