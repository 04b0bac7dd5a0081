package latent

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/noise"
)

// filter returns a paid filter of the given multiplier.
func filter(multiplier float64, name string, probe privacy.Probe) *privacy.Handle {
	return privacy.Open(privacy.Opening{Spend: name, Source: noise.NewSource(noise.Key{3}, name), Probe: probe,
		Mechanism: mechanism.GaussianFilter{NoiseMultiplier: multiplier, Adjacency: privacy.ReplaceOne}})
}

// waves returns 60 points of two overlapping groups, two coordinates each.
func waves(label int32) labelledCodes {
	c := labelledCodes{Dim: 2}
	for i := range 60 {
		x := float64(i)
		a, b := -0.5, 0.6
		if i%3 == 0 {
			a, b = 0.8, -0.2
		}
		a += 0.3 * math.Sin(1.7*x+0.4)
		b += 0.25*math.Cos(2.3*x) + 0.1*math.Sin(1.7*x+0.4)
		c.Values, c.Labels = append(c.Values, float32(a), float32(b)), append(c.Labels, label)
	}
	return c
}

func config(labels, components, dim, rounds int, radius float64) emConfig {
	return emConfig{moments: moments{Labels: labels, Components: components, Dim: dim, Radius: radius}, Rounds: rounds,
		Floor: radius / 100}
}

// TestWithoutNoiseItIsEM: the weights, means and covariances that scikit-learn 1.9.1 has
// after one and three iterations of GaussianMixture(2, tol=0, reg_covar=0) on the same
// points from the same start; rounding to 2^-24 of a row is below 1e-6 here.
func TestWithoutNoiseItIsEM(t *testing.T) {
	want := map[int][]float64{
		1: {.3318382919, .6549523462, -.1177882528, .1871569792, -.0896869428, .0994166028, .6681617081, -.4231803038,
			.5577685906, .1250762334, -.039602903, .0728516257},
		3: {.3333561427, .7821202268, -.2102006074, .0424489704, .0087415333, .0320015374, .6666438573, -.4892255215,
			.6055176552, .045083216, .0147607841, .03647639},
	}
	for rounds, numbers := range want {
		current := emStart(t)
		paid := filter(0, "em", nil)
		f := newMixtureFit(config(1, 2, 2, rounds, 2), waves(0), paid.Mechanism().(mechanism.GaussianFilter), paid)
		for range rounds {
			noisy, err := f.release(current)
			must(t, err)
			current[0].Components = f.update(noisy[0], current[0].Components)
		}
		var got []float64
		for _, g := range current[0].Components {
			c := covariance(g)
			got = append(got, g.Weight, g.Mean[0], g.Mean[1], c[0][0], c[0][1], c[1][1])
		}
		for i := range numbers {
			if math.Abs(got[i]-numbers[i]) > 1e-6 {
				t.Errorf("after %d rounds number %d is %.9g, must be %.9g", rounds, i, got[i], numbers[i])
			}
		}
	}
}

// emStart returns two components of covariance (.3 .1; .1 .4).
func emStart(t *testing.T) []codeMixture {
	factor, ok := factored([][]float64{{0.3, 0.1}, {0.1, 0.4}})
	if !ok {
		t.Fatal("a positive matrix has no factor")
	}
	return []codeMixture{{Components: []gaussian{{0.4, []float64{0.5, 0}, factor}, {0.6, []float64{-0.25, 0.3}, factor}}}}
}

func covariance(g gaussian) [][]float64 {
	out := make([][]float64, len(g.Factor))
	for i, a := range g.Factor {
		for _, b := range g.Factor {
			sum := 0.0
			for k := range min(len(a), len(b)) {
				sum += a[k] * b[k]
			}
			out[i] = append(out[i], sum)
		}
	}
	return out
}

// TestMomentsMove: whatever a row and the mixtures, what it adds has at most the stated
// length, and what two rows add is no further apart than stated; both bounds are
// nearly reached, so that none is larger than it need be.
func TestMomentsMove(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := moments{Labels: 2, Components: 3, Dim: 4, Radius: 0.5, unit: finest}
	items := make([]codeMixture, m.Labels)
	for l := range items {
		for range m.Components {
			items[l].Components = append(items[l].Components,
				gaussian{1. / 3, []float64{r.NormFloat64() / 4, r.NormFloat64() / 4, 0,
					0}, [][]float64{{.1}, {0, .1}, {0, .05, .1}, {0, 0, 0, .1}}})
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	rows := [][]float32{{.5, 0, 0, 0}, {-.5, 0, 0, 0}, {0, 0, 0, 0}, {3e38, -3e38, 1, 1}, {1e-45, 0, 0, 0}, {inf, 0, 0, 0},
		{nan, 1, 1, 1}, {.25, .25, .25, .25}}
	for range 40 {
		rows = append(rows, []float32{float32(r.NormFloat64()), float32(r.NormFloat64()), float32(r.NormFloat64()),
			float32(r.NormFloat64())})
	}
	var added [][]int64
	for _, x := range rows {
		for l := range int32(2) {
			added = append(added, m.sums(labelledCodes{4, x, []int32{l}}, items))
		}
	}
	top := mechanism.Moves{}
	for i, a := range added {
		top.AddRemove = math.Max(top.AddRemove, distance(a, make([]int64, m.size())))
		for _, b := range added[:i] {
			top.ReplaceOne = math.Max(top.ReplaceOne, distance(a, b))
		}
	}
	bound := m.Moves()
	if !(top.AddRemove <= bound.AddRemove && top.AddRemove > 0.999*bound.AddRemove) ||
		!(top.ReplaceOne <= bound.ReplaceOne && top.ReplaceOne > 0.999*bound.ReplaceOne) {
		t.Errorf("rows move the moments by %v, must be just below %v", top, bound)
	}
	if want := math.Sqrt(3) * finest; math.Abs(bound.AddRemove/want-1) > 1e-6 ||
		math.Abs(bound.ReplaceOne/want/math.Sqrt2-1) > 1e-6 {
		t.Errorf("the bound is %v, must be sqrt 3 and sqrt 6 rows", bound)
	}
}

func distance(a, b []int64) float64 {
	sum := 0.0
	for i := range a {
		d := float64(a[i] - b[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// TestMomentsAreExact: sums of rows in any order, on any number of cores, are equal.
func TestMomentsAreExact(t *testing.T) {
	x := labelledCodes{Dim: 2}
	for i := range 2000 {
		w := waves(int32(i % 2))
		x.Values, x.Labels = append(x.Values, w.Values[2*(i%60):2*(i%60)+2]...), append(x.Labels, int32(i%2))
	}
	items := slices.Repeat(emStart(t), 2)
	m := moments{Labels: 2, Components: 2, Dim: 2, Radius: 1, unit: finest}
	one := m.sums(x, items)
	old := runtime.GOMAXPROCS(1)
	other := m.sums(x, items)
	runtime.GOMAXPROCS(old)
	back := labelledCodes{Dim: 2}
	for i := range x.Labels {
		j := len(x.Labels) - 1 - i
		back.Values, back.Labels = append(back.Values, x.row(j)...), append(back.Labels, x.Labels[j])
	}
	if !slices.Equal(one, other) || !slices.Equal(one, m.sums(back, items)) {
		t.Error("the sums depend on cores or on the order of rows")
	}
}

// TestFitPays: each round is one release, of an equal part of the total, at the stated
// sensitivity; labels without rows are released like the rest and get a share near 0
// and components that nothing taught.
func TestFitPays(t *testing.T) {
	for name, x := range map[string]labelledCodes{"rows of one label": waves(1), "no row": {Dim: 2}} {
		seen := &rounds{}
		h := filter(1, name, seen)
		c := config(3, 2, 2, 4, 2)
		all, err := fitMixtures(context.Background(), c, x, rand.New(rand.NewPCG(1, 1)), h)
		must(t, err)
		must(t, h.Close())
		if len(seen.costs) != 4 || math.Abs(seen.costs[0]*4/4-1) > 1e-12 { // multiplier 1 under replace_one: a total of 4
			t.Errorf("%s: rounds cost %v, must be 4 of 1", name, seen.costs)
		}
		total := 0.0
		for l, m := range all {
			total += m.Share
			if len(m.Components) != 2 {
				t.Errorf("%s: label %d has %d components, must have 2", name, l, len(m.Components))
			}
		}
		if math.Abs(total-1) > 1e-12 {
			t.Errorf("%s: shares add up to %g", name, total)
		}
		// Noise of a size: sqrt 6/2 sqrt(4/4) = 1.2 a round and component; 4 rounds of 60.
		if len(x.Labels) > 0 && !(all[1].Share > 0.7) {
			t.Errorf("%s: all rows are of label 1, its share is %g", name, all[1].Share)
		}
	}
}

type rounds struct{ costs []float64 }

func (p *rounds) Release(r privacy.Released) any {
	p.costs = append(p.costs, r.In.(privacy.Round).Cost)
	return r.Out
}

// TestHugeNoiseIsInReach: noise for a tiny budget is drawn, at a coarser unit whose
// rounding is paid for, so that no run ends after it is paid for.
func TestHugeNoiseIsInReach(t *testing.T) {
	for _, multiplier := range []float64{1e-5, 1, 1e4, 1e7} {
		h := filter(multiplier, "huge", nil)
		c := config(2, 3, 4, 8, 2)
		_, err := fitMixtures(context.Background(), c, labelledCodes{Dim: 4}, rand.New(rand.NewPCG(1, 1)), h)
		must(t, err)
		must(t, h.Close())
		f := newMixtureFit(c, labelledCodes{Dim: 4}, h.Mechanism().(mechanism.GaussianFilter), h)
		if over := f.moves.AddRemove / (math.Sqrt(3) * f.unit); !(over > 1 && over < 1.01) {
			t.Errorf("multiplier %g: the sensitivity is %g of what it is without rounding", multiplier, over)
		}
	}
}

// TestCovarianceIsCut: the projection is the nearest positive semidefinite matrix of that
// trace, known in closed form for a diagonal one: (3, 1, -1) of trace 3 becomes (2.5, .5, 0).
func TestCovarianceIsCut(t *testing.T) {
	for _, c := range []struct {
		values, want []float64
		total        float64
	}{
		{[]float64{-1, 1, 3}, []float64{0, 0.5, 2.5}, 3},
		{[]float64{1, 2, 3}, []float64{1, 2, 3}, 6},
		{[]float64{-2, -1, 1}, []float64{0, 0, 0}, -2},
		{[]float64{-5, 1, 1}, []float64{0, 0, 0}, 0},
	} {
		got := slices.Clone(c.values)
		cut(got, c.total)
		for i := range got {
			if math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("%v of trace %g is cut to %v, must be %v", c.values, c.total, got, c.want)
				break
			}
		}
	}
}

func TestConfigRefuses(t *testing.T) {
	must(t, config(2, 3, 4, 2, 1).Validate())
	for want, c := range map[string]emConfig{"rounds": config(1, 2, 2, 1, 1), "labels": config(0, 1, 2, 1, 1),
		"radius": config(1, 1, 2, 1, math.Inf(1)), "from 1e-30": config(1, 1, 2, 1, 5e-324), "dim": config(1, 1, 0, 1, 1)} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must name %s", err, want)
		}
	}
}
