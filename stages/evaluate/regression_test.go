package evaluate

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/pipelinetest"
)

func visits() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "x", Type: domain.Numeric},
		{Name: "noise", Type: domain.Numeric},
		{Name: "arm", Type: domain.Categorical, Categories: domain.Categories{"never", "a", "b"}},
		{Name: "years", Type: domain.Numeric},
		{Name: "events", Type: domain.Integer},
	}}
}

// cohort draws counts with rate years exp(-1 + effect x + 0.8 [arm = b]).
func cohort(n int, effect float64, seed uint64) pipelinetest.Input {
	rng := rand.New(rand.NewPCG(seed, 2))
	x, z, arm, years, events := make([]any, n), make([]any, n), make([]any, n), make([]any, n), make([]any, n)
	for i := range n {
		v, k, t := rng.NormFloat64(), rng.IntN(2), 1+4*rng.Float64()
		x[i], z[i], arm[i], years[i] = v, rng.NormFloat64(), string(rune('a'+k)), t
		events[i] = poisson(rng, t*math.Exp(-1+effect*v+0.8*float64(k)))
	}
	return input(visits(), x, z, arm, years, events)
}

func poisson(rng *rand.Rand, rate float64) int {
	n, p := 0, rng.Float64()
	for ; p > math.Exp(-rate); n++ {
		p *= rng.Float64()
	}
	return n
}

// discovery returns a Poisson regression with exposure, with more settings.
func discovery(more overrides) pipeline.Stage {
	settings := overrides{"model": "poisson", "target": "events", "columns": []string{"x", "noise", "arm"},
		"exposure": "years"}
	maps.Copy(settings, more)
	return stage("regression_discovery", settings)
}

// TestRegressionCountsDiscoveries: the effects are 0.5 and 0.8 with standard errors near 0.03 and 0.06 at 1,000
// rows of rate about 2: to miss the first, or to be 0.25 off, is an event of more
// than 7 standard errors (rate below 1e-10). The real rows' base is arm a, since
// nobody is in the first category.
func TestRegressionCountsDiscoveries(t *testing.T) {
	real := cohort(1000, 0.5, 1)
	m := figures(t, discovery(nil), map[string]pipelinetest.Input{"real": real, "synthetic": cohort(1000, 0.5, 2)})
	for key, want := range map[string]float64{"coefficient_real.x": 0.5, "coefficient_synthetic.x": 0.5,
		"coefficient_real.arm=b": 0.8, "coefficient_real.intercept": -1} {
		if got := m[key].Value; math.Abs(got-want) > 0.25 {
			t.Errorf("%s is %v, want about %v", key, got, want)
		}
	}
	if m["discoveries_reproduced"].Value < 2 || m["mean_interval_overlap"].Value <= 0 {
		t.Errorf("reproduced %v, overlap %v", m["discoveries_reproduced"].Value, m["mean_interval_overlap"].Value)
	}
	if note := m["coefficient_real.arm=never"].Note; !strings.Contains(note, "not estimable") {
		t.Errorf("a category without rows has the note %q", note)
	}
	turned := figures(t, discovery(nil), map[string]pipelinetest.Input{"real": real, "synthetic": cohort(1000, -0.5, 3)})
	if turned["discoveries_lost"].Value < 1 || turned["discoveries_false"].Value < 1 ||
		turned["interval_overlap.x"].Value >= 0 {
		t.Errorf("an effect of the other sign: lost %v, false %v, overlap %v",
			turned["discoveries_lost"].Value, turned["discoveries_false"].Value, turned["interval_overlap.x"].Value)
	}
}

// TestRegressionEdges: every edge gives a value or a reason (see figures).
func TestRegressionEdges(t *testing.T) {
	none := input(visits(), nil, nil, nil, nil, nil)
	flat := input(visits(), []any{1.0, 1.0, 1.0, 1.0}, []any{0.0, 0.0, 0.0, 0.0}, []any{"a", "a", "a", "a"},
		[]any{1.0, 1.0, 1.0, 1.0}, []any{0, 0, 0, 0})
	one := cohort(1, 0.5, 9)
	far := input(visits(), []any{9e74, -9e74, 1e60, 1.0, 2.0, 3.0, 4.0}, []any{1e74, 1.0, 2.0, math.MaxFloat64, 5.0, 6.0,
		-1e70}, []any{"a", "b", "a", "b", "a", "b", "a"},
		[]any{1e74, 1.0, 2.0, 1e-74, 1.0, 3.0, 5e-324}, []any{1 << 52, 0, 1, 2, 3, 5, 8})
	for _, real := range []pipelinetest.Input{none, flat, one, far, cohort(50, 0.5, 1)} {
		for _, synthetic := range []pipelinetest.Input{none, flat, one, far} {
			figures(t, discovery(nil), map[string]pipelinetest.Input{"real": real, "synthetic": synthetic})
			figures(t, discovery(overrides{"model": "linear", "exposure": ""}), map[string]pipelinetest.Input{"real": real,
				"synthetic": synthetic})
		}
	}
	// x separates the outcomes perfectly.
	separate := input(mixedTable(), []any{-2.0, -1.0, 1.0, 2.0, 3.0, -3.0}, []any{"a", "a", "a", "b", "b", "b"},
		[]any{"0", "0", "1", "1", "1", "0"}, []any{1.0, 2.0, 1.5, 0.5, 3.0, 1.0})
	s := stage("regression_discovery", overrides{"model": "logistic", "target": "outcome", "columns": []string{"x"}})
	m := figures(t, s, map[string]pipelinetest.Input{"real": rows(200, 1), "synthetic": separate})
	if note := m["coefficient_synthetic.x"].Note; !strings.Contains(note, "separat") {
		t.Errorf("perfect separation has the note %q", note)
	}
}

// TestRegressionWithoutCases: where nothing happens in arm b, its coefficient is minus infinity, and the others come
// from arm a alone; the resamples, in each of which that is so, find the effect of x (0.5, standard error near 0.05).
func TestRegressionWithoutCases(t *testing.T) {
	barren := func(arms ...string) pipelinetest.Input {
		rng := rand.New(rand.NewPCG(4, 2))
		var x, z, arm, years, events []any
		for range 1000 {
			v, w, k, year := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(2), 1+4*rng.Float64()
			n := poisson(rng, year*math.Exp(-1+0.5*v)) * (1 - k)
			if name := string(rune('a' + k)); slices.Contains(arms, name) {
				x, z, arm, years, events = append(x, v), append(z, w), append(arm, name), append(years, year), append(events, n)
			}
		}
		return input(visits(), x, z, arm, years, events)
	}
	both := figures(t, discovery(overrides{"bootstraps": 5}), map[string]pipelinetest.Input{"real": barren("a", "b"),
		"synthetic": barren("a", "b")})
	one := figures(t, discovery(nil), map[string]pipelinetest.Input{"real": barren("a"), "synthetic": barren("a")})
	for _, name := range []string{"coefficient_real.x", "coefficient_real.intercept", "standard_error_real.noise"} {
		if got, want := both[name].Value, one[name].Value; !(math.Abs(got-want) < 1e-9) {
			t.Errorf("%s is %v, must be %v as without arm b", name, got, want)
		}
	}
	if m := both["coefficient_real.arm=b"]; !math.IsNaN(m.Value) || !strings.Contains(m.Note, "minus infinity") {
		t.Errorf("arm b has the coefficient %v, note %q", m.Value, m.Note)
	}
	if both["bootstrap_share.x"].Value != 1 || both["bootstrap_share.arm=b"].Value != 0 {
		t.Errorf("shares of resamples: x %v, arm b %v", both["bootstrap_share.x"].Value, both["bootstrap_share.arm=b"].Value)
	}
}

func TestRegressionRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change overrides
		want   string
	}{
		"coded target":       {overrides{"target": "arm", "columns": []string{"x"}}, "a numeric column for a poisson model"},
		"numeric, logistic":  {overrides{"model": "logistic"}, "a column of two categories"},
		"offset of another":  {overrides{"model": "linear"}, "left out, or the model poisson"},
		"unknown exposure":   {overrides{"exposure": "year"}, "did you mean years?"},
		"target as column":   {overrides{"columns": []string{"events"}}, "other columns"},
		"category as offset": {overrides{"exposure": "arm", "columns": []string{"x"}}, "a numeric column"},
	} {
		in := pipeline.Headers{"real": cohort(3, 1, 1).Header, "synthetic": cohort(3, 1, 2).Header}
		if _, err := discovery(c.change).Plan(in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, must say %q", name, err, c.want)
		}
	}
}

// TestRegressionErrorByPrevalence: a linear model gives each of nine categories, the k-th with k+2 rows, its own mean;
// synthetic means are off by known amounts against the base, so that the quarters of two categories each have means of
// (.8+.4)/2, (.3+.1)/2, (.2+0)/2 and (.1+.5)/2.
func TestRegressionErrorByPrevalence(t *testing.T) {
	d := &domain.Domain{Columns: []domain.Column{{Name: "y", Type: domain.Numeric}, {Name: "c", Type: domain.Categorical}}}
	off := []float64{0, 0.8, -0.4, 0.3, 0.1, -0.2, 0, 0.1, 0.5}
	var real, synthetic, c []any
	for k := range off {
		name := string(rune('a' + k))
		d.Columns[1].Categories = append(d.Columns[1].Categories, name)
		for i := range k + 2 {
			wiggle := float64(i) - float64(k+1)/2 // of mean 0 in each category
			real, synthetic, c = append(real, float64(k)+wiggle), append(synthetic, float64(k)+off[k]+wiggle), append(c, name)
		}
	}
	s := stage("regression_discovery", overrides{"model": "linear", "target": "y", "columns": []string{"c"}})
	m := figures(t, s, map[string]pipelinetest.Input{"real": input(d, real, c), "synthetic": input(d, synthetic, c)})
	for quarter, want := range map[string]float64{"1": 0.6, "2": 0.2, "3": 0.1, "4": 0.3} {
		if got := m["error_by_prevalence."+quarter].Value; math.Abs(got-want) > 1e-9 {
			t.Errorf("quarter %s: %g, must be %g", quarter, got, want)
		}
	}
}

// TestRegressionBootstraps: an effect of 17 standard errors is found in all resamples, one of two in some, and what the
// real rows do not discover is asked of none: all discoveries are found wherever the weaker one is.
func TestRegressionBootstraps(t *testing.T) {
	strong := figures(t, discovery(overrides{"bootstraps": 20}), map[string]pipelinetest.Input{"real": cohort(1000, 0.5,
		1),
		"synthetic": cohort(100, 0.5, 2)})
	if strong["bootstrap_share.x"].Value != 1 || strong["bootstrap_all_share"].Value != 1 ||
		strong["bootstrap_share.noise"].Value == 1 {
		t.Errorf("shares %v, %v and %v of 20 resamples", strong["bootstrap_share.x"], strong["bootstrap_all_share"],
			strong["bootstrap_share.noise"])
	}
	weak := figures(t, discovery(overrides{"bootstraps": 40, "columns": []string{"x"}}),
		map[string]pipelinetest.Input{"real": cohort(80, 0.2, 10), "synthetic": cohort(100, 0.5, 2)})
	if share := weak["bootstrap_share.x"].Value; share <= 0 || share >= 1 || weak["bootstrap_all_share"].Value != share {
		t.Errorf("of a weak effect (p %g) a share of %g, of all %g", weak["p_real.x"].Value, share,
			weak["bootstrap_all_share"].Value)
	}
	if _, is := figures(t, discovery(nil), map[string]pipelinetest.Input{"real": cohort(80, 0.2, 5),
		"synthetic": cohort(80, 0.2, 6)})["bootstrap_all_share"]; is {
		t.Error("resamples that nobody asked for")
	}
}
