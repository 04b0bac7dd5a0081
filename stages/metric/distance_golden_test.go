package metric

import (
	"math"
	"testing"

	"weir/stages/internal/columns"
)

func divergences(d DiscreteDistances) map[string]any {
	return map[string]any{
		"total_variation": d.TotalVariation, "l1": d.L1, "l2": d.L2, "jsd_mixture_nats": d.JSD,
		"jsd_mixture_bits":            d.JSD / math.Ln2,
		"jensenshannon_distance_nats": d.JensenShannonDistance(), "jsd_as_printed_half_kl_both_ways": d.JSDAsPrinted,
		"kl_real_synth": d.KLRealSynth, "kl_synth_real": d.KLSynthReal, "mu": d.Mu, "mu_smoothed_kl": d.MuSmoothedKL,
		"hellinger": d.Hellinger,
	}
}

func discreteDistance(t *testing.T, c goldenCase) map[string]any {
	in := decode[struct{ P, Q []float64 }](t, c.Input)
	return divergences(NewDiscreteDistances(in.P, in.Q))
}

// categoricalDistance: null is one more value, as the code for missing is.
func categoricalDistance(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct {
		Column string
		Values []*string
		Tables []string
	}](t, c.Params)
	var real, synth []int64
	if c.Input != nil {
		in := decode[struct{ Real, Synth []*string }](t, c.Input)
		real, synth = countTexts(p.Values, in.Real), countTexts(p.Values, in.Synth)
	} else {
		col, _ := Binning{}.Code(goldenTable(t, p.Tables[0]).Column(p.Column), goldenTable(t, p.Tables[1]).Column(p.Column))
		real, synth = col.Counts()
		real, synth = real[:col.Cells], synth[:col.Cells]
	}
	got := divergences(NewDiscreteDistances(shares(real), shares(synth)))
	got["counts_real"], got["counts_synth"] = real, synth
	x, err := TwoSampleChiSquare(real, synth)
	if _, wanted := c.Expected["chi2_two_sample"]; (err == nil) != wanted && c.Input == nil {
		t.Errorf("chi2_two_sample: error %v, but the reference has a value: %v", err, wanted)
	}
	got["chi2_two_sample"] = map[string]any{"statistic": x.Statistic, "p_value": x.P, "dof": x.DoF}
	return got
}

func countTexts(values, cells []*string) []int64 {
	n := make([]int64, len(values))
	for _, cell := range cells {
		for i, v := range values {
			if (cell == nil) == (v == nil) && (cell == nil || *cell == *v) {
				n[i]++
			}
		}
	}
	return n
}

func numericDistance(t *testing.T, c goldenCase) map[string]any {
	p := decode[struct {
		Column string
		Tables []string
	}](t, c.Params)
	a, b := goldenTable(t, p.Tables[0]).Column(p.Column), goldenTable(t, p.Tables[1]).Column(p.Column)
	x, y := Sorted(a.Numbers), Sorted(b.Numbers)
	got := ksFigures(x, y)
	meanA, sdA := moments(x)
	meanB, sdB := moments(y)
	w := got["wasserstein_1"].(float64)
	got["wasserstein_1_over_real_range"] = w / (x[len(x)-1] - x[0])
	got["wasserstein_1_over_real_sd"] = w / StandardDeviation(x)
	got["mean_real"], got["sd_real_ddof1"], got["mean_synth"], got["sd_synth_ddof1"] = meanA, sdA, meanB, sdB
	for name, bins := range map[string]int{"hist10": 10, "hist20": 20} {
		got[name] = goldenHistogram(a, b, bins)
	}
	return got
}

func goldenHistogram(a, b *columns.Column, bins int) map[string]any {
	col, _ := Binning{Bins: bins}.Code(a, b)
	real, synth := col.Counts()
	h := divergences(NewDiscreteDistances(shares(real), shares(synth)))
	h["counts_real"], h["counts_synth_clipped"] = real[:bins], synth[:bins]
	return h
}

func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / float64(len(x)-1))
}

func ksFigures(x, y []float64) map[string]any {
	d := NewNumericDistances(x, y)
	p, exact := KSP(d.KS, len(x), len(y), ExactSteps)
	if !exact {
		p = math.NaN()
	}
	return map[string]any{"ks_statistic": d.KS, "ks_p_exact": p, "ks_p_kolmogorov_limit": KSLimit(d.KS, len(x), len(y)),
		"wasserstein_1": d.Wasserstein, "energy_distance": d.Energy}
}

func ksCase(t *testing.T, c goldenCase) map[string]any {
	in := decode[struct{ X, Y []float64 }](t, c.Input)
	return ksFigures(Sorted(in.X), Sorted(in.Y))
}

func wassersteinCase(t *testing.T, c goldenCase) map[string]any {
	in := decode[struct{ X, Y []float64 }](t, c.Input)
	return map[string]any{"unweighted": NewNumericDistances(Sorted(in.X), Sorted(in.Y)).Wasserstein}
}

// shares divides counts by their sum; all 0 where that is 0.
func shares(counts []int64) []float64 {
	n := int64(0)
	for _, c := range counts {
		n += c
	}
	p := make([]float64, len(counts))
	for i, c := range counts {
		if n > 0 {
			p[i] = float64(c) / float64(n)
		}
	}
	return p
}
