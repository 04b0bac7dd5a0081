package prediction

import (
	"math"
	"slices"
	"testing"

	"weir/pipeline/domain"
	"weir/stages/internal/columns"
	"weir/stages/internal/learn"
)

// wide returns a table of numbers, of which some are missing, of categories, and of flags that the first one goes with.
func wide(seed uint64, rows, flags int) *columns.Frame {
	g, f := rng(seed), &columns.Frame{Rows: rows}
	x, group := columns.Column{Name: "x", Type: domain.Numeric}, columns.Column{Name: "group", Type: domain.Categorical,
		Categories: []string{"a", "b", "c"}}
	for i := range rows {
		x.Numbers, group.Codes = append(x.Numbers, g.NormFloat64()), append(group.Codes, int32(g.IntN(3)))
		if i%10 == 3 {
			x.Numbers[i] = math.NaN()
		}
	}
	for j := range flags {
		c := columns.Column{Name: string(rune('A' + j)), Type: domain.Boolean, Categories: []string{"0", "1"},
			Codes: make([]int32, rows)}
		for i := range rows {
			if share := 0.04 + 0.3*float64(min(j, 1)); j > 0 && f.Columns[0].Codes[i] == 1 && g.Float64() < share ||
				g.Float64() < 0.04 {
				c.Codes[i] = 1
			}
		}
		f.Columns = append(f.Columns, c)
	}
	f.Columns = append(f.Columns, x, group)
	return f
}

// TestDesk: what a desk says of each column, coded or not, with missing values or none, is what a trial of its own
// says, though the desk encodes once; and of flags alone, whose rows are listed, too.
func TestDesk(t *testing.T) {
	flags := make([]string, 300)
	for j := range flags {
		flags[j] = string(rune('A' + j))
	}
	few := []string{"A", "B", "x", "group"}
	for name, c := range map[string]struct{ all, targets []string }{"mixed": {few, few}, "flags": {flags, flags[:4]}} {
		train, test := wide(1, 300, 300).Select(c.all), wide(2, 200, 300).Select(c.all)
		desk := NewDesk(train, test, ScaleBounds, 0, nil)
		for _, target := range c.targets {
			one, single := desk.TrainTest(target), NewTrainTest(train, test, target, ScaleBounds, 0, nil)
			if !slices.Equal(one.Features(), single.Features()) {
				t.Errorf("%s: %s is predicted from %v, must be from %v", name, target, one.Features(), single.Features())
			}
			if a, b := scored(t, one, target), scored(t, single, target); math.Abs(a-b) > 1e-9 || math.IsNaN(a) {
				t.Errorf("%s: %s is scored %g, must be %g", name, target, a, b)
			}
		}
	}
}

func scored(t *testing.T, trial *TrainTest, target string) float64 {
	t.Helper()
	name, run := "auroc", learn.Run{Workers: 2}
	var list map[string]Score
	var err error
	if trial.Test.Column(target).Coded() {
		list, err = trial.ScoreClasses(t.Context(), learn.Logistic{C: 1, Penalty: learn.L2}, 1, []string{name}, nil, run)
	} else {
		name = "r2"
		list, err = trial.ScoreNumbers(t.Context(), learn.LeastSquares{}, []string{name}, nil, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list[name].Value
}

// TestDeskDrawsRows: of more rows than may be learnt from a desk draws some, and says so of every target.
func TestDeskDrawsRows(t *testing.T) {
	desk := NewDesk(wide(1, 300, 2), wide(2, 100, 2), ScaleBounds, 50, rng(3))
	for _, target := range []string{"A", "x"} {
		if one := desk.TrainTest(target); one.Train.Rows > 50 || one.Train.Rows < 40 ||
			one.Notes[:20] != "50 of 300 training r" {
			t.Errorf("%s: %d rows, %q", target, one.Train.Rows, one.Notes)
		}
	}
}

// TestAreaOfResamples: the AUROC of a resample that is counted equals the AUROC of its listed rows to the bit, with
// ties and without, and undefined where one class is not drawn.
func TestAreaOfResamples(t *testing.T) {
	g, y, s := rng(1), make([]int32, 80), make([]float64, 80)
	for i := range y {
		y[i], s[i] = int32(g.IntN(2)), float64(g.IntN(20))
	}
	order := ascending(s)
	slices.Reverse(order)
	a, dst := newArea(y, s, 1, order), make([]float64, 1)
	for range 50 {
		times, positive, draws := make([]int32, 80), []bool(nil), []float64(nil)
		for range 80 {
			i := g.IntN(80)
			times[i]++
			positive, draws = append(positive, y[i] == 1), append(draws, s[i])
		}
		if a.judge(times, nil, dst); dst[0] != learn.AUROC(positive, draws) {
			t.Errorf("%v, must be %v", dst[0], learn.AUROC(positive, draws))
		}
	}
	times := make([]int32, 80)
	times[slices.Index(y, 1)] = 80
	if a.judge(times, nil, dst); !math.IsNaN(dst[0]) {
		t.Errorf("of one class %v", dst[0])
	}
}
