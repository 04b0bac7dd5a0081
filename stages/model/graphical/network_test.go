package graphical

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/pipeline"
	"weir/train/graphical"
)

// TestMaximal: the sets of parents against all subsets of small domains.
func TestMaximal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		sizes, set := make([]int, 6), graphical.Set(nil)
		for c := range sizes {
			if sizes[c] = 1 + rng.IntN(6); rng.IntN(3) > 0 {
				set = append(set, c)
			}
		}
		cells, most := 0.5+60*rng.Float64(), rng.IntN(4)
		var want []string
		for mask := range 1 << len(set) {
			var s graphical.Set
			for i, c := range set {
				if mask>>i&1 == 1 {
					s = append(s, c)
				}
			}
			fits := func(s graphical.Set) bool {
				return len(s) == 0 || len(s) <= most && float64(cellsIn(sizes, s)) <= cells*(1+1e-12)
			}
			larger := slices.ContainsFunc(set, func(c int) bool {
				return !slices.Contains(s, c) &&
					fits(append(slices.Clone(s), c))
			})
			if fits(s) && !larger {
				want = append(want, fmt.Sprint(s))
			}
		}
		var got []string
		for _, s := range maximal(sizes, set, cells, most) {
			got = append(got, fmt.Sprint(s))
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Fatalf("sizes %v, of %v, %g cells, %d parents: %v, must be %v", sizes, set, cells, most, got, want)
		}
	}
}

// TestFamilies: candidates keep to the cells of a table and to mostFamilies, each column
// that is left has at least one, and what is chosen to the junction tree.
func TestFamilies(t *testing.T) {
	sizes := make([]int, 40)
	for c := range sizes {
		sizes[c] = 2 + c%3
	}
	limits := graphical.Limits{Clique: 400, Total: 4000}
	chain := []family{{column: 3}}
	rng := rand.New(rand.NewPCG(1, 1))
	for len(chain) < len(sizes) {
		list := families(sizes, chain, 100)
		left := map[int]bool{}
		for _, f := range list {
			if left[f.column] = true; cellsIn(sizes, f.set()) > 100 {
				t.Fatalf("%v has %d cells", f, cellsIn(sizes, f.set()))
			}
		}
		if len(left) != len(sizes)-len(chain) || len(list) > mostFamilies {
			t.Fatalf("%d candidates for %d columns, must be for %d", len(list), len(left), len(sizes)-len(chain))
		}
		chain = append(chain, list[rng.IntN(len(list))].limited(sizes, unruled(sizes, chain, limits).base(), limits))
	}
	var factors []graphical.Factor
	for _, f := range chain {
		factors = append(factors, graphical.Factor{Vars: f.set(), Log: make([]float64, cellsIn(sizes, f.set()))})
	}
	if _, err := unruled(sizes, chain, limits).host(factors); err != nil {
		t.Errorf("a network of candidates is not held: %v", err)
	}
}

// unruled returns a network of ten rows over columns without rules.
func unruled(sizes []int, chain []family, limits graphical.Limits) *network {
	return &network{front: &front{rows: 10}, s: &PrivBayes{Size: Size{float64(limits.Total) * bytesPerCell / megabyte}},
		sizes: sizes, families: chain}
}

// TestHostIsTheNetwork: the model in a junction tree has the joint probabilities of the
// network, cell by cell, and the conditionals of its counts; parents without rows have
// the column's shares.
func TestHostIsTheNetwork(t *testing.T) {
	sizes := []int{2, 3, 2}
	chain := []family{{column: 1}, {2, graphical.Set{1}}, {0, graphical.Set{1, 2}}}
	y := [][]float64{{6, 3, 1}, {4, 2, 3, 0, -5, -1}, {1, 3, 2, 0, 5, 5, 2, 2, -9, 0, -3, 1}}
	shares := [][]float64{{.25, .75}, {.5, .3, .2}, {.4, .6}}
	var factors []graphical.Factor
	for i, f := range chain {
		factors = append(factors, conditionals(f, sizes, y[i], shares[f.column]))
	}
	m, err := unruled(sizes, chain, Size{defaultSize}.limits()).host(factors)
	must(t, err)
	joint, err := m.Marginal(graphical.Set{0, 1, 2})
	must(t, err)
	// P(x1) P(x2|x1) P(x0|x1,x2), of counts below 0 as 0; row (x1=2) of y[1] is empty.
	one, two := []float64{.6, .3, .1}, [][]float64{{4. / 6, 2. / 6}, {1, 0}, {.4, .6}}
	zero := [][][]float64{{{1. / 3, 2. / 3}, {3. / 5, 2. / 5}}, {{1, 0}, {.25, .75}}, {{1, 0}, {5. / 6, 1. / 6}}}
	for a := range 2 {
		for b := range 3 {
			for c := range 2 {
				want := 10 * one[b] * two[b][c] * zero[b][c][a]
				if got := joint[(a*3+b)*2+c]; math.Abs(got-want) > 1e-9 {
					t.Errorf("(%d, %d, %d) has %.9g rows, must have %.9g", a, b, c, got, want)
				}
			}
		}
	}
}

// TestWholeShares sum to the whole, whatever the counts.
func TestWholeShares(t *testing.T) {
	for _, y := range [][]float64{{3, 5, -2}, {-1, -4}, {0}, {1e-300, 1, 1}, {7, 7, 7}} {
		sum, parts := int64(0), wholeShares(y)
		for i, p := range parts {
			if sum += p; p < 0 || y[i] <= 0 && slices.Max(y) > 0 && p != 0 {
				t.Errorf("%v: shares %v", y, parts)
			}
		}
		if sum != 1<<shareBits {
			t.Errorf("%v: shares sum to %d, must to %d", y, sum, int64(1)<<shareBits)
		}
	}
}

// TestScoresMoveAsCharged replays neighbours, r rows added or replaced: a score of a
// family moves by no more than is charged for one row, r times, and comes near it.
func TestScoresMoveAsCharged(t *testing.T) {
	for _, replace := range []bool{true, false} {
		for _, r := range []int{1, 3} {
			released, published := worstMoves(replace, r)
			if released > 1+1e-9 || published > 1+1e-9 || released < 0.95 || published < 0.7 {
				t.Errorf("replace %v, %d rows: scores move by %.4f and %.4f of their bounds", replace, r, released, published)
			}
		}
	}
}

func worstMoves(replace bool, r int) (released, published float64) {
	rng := rand.New(rand.NewPCG(8, uint64(r)))
	for range 30_000 {
		a := axis{1 + rng.IntN(2), 1 + rng.IntN(4), 1 + rng.IntN(3)}
		one := make([]int64, a.before*a.size*a.after)
		start, end, few := rng.IntN(len(one)), rng.IntN(len(one)), 1+rng.IntN(len(one))
		n := r + rng.IntN(60)
		one[start] += int64(r)
		for range n - r {
			one[rng.IntN(few)]++
		}
		other := slices.Clone(one)
		if other[end] += int64(r); replace {
			other[start] -= int64(r)
		}
		p, q, shares := PrivBayes{Score: "released"}, PrivBayes{Score: "published"}, wholeShares(random(rng, a.size))
		first, second := p.moves(float64(n)).AddRemove, q.moves(float64(n)).AddRemove
		if replace {
			first, second = p.moves(float64(n)).ReplaceOne, q.moves(float64(n)).ReplaceOne
		}
		released = max(released, math.Abs(dependence(a, one, shares)-dependence(a, other, shares))/(float64(r)*first))
		published = max(published, math.Abs(dependencePublished(a, one)-dependencePublished(a, other))/(float64(r)*second))
	}
	return released, published
}

func random(rng *rand.Rand, n int) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = math.Exp(6 * rng.NormFloat64())
	}
	return y
}

// TestWanted: weights are over the largest, by hand; a family has the weight of its best
// pair, none without parents or where no pair is wanted. None is above 1: scores would
// move further than they are charged for.
func TestWanted(t *testing.T) {
	w := wantedOf([]graphical.Set{{0, 1}, {0, 2}, {1, 2}}, []float64{1, 4, 2})
	for _, c := range []struct {
		family family
		want   float64
	}{
		{family{column: 0}, 0}, {family{1, graphical.Set{0}}, .25}, {family{0, graphical.Set{1}}, .25},
		{family{2, graphical.Set{0, 1}}, 1},
		{family{1, graphical.Set{0, 2}}, .5}, {family{3, graphical.Set{0}}, 0},
	} {
		if got := w.weightOf(c.family); got != c.want || got > 1 {
			t.Errorf("%+v weighs %g, must weigh %g", c.family, got, c.want)
		}
	}
	if w.even(3) || !wantedOf([]graphical.Set{{0, 1}}, []float64{3}).even(2) || wantedOf([]graphical.Set{{0, 1}},
		[]float64{3}).even(3) {
		t.Error("which pairs matter alike is wrong")
	}
}

// TestPrivBayesWantsAPair: among columns that all depend on each other alike, the network
// of a workload of one pair has that pair, without noise to speak of (the key is fixed;
// without weights it chooses others).
func TestPrivBayesWantsAPair(t *testing.T) {
	values := make([]int, 400)
	for i := range values {
		values[i] = i % 2
	}
	in := table([]int{2, 2, 2, 2, 2}, values, values, values, values, values)
	s := privBayesKind().New().(*PrivBayes)
	s.Workload, s.Usefulness = []Wanted{{Columns: []string{"x1", "x4"}}}, 60
	m := attempt{stage: s, in: in, multiplier: 0.02}.model(t)
	for _, x := range m.Measured {
		if len(x.Columns) == 2 && x.Columns[0] == 1 && x.Columns[1] == 4 {
			return
		}
	}
	t.Errorf("no family has x1 and x4: %v", measuredSets(m))
}

func measuredSets(m *released) (list [][]int) {
	for _, x := range m.Measured {
		if len(x.Columns) > 1 {
			list = append(list, x.Columns)
		}
	}
	return list
}

// TestPublishedPrivBayesHasNoWeights: the paper's number stands beside no other score.
func TestPublishedPrivBayesHasNoWeights(t *testing.T) {
	s := privBayesKind().New().(*PrivBayes)
	s.Score = "published"
	for target, shown := range map[string]bool{"": true, pipeline.NoTarget: true, "x1": false} {
		s.Target = target
		in := table([]int{2, 2, 2}, []int{0, 1}, []int{0, 1}, []int{1, 0})
		w, err := s.Plan(pipeline.Headers{"in": in.Header})
		must(t, err)
		if got := w.Pricing.Published != nil; got != shown {
			t.Errorf("target %q: published is shown: %v", target, got)
		}
	}
}
