package graphical

import (
	"testing"

	"weir/pipeline"
	"weir/train/graphical"
)

// TestWanted: weights are over the largest, by hand; a family has the weight of its best
// pair, none without parents or where no pair is wanted. None is above 1: scores would
// move further than they are charged for.
func TestWanted(t *testing.T) {
	w := wantedOf([]graphical.Set{{0, 1}, {0, 2}, {1, 2}}, []float64{1, 4, 2})
	for _, c := range []struct {
		family family
		want   float64
	}{
		{family{column: 0}, 0}, {family{1, graphical.Set{0}}, .25}, {family{0, graphical.Set{1}}, .25}, {family{2, graphical.Set{0, 1}}, 1},
		{family{1, graphical.Set{0, 2}}, .5}, {family{3, graphical.Set{0}}, 0},
	} {
		if got := w.of(c.family); got != c.want || got > 1 {
			t.Errorf("%+v weighs %g, must weigh %g", c.family, got, c.want)
		}
	}
	if w.even(3) || !wantedOf([]graphical.Set{{0, 1}}, []float64{3}).even(2) || wantedOf([]graphical.Set{{0, 1}}, []float64{3}).even(3) {
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
		if got := w.Terms.Published != nil; got != shown {
			t.Errorf("target %q: published is shown: %v", target, got)
		}
	}
}
