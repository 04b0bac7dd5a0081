package metric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"weir/stages/metric"
)

// counted returns a column of two tables with these counts of codes 0, 1, ...; the last code
// is missing.
func counted(name string, cells int, counts ...int) metric.CodedColumn {
	c := metric.CodedColumn{Name: name, Size: cells + 1, Cells: cells}
	for code, n := range counts {
		for range n {
			c.Real, c.Synth = append(c.Real, uint16(code)), append(c.Synth, uint16(code))
		}
	}
	return c
}

// TestNoisyIsTheNoiseOfTheCounts: without noise a column keeps its shares to within a row; with noise of sd rows a cell
// its total variation is near the variation of the noise alone: half of 4 cells times the mean
// size of the noise, sqrt(2/pi) sd, over the rows, for noise too small to be cut at 0.
// The mean over 400 columns is within 10 % (5 standard deviations of it are 8 %).
func TestNoisyIsTheNoiseOfTheCounts(t *testing.T) {
	const rows, sd = 40_000, 100
	source := &metric.CodedTables{Real: rows, Synth: rows}
	for range 400 {
		source.Columns = append(source.Columns, counted("x", 4, 4000, 8000, 12000, 16000))
	}
	exact := source.Noisy(source, 0, rand.New(rand.NewPCG(1, 1)))
	noisy := source.Noisy(source, sd, rand.New(rand.NewPCG(1, 2)))
	mean := 0.0
	for i := range source.Columns {
		if v := exact.Columns[i].TotalVariation(); v > 4./rows {
			t.Fatalf("without noise the total variation is %g", v)
		}
		mean += noisy.Columns[i].TotalVariation() / 400
	}
	// The shares add up to 1, so that the noise of a cell is that about its mean: sqrt(3/4) of it.
	want := 2 * math.Sqrt(2/math.Pi) * sd * math.Sqrt(3./4) / rows
	if math.Abs(mean-want) > 0.1*want {
		t.Errorf("total variation %g, must be about %g", mean, want)
	}
}

// TestNoisyInventsNothing: nothing is invented: a code that no row can have stays empty, and columns are
// independent whatever they were.
func TestNoisyInventsNothing(t *testing.T) {
	from := &metric.CodedTables{Real: 1000, Synth: 1000, Columns: []metric.CodedColumn{counted("a", 2, 500, 500),
		counted("b", 2, 500, 500)}}
	out := from.Noisy(&metric.CodedTables{Synth: 3001}, 50, rand.New(rand.NewPCG(2, 2)))
	both := 0
	for i := range out.Columns[0].Synth {
		a, b := out.Columns[0].Synth[i], out.Columns[1].Synth[i]
		if a > 1 || b > 1 {
			t.Fatalf("row %d has the codes %d and %d, missing is in no row", i, a, b)
		}
		if a == b {
			both++
		}
	}
	// The columns were equal in all rows; of independent ones of halves, 3,001 fair coins.
	if len(out.Columns[0].Synth) != 3001 || both < 1300 || both > 1700 {
		t.Errorf("%d of %d rows agree", both, len(out.Columns[0].Synth))
	}
}
