package latent

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// TestCalinskiHarabasz: of 0, 1, 10 and 11 in two pairs the means are 5 from the middle and rows 1/2 from their means:
// 100 over one degree of freedom, over 1 of two: 200. Split otherwise, 0 and 10 from 1 and 11, it is 1 over 100 of two:
// .02.
func TestCalinskiHarabasz(t *testing.T) {
	rows := [][]float64{{0}, {1}, {10}, {11}}
	for want, of := range map[float64][]int{200: {0, 0, 1, 1}, 0.02: {0, 1, 0, 1}, 0: {0, 0, 0, 0}} {
		if got := calinskiHarabasz(rows, of, 2); math.Abs(got-want) > 1e-12 {
			t.Errorf("%v has the index %g, must have %g", of, got, want)
		}
	}
	if got := calinskiHarabasz([][]float64{{1}, {1}, {2}}, []int{0, 0, 1}, 2); !math.IsInf(got, 1) {
		t.Errorf("repeated points have the index %g", got)
	}
}

// TestClusters: labels whose codes lie in three and in five heaps, ten deviations apart, have so many clusters; one
// without rows, one of equal rows and one of two rows have one; of at most four, five heaps have no more than four.
func TestClusters(t *testing.T) {
	x, r := labelledCodes{Dim: 2}, rand.New(rand.NewPCG(1, 2))
	add := func(label int32, a, b, spread float64) {
		x.Values = append(x.Values, float32(a+spread*r.NormFloat64()), float32(b+spread*r.NormFloat64()))
		x.Labels = append(x.Labels, label)
	}
	for i := range 300 {
		angle := 2 * math.Pi * float64(i%3) / 3
		add(0, math.Cos(angle), math.Sin(angle), 0.1)
		angle = 2 * math.Pi * float64(i%5) / 5
		add(1, math.Cos(angle), math.Sin(angle), 0.08)
		add(3, 0.5, 0.5, 0)
	}
	add(4, 0, 0, 1)
	add(4, 0, 0, 1)
	m := moments{Labels: 5, Components: 7, Dim: 2, Radius: 2}
	for most, want := range map[int][]int{7: {3, 5, 1, 1, 1}, 4: {3, 4, 1, 1, 1}} {
		if got, err := clusters(context.Background(), m, x, most, rand.New(rand.NewPCG(3, 4))); err != nil ||
			!slices.Equal(got, want) {
			t.Errorf("of at most %d: %v (%v), must be %v", most, got, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := clusters(ctx, m, x, 7, r); err == nil {
		t.Error("a cancelled choice goes on")
	}
}

// TestUsedComponents: a label that uses two of five components learns what it does with two alone, without noise to the
// bit; each label has as many as it uses, and what is released costs the same.
func TestUsedComponents(t *testing.T) {
	learn := func(multiplier float64, labels, components int, used []int) []codeMixture {
		c := config(labels, components, 2, 4, 2)
		c.Used = used
		all, err := fitMixtures(context.Background(), c, waves(0), rand.New(rand.NewPCG(1, 1)), filter(multiplier, "used",
			nil))
		must(t, err)
		return all
	}
	if got, want := learn(0, 1, 5, []int{2}), learn(0, 1, 2, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, must be %v", got, want)
	}
	for l, m := range learn(1, 3, 4, []int{2, 1, 4}) {
		if want := []int{2, 1, 4}[l]; len(m.Components) != want {
			t.Errorf("label %d has %d components, must have %d", l, len(m.Components), want)
		}
	}
	c := config(2, 3, 2, 4, 2)
	for _, used := range [][]int{{1}, {0, 1}, {1, 4}} {
		if c.Used = used; c.Validate() == nil {
			t.Errorf("%v of 3 components of 2 labels is accepted", used)
		}
	}
	c.Used = []int{1, 3}
	must(t, c.Validate())
}
