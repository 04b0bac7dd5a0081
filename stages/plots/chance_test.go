package plots

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
	"weir/record/report"
	"weir/stages/internal/columns"
)

// flags draws rows with two numbers of correlation rho, ten rare flags and a group: what small test parts give chance
// associations of.
func flags(rng *rand.Rand, n int, rho float64) *columns.Frame {
	f := &columns.Frame{Rows: n, Columns: []columns.Column{{Name: "x", Type: domain.Numeric},
		{Name: "y", Type: domain.Numeric}}}
	for range n {
		x := rng.NormFloat64()
		f.Columns[0].Numbers = append(f.Columns[0].Numbers, x)
		f.Columns[1].Numbers = append(f.Columns[1].Numbers, float64(rho*x)+rng.NormFloat64())
	}
	for k := range 11 {
		c := columns.Column{Name: fmt.Sprint("flag", k), Type: domain.Categorical, Categories: []string{"no", "yes"}}
		if k == 10 {
			c.Categories = []string{"a", "b", "c", "d", "e", "f"}
		}
		for range n {
			code := int32(0)
			if k == 10 {
				code = int32(rng.IntN(6))
			} else if rng.Float64() < .04 {
				code = 1
			}
			c.Codes = append(c.Codes, code)
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

// listed returns how many pairs are told to have changed, and whether x and y are among them.
func listed(real, synthetic *columns.Frame) (pairs int, xy bool) {
	env := pipelinetest.Env(1)
	r := &report.Relations{Names: real.Names(), Real: relations(context.Background(), real, 1),
		Synthetic: relations(context.Background(), synthetic, 1)}
	significant := beyondChance(context.Background(), env, map[string]*columns.Frame{"real": real, "synthetic": synthetic},
		r)
	for i := range significant {
		for j := range i {
			if significant[i][j] {
				pairs++
			}
		}
	}
	return pairs, significant[1][0]
}

// TestChanceIsNotListed: of 78 pairs of 86 test rows against 800 rows of the same law, some change by .3 and more by
// chance. 10 of 100 such tables list a pair; of ten, 8 or more do with a probability of 3.7e-7 (binomial), and all
// where nothing is filtered. A correlation of .7 that was lost is listed each time.
func TestChanceIsNotListed(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	alarms, worst := 0, 0.
	for round := range 10 {
		real, synthetic := flags(rng, 86, 1), flags(rng, 800, 1)
		if pairs, _ := listed(real, synthetic); pairs > 0 {
			alarms++
		}
		r := &report.Relations{Names: real.Names(), Real: relations(context.Background(), real, 1),
			Synthetic: relations(context.Background(), synthetic, 1)}
		pairs, _ := mostChanged(r)
		p := pairs[0]
		worst = max(worst, r.Real[p[0]][p[1]]-r.Synthetic[p[0]][p[1]])
		if _, xy := listed(real, flags(rng, 800, 0)); !xy {
			t.Errorf("round %d: a correlation of .7 that was lost is not listed", round)
		}
	}
	t.Logf("%d alarms; the greatest change by chance is %.2f", alarms, worst)
	if alarms >= 8 {
		t.Errorf("%d of 10 tables of one law list pairs, must be fewer than 8", alarms)
	}
	if worst < .3 {
		t.Errorf("the greatest change by chance is %.2f: the test is blind", worst)
	}
}

// gains returns some zeros and 100 values: 100 1.05^k, k = 0 to 94, and five of a hundred times as much, up to 1.25
// million.
func gains(zeros int) (x []float64) {
	x = make([]float64, zeros, zeros+100)
	for k := range 100 {
		unit := 100.0
		if k > 94 {
			unit = 10000
		}
		x = append(x, unit*math.Pow(1.05, float64(k)))
	}
	return x
}

// drawnTail returns the drawing of a column with 900 zeros of 1000 real values and 400 of 500 synthetic ones.
func drawnTail(kind domain.ColumnType) report.Column {
	real := columns.Column{Name: "gain", Type: kind, Numbers: gains(900)}
	synthetic := columns.Column{Name: "gain", Type: kind, Numbers: gains(400)}
	return drawColumn(&real, &synthetic, 1000, 500)
}

// TestTail: the zeros stand apart, the others on a logarithmic axis whose bins are equal parts of it, and the shares of
// both add up to 1. Even bins would hold 95 of 100 others in the first hundredth of the axis.
func TestTail(t *testing.T) {
	c := drawnTail(domain.Numeric)
	if c.Spike == nil || *c.Spike != (report.Spike{Value: 0, Real: 0.9, Synthetic: 0.8}) {
		t.Fatalf("apart stands %v, must be 0 with .9 and .8", c.Spike)
	}
	if want := 100 * math.Pow(1.05, 50) / 10; math.Abs(c.Linear-want) > 1e-9*want {
		t.Errorf("the axis is linear up to %g, must be a tenth of the median, %g", c.Linear, want)
	}
	sum := c.Spike.Real
	for i, v := range c.Real {
		sum += v
		a, b := math.Asinh(c.Edges[i]/c.Linear), math.Asinh(c.Edges[i+1]/c.Linear)
		if all := math.Asinh(c.Edges[len(c.Edges)-1]/c.Linear) - math.Asinh(c.Edges[0]/c.Linear); math.Abs(b-a-all/mostBins) >
			1e-9 {
			t.Errorf("bin %d is %g of an axis of %g", i, b-a, all)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("shares add up to %g", sum)
	}
}

// TestTailHasDistributions: of the rows at most each value, which are counted here one by one.
func TestTailHasDistributions(t *testing.T) {
	c := drawnTail(domain.Numeric)
	d := c.Distribution
	if d == nil || len(d.At) < stretches || d.Real[len(d.Real)-1] != 1 || d.Synthetic[len(d.Synthetic)-1] != 1 {
		t.Fatalf("distribution %v", d)
	}
	for i, point := range d.At {
		n := 0.0
		for _, v := range gains(900) {
			if v <= point {
				n++
			}
		}
		if math.Abs(d.Real[i]-n/1000) > 1e-12 {
			t.Errorf("%g real values of 1000 are at most %g, drawn is %g", n, point, d.Real[i])
		}
	}
}

// TestNoTail: what an even axis shows stays on it: even values, a few whole numbers, dates and flags.
func TestNoTail(t *testing.T) {
	var even []float64
	for i := range 200 {
		even = append(even, float64(i))
	}
	for _, c := range []columns.Column{
		{Name: "even", Type: domain.Integer, Numbers: even}, {Name: "few", Type: domain.Integer, Numbers: []float64{0, 0, 0,
			0, 1, 8}},
		{Name: "day", Type: domain.Date, Numbers: gains(900)}, {Name: "flag", Type: domain.Numeric,
			Numbers: []float64{0, 0, 0, 1}},
	} {
		if got := drawColumn(&c, &c, len(c.Numbers), len(c.Numbers)); got.Spike != nil || got.Linear != 0 ||
			got.Distribution != nil {
			t.Errorf("%s: apart %v, linear up to %g", c.Name, got.Spike, got.Linear)
		}
	}
}

// TestTailOfWholeNumbers: no edge lies on a number, so that every value is clearly in one bin.
func TestTailOfWholeNumbers(t *testing.T) {
	x := gains(900)
	for i := range x {
		x[i] = math.Round(x[i])
	}
	own := columns.Column{Name: "gain", Type: domain.Integer, Numbers: x}
	c := drawColumn(&own, &own, len(x), len(x))
	if c.Linear == 0 || c.Edges[0] != 99.5 || c.Beyond != 0 {
		t.Errorf("edges from %g, linear up to %g, %d beyond", c.Edges[0], c.Linear, c.Beyond)
	}
	for i, v := range c.Edges {
		if v-math.Floor(v) != 0.5 || i > 0 && v <= c.Edges[i-1] {
			t.Errorf("edge %d is %g", i, v)
		}
	}
}
