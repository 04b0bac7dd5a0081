package graphical

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/pld"
	"weir/train/graphical"
)

// TestSpanning: whatever is chosen, the pairs join all columns that candidates can
// join, without a cycle; choosing the largest weight each time is a maximum spanning
// tree, against all trees of small tables.
func TestSpanning(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		columns := 1 + rng.IntN(5)
		var pairs []graphical.Set
		var weights []float64
		for _, s := range subsets(first(columns), min(2, columns)) {
			if len(s) == 2 && rng.IntN(4) > 0 {
				pairs, weights = append(pairs, s), append(weights, rng.Float64())
			}
		}
		greedy, err := spanning(columns, pairs, func(candidates []int) (int, error) {
			best := 0
			for i, at := range candidates {
				if weights[at] > weights[candidates[best]] {
					best = i
				}
			}
			return best, nil
		})
		must(t, err)
		if got, want := total(choice(weights, greedy)), heaviestForest(columns, pairs, weights); math.Abs(got-want) > 1e-12 ||
			len(greedy) != steps(columns, pairs) {
			t.Fatalf("%d columns, %v: the tree %v weighs %g, must weigh %g", columns, pairs, greedy, got, want)
		}
		some, err := spanning(columns, pairs, func(candidates []int) (int, error) { return rng.IntN(len(candidates)), nil })
		must(t, err)
		if !forest(columns, choice(pairs, some)) || len(some) != len(greedy) {
			t.Fatalf("%d columns, %v: %v is no spanning forest", columns, pairs, some)
		}
	}
	broken := errors.New("broken")
	if _, err := spanning(3, []graphical.Set{{0, 1}, {1, 2}}, func([]int) (int, error) { return 0, broken }); !errors.Is(
		err, broken) {
		t.Errorf("an error of a choice is %v", err)
	}
	if _, err := spanning(3, []graphical.Set{{0, 1}, {1, 2}}, func([]int) (int, error) { return 2, nil }); err == nil {
		t.Error("a place beyond the candidates is accepted")
	}
}

func forest(columns int, pairs []graphical.Set) bool {
	p := newParts(columns)
	for _, s := range pairs {
		if !p.joins(s) {
			return false
		}
		p.join(s)
	}
	return true
}

// heaviestForest tries all sets of pairs.
func heaviestForest(columns int, pairs []graphical.Set, weights []float64) (most float64) {
	for mask := range 1 << len(pairs) {
		var places []int
		for i := range pairs {
			if mask>>i&1 == 1 {
				places = append(places, i)
			}
		}
		if forest(columns, choice(pairs, places)) {
			most = max(most, total(choice(weights, places)))
		}
	}
	return most
}

// TestMSTCost: the events of mst follow docs/marginals.md section 2. They add up to
// the rho of the Gaussian of its scale, and composed by pld they cost epsilon .961 on
// 13 columns where zCDP says 1.
func TestMSTCost(t *testing.T) {
	const delta = 1e-5
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		in := thirteen(a)
		w, err := mstKind().New().(*MST).Plan(in)
		must(t, err)
		unit := 1.
		if a == privacy.ReplaceOne {
			unit = 2
		}
		rho := account.Improved.LargestRho(1, delta)
		var events []privacy.Event
		for _, s := range w.Spends {
			events = append(events, s.Mechanism(unit/math.Sqrt(2*rho)).Event(a))
		}
		eps, err := account.ZCDP{Conversion: account.Improved}.Epsilon(events, a, delta)
		if must(t, err); math.Abs(eps-1) > 1e-6 {
			t.Errorf("%s: zCDP says %.9g, must say 1", a, eps)
		}
		eps, err = pld.New().Epsilon(events, a, delta)
		if must(t, err); eps < 0.955 || eps > 0.966 {
			t.Errorf("%s: pld says %.4f, must say .961", a, eps)
		}
	}
}

// TestWorkloadOfMST: pairs inside no marginal of the workload are never chosen, and
// without pairs there is no choice to pay for.
func TestWorkloadOfMST(t *testing.T) {
	s := mstKind().New().(*MST)
	s.Workload = []Wanted{{Columns: []string{"age", "region"}}, {Columns: []string{"smoker", "seen"}}}
	m := attempt{stage: s, in: ward(400), multiplier: 0.1}.model(t)
	var pairs []graphical.Set
	for _, x := range m.Measured {
		if len(x.Columns) > 1 {
			pairs = append(pairs, x.Columns)
		}
	}
	slices.SortFunc(pairs, func(a, b graphical.Set) int { return slices.Compare(a, b) })
	if len(pairs) != 2 || !slices.Equal(pairs[0], graphical.Set{0, 4}) || !slices.Equal(pairs[1], graphical.Set{5, 6}) {
		t.Errorf("measured are %v, must be the pairs of the workload", pairs)
	}
	one := table([]int{3}, []int{0, 1, 2, 0})
	w, err := mstKind().New().Plan(headers(one))
	if must(t, err); len(w.Spends) != 1 {
		t.Errorf("one column pays %d mechanisms, must pay one", len(w.Spends))
	}
}
