package graphical

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
	"weir/privacy"
)

// measuring returns a tree with two fixed sets.
func measuring() *MarginalTree {
	s := slim(marginalTreeKind())().(*MarginalTree)
	s.Measure = []Fixed{{Columns: []string{"smoker", "region"}, Part: .2}, {Columns: []string{"age", "smoker", "seen"},
		Part: .1}}
	s.Bins = 4
	return s
}

// TestFixedSetsAreMeasured: with any noise each fixed set is in the release, at the noise of its part (under
// replace_one mu^2 is 4/M^2 and a histogram of noise sigma costs 2/sigma^2), marked in the listing; all of the budget
// is spent, and no chosen pair lies inside of one.
func TestFixedSetsAreMeasured(t *testing.T) {
	for _, in := range []pipelinetest.Input{ward(400), private(ward(400))} {
		for _, multiplier := range []float64{.05, 20, 1e4} {
			a := attempt{stage: measuring(), in: in, multiplier: multiplier}
			if _, left := a.run(t); !(left <= 1e-9) {
				t.Errorf("%.3g of the total is left at %g", left, multiplier)
			}
			m := a.model(t)
			square, whole := 2., 4.
			if in.Header.Terms.Adjacency == privacy.AddRemove {
				square, whole = 1, 1
			}
			for i, set := range [][]int{{4, 5}, {0, 5, 6}} {
				index := slices.IndexFunc(m.Measured, func(x measured) bool { return x.Fixed && slices.Equal(x.Columns, set) })
				if index < 0 {
					t.Fatalf("at %g columns %v are not measured as fixed", multiplier, set)
				}
				part := square / (m.Measured[index].Sigma*m.Measured[index].Sigma - 1./12) / (whole / multiplier / multiplier)
				if want := measuring().Measure[i].Part; math.Abs(part-want) > 1e-6*want {
					t.Errorf("at %g columns %v cost %g of the budget, must cost %g", multiplier, set, part, want)
				}
			}
			for _, x := range m.Measured {
				if !x.Fixed && (slices.Equal(x.Columns, []int{4, 5}) || slices.Equal(x.Columns, []int{0, 6})) {
					t.Errorf("columns %v are measured again", x.Columns)
				}
			}
			head, _, _ := strings.Cut(string(m.listing()), "\n")
			if !strings.HasSuffix(head, ",below_noise,fixed") || !strings.Contains(string(m.listing()), ",yes\n") {
				t.Errorf("the listing begins with %q", head)
			}
		}
	}
}

// TestFixedCountsAreUnfitted: over 400 releases the counts of a fixed set, of which one is of 1 row, have a mean
// within 5.5 standard errors of the table's (a false alarm in 12 cells of 4.6e-7 together), and are negative
// somewhere.
func TestFixedCountsAreUnfitted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	columns, counts := make([][]int, 3), make([]float64, 12)
	for i := range 900 {
		a, b := rng.IntN(3), rng.IntN(4)
		if a == 2 && b == 3 && i > 0 {
			a = 0
		}
		columns[0], columns[1], columns[2] = append(columns[0], a), append(columns[1], b), append(columns[2], rng.IntN(2))
		counts[4*a+b]++
	}
	s := slim(marginalTreeKind())().(*MarginalTree)
	s.Measure = []Fixed{{Columns: []string{"x0", "x1"}, Part: .3}}
	sums, negative, releases := make([]float64, 12), false, 400
	var sigma float64
	for key := range uint32(releases) {
		m := attempt{stage: s, in: table([]int{3, 4, 2}, columns...), multiplier: 8, keys: key}.model(t)
		at := slices.IndexFunc(m.Measured, func(x measured) bool { return x.Fixed })
		x := m.Measured[at]
		sigma = x.Sigma
		for code, y := range x.Y { // codes of a column are in the order of its cells unless noise hides some
			if len(x.Y) == 12 {
				sums[code], negative = sums[code]+y-counts[code], negative || y < 0
			}
		}
	}
	for code, sum := range sums {
		if math.Abs(sum) > 5.5*sigma*math.Sqrt(float64(releases)) {
			t.Errorf("cell %d is off by %.3g on average, of a noise of %.3g", code, sum/float64(releases), sigma)
		}
	}
	if !negative {
		t.Error("no count is negative: they are fitted, or the test is blind")
	}
}

// TestNeighboursOfFixedSets replays neighbours: what fixed sets release moves by no more than is paid for, which is
// reached.
func TestNeighboursOfFixedSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 10))
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		most := 0.0
		for i := range 30 {
			tree, auto := slim(marginalTreeKind())().(*MarginalTree), slim(autoKind())().(*Auto)
			tree.Measure = []Fixed{{Columns: []string{"x0", "x2"}, Part: .3}, {Columns: []string{"x0", "x1", "x2"}, Part: .3}}
			auto.Sets, auto.Rows = tree.Sets, 60
			faults, nearest := replayed(t, []pipeline.Stage{tree, auto}[i%2], rng, a, 0.2)
			if faults != "" {
				t.Fatalf("%s: %s", a, faults)
			}
			most = max(most, nearest)
		}
		if math.Abs(most-1) > 1e-9 {
			t.Errorf("%s: %.4f of what is paid for is reached, must be all", a, most)
		}
	}
}

// TestFixedSetsArePlanned: the plan says noise and cells, and refuses what it can know to be wrong.
func TestFixedSetsArePlanned(t *testing.T) {
	d := decided(t, measuring(), ward(400).Header, 2)
	// mu is 1, so that a part of .2 has noise sqrt(2/.2) = 3.162; four regions with missing and three of smoker with
	// one spare.
	if got := d.decidedOf("measure[0]"); got != "noise of 3.162 rows a cell" {
		t.Errorf("measure[0] is %q", got)
	}
	for want, change := range map[string]func(s *MarginalTree){
		"measure[0].columns": func(s *MarginalTree) { s.Measure[0].Columns = []string{"smoker", "nobody"} },
		"measure[1].columns": func(s *MarginalTree) { s.Measure[1].Columns = []string{"region", "smoker"} },
		"below 1":            func(s *MarginalTree) { s.OneWay, s.Select = .5, .2 },
		"max_model_size": func(s *MarginalTree) {
			s.Measure[0].Columns = []string{"age", "income", "weight", "dose", "seen", "region"}
		},
	} {
		s := measuring()
		change(s)
		if _, err := s.Plan(pipeline.Headers{"in": ward(400).Header}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must name %s", err, want)
		}
	}
}

// TestLeastPartsEndNoRun: with the least parts that a spec may give, and noise up to what has a price, every round has
// a noise that can be drawn: a run that was charged does not end by it.
func TestLeastPartsEndNoRun(t *testing.T) {
	tree, bayes, mst := measuring(), slim(privBayesKind())().(*PrivBayes), slim(mstKind())().(*MST)
	tree.Measure[0].Part, tree.OneWay, tree.Select = 1e-6, 1e-6, 1e-6
	bayes.OneWay, bayes.Network, mst.OneWay, mst.Select = 1e-6, 1e-6, 1e-6, 1e-6
	for _, in := range []pipelinetest.Input{ward(400), private(ward(400))} {
		for _, stage := range []pipeline.Stage{tree, bayes, mst, slim(aimKind())(), slim(independentKind())()} {
			ran := 0
			for _, multiplier := range []float64{.1, 1, 30, 1e3, 3e4, 5e5} {
				if !refusedAt(t, stage, in, multiplier) {
					attempt{stage: stage, in: in, multiplier: multiplier}.model(t)
					ran++
				}
			}
			if ran == 0 {
				t.Errorf("%T is refused whatever its noise", stage)
			}
		}
	}
}

// refusedAt tells whether what a stage spends has no price at a noise.
func refusedAt(t *testing.T, stage pipeline.Stage, in pipelinetest.Input, scale float64) bool {
	t.Helper()
	work, err := stage.Plan(pipeline.Headers{"in": in.Header})
	must(t, err)
	return slices.ContainsFunc(work.Spends, func(s pipeline.Spend) bool { return s.Mechanism(scale).Check() != nil })
}

// TestNoiseBeyondDrawingHasNoPrice: no kind has a mechanism to pay for whose rounds would end the run: the plan is
// refused.
func TestNoiseBeyondDrawingHasNoPrice(t *testing.T) {
	in := ward(400)
	for _, kind := range []pipeline.Kind{autoKind(), marginalTreeKind(), independentKind(), mstKind(), aimKind(),
		privBayesKind()} {
		for scale, want := range map[float64]bool{1: false, 1e11: true} {
			if got := refusedAt(t, kind.New(), in, scale); got != want {
				t.Errorf("%s at %g: refused is %t, must be %t", kind.Name, scale, got, want)
			}
		}
	}
}
