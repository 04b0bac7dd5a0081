package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/published"
	"weir/train/net"
)

// TestMeanEventCostsTheSameEitherWay: a changed shard moves the mean by the same
// distance whether a row comes, goes or is exchanged, so the epsilon is the epsilon of
// T Gaussians of NoiseMultiplier under both adjacencies (Balle, Wang 2018, closed
// form). A factor two applied twice, or not at all, is off by a factor.
func TestMeanEventCostsTheSameEitherWay(t *testing.T) {
	c := CriticQuery{NoiseMultiplier: 40, Steps: 100, BatchSize: 32, Critics: 1500, Query: QueryMean,
		Schedule: SchedulePublic}
	want := account.GaussianEpsilon(c.NoiseMultiplier/math.Sqrt(float64(c.Steps)), 1e-5)
	pld, err := account.ByName("pld")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
		got, err := pld.Epsilon([]privacy.Event{c.Event(a)}, a, 1e-5)
		if err != nil || math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: epsilon %g, %v, must be %g", a, got, err, want)
		}
	}
}

// TestEventsOfTheOtherQueries: the events are the published package's, which are checked against
// docs/accounting.md section 3; under schedule drawn no amplification is taken: the
// epsilon is the epsilon of Steps*BatchSize Gaussians of sensitivity 2C (closed form).
func TestEventsOfTheOtherQueries(t *testing.T) {
	g := published.GSWGAN{Discriminators: 50, GeneratorSteps: 6, Batch: 32, NoiseMultiplier: 40}
	c := CriticQuery{NoiseMultiplier: 40, Steps: 6, BatchSize: 32, Critics: 50, Schedule: SchedulePublic}
	for q, want := range map[Query]privacy.Event{QueryBatch: g.PerBatch(), QuerySample: g.PerSample()} {
		c.Query = q
		if diff := cmp.Diff(want, c.Event(privacy.ReplaceOne)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", q, diff)
		}
	}
	pld, err := account.ByName("pld")
	must(err)
	c.Schedule = ScheduleDrawn
	want := account.GaussianEpsilon(40/math.Sqrt(6*32), 1e-5)
	for _, q := range []Query{QueryBatch, QuerySample} {
		c.Query = q
		for _, a := range []privacy.Adjacency{privacy.AddRemove, privacy.ReplaceOne} {
			got, err := pld.Epsilon([]privacy.Event{c.Event(a)}, a, 1e-5)
			if err != nil || math.Abs(got/want-1) > 1e-3 {
				t.Errorf("%s, %s: epsilon %g, %v, must be %g", q, a, got, err, want)
			}
		}
	}
}

// TestSharedThrowawayReachesEveryCritic replays the warm start on neighbours that differ in the first shard. With a
// throw-away generator each, that shard's critic alone changes, and the mean over critics moves by no more than query
// mean is charged for. With one for all, every critic changes and the mean moves by more: sold as query mean, the claim
// would be false.
func TestSharedThrowawayReachesEveryCritic(t *testing.T) {
	const critics = 40
	shards := shardsOf(400, critics+1)[:critics]
	for _, share := range []bool{false, true} {
		c := sharedCase()
		c.Share, c.NoiseMultiplier, c.MaxGradNorm, c.WarmSteps = share, 0, 0.7, 200
		before, critic := warmMean(t, c, neighbour(nil), shards)
		after, other := warmMean(t, c, neighbour(shards[0]), shards)
		changed, moved := 0, 0.0
		for k := range critics {
			if !slices.Equal(critic[k].w, other[k].w) {
				changed++
			}
		}
		for i := range c.BatchSize {
			for j, v := range before.Row(i) {
				moved += math.Pow(float64(v)-float64(after.Row(i)[j]), 2)
			}
		}
		charged := 2 * 0.7 * math.Sqrt(float64(c.BatchSize)) / critics
		if want := map[bool]int{false: 1, true: critics}[share]; changed != want {
			t.Errorf("share %t: %d critics changed, want %d", share, changed, want)
		}
		if held := math.Sqrt(moved) <= charged; held == share {
			t.Errorf("share %t: the mean moved by %g, charged are %g", share, math.Sqrt(moved), charged)
		}
	}
}

// neighbour returns 400 normal rows, of which those listed lie far away.
func neighbour(far []int32) *Rows {
	r := rand.New(rand.NewPCG(1, 1))
	columns := make([][]float32, 4)
	for j := range columns {
		for range 400 {
			columns[j] = append(columns[j], float32(r.NormFloat64()))
		}
		for _, i := range far {
			columns[j][i] = 30
		}
	}
	return numeric(columns...)
}

// warmMean gives all critics their warm start, and what query mean would release of them without noise.
func warmMean(t *testing.T, c gsCase, rows *Rows, shards [][]int32) (net.Matrix, []*shardCritic) {
	critic, gen := c.nets(t)
	l, err := newGSLoop(c.GSWGANConfig, critic, gen, rows, shards, c.opened(shards, "neighbours"))
	must(err)
	must(l.warmStart(context.Background(), Hooks{}))
	mean := c
	mean.Query, mean.Schedule, mean.Critics = QueryMean, SchedulePublic, len(shards)
	m, err := newRelease(mean.CriticQuery, critic, mean.opened(shards, "neighbours"))
	must(err)
	must(m.begin(0))
	fake := l.gen.sample(l.generator.w, c.BatchSize, rand.New(rand.NewPCG(6, 6)))
	out, _ := m.query(l.critics, fake, false)
	return copyOf(out), l.critics
}

// TestSharedThrowawayNeedsDrawn: queries that count one critic as changed are refused.
func TestSharedThrowawayNeedsDrawn(t *testing.T) {
	shards := shardsOf(300, 6)
	for _, q := range []Query{QueryBatch, QuerySample, QueryMean} {
		c := gsConfig(q)
		c.Share = true
		critic, gen := c.nets(t)
		_, err := newGSLoop(c.GSWGANConfig, critic, gen, normalRows(300, 4, 1), shards, c.opened(shards, "shared"))
		if err == nil || !strings.Contains(err.Error(), "must be false") {
			t.Errorf("query %s: %v, must refuse share", q, err)
		}
	}
}

// TestWarmStartMoves: each critic moves the counter by its share of one total, the shards
// that nobody is in too, and steps go on from there.
func TestWarmStartMoves(t *testing.T) {
	c := gsConfig(QueryMean)
	shards := shardsOf(300, 70)
	shards[3] = nil
	var places []int
	runGS(t, c, normalRows(300, 4, 1), shards, Hooks{ProgressEvery: 1, Progress: func(p Progress) {
		c := c.GSWGANConfig.starts(CriticQuery{Query: c.Query, BatchSize: c.BatchSize, Critics: 70})
		if p.Steps != c+24 {
			t.Fatalf("%+v: the total must be %d", p, c+24)
		}
		places = append(places, p.Step)
	}})
	// A start is 110 passes, a step 16+70+3: 7700/89, rounded up, is 87.
	if len(places) != 70+24 || !slices.IsSorted(places) || places[0] != 1 || places[34] != 43 || places[69] != 87 ||
		places[70] != 88 ||
		places[93] != 87+24 {
		t.Errorf("the counter is at %v", places)
	}
}

// TestStartsCount: the passes of constants trainPasses 4 and movePasses 3, by hand.
func TestStartsCount(t *testing.T) {
	config := GSWGANConfig{WarmSteps: 20, CriticSteps: 2, Scheduled: 2}
	for name, c := range map[string]struct {
		q    CriticQuery
		want int
	}{
		// A start is 4*20 + 3*10 = 110 passes; a step 4*2*2 + asked + 3.
		"mean":          {CriticQuery{Query: QueryMean, Critics: 6, BatchSize: 8}, 27},                            // 660/25
		"batch":         {CriticQuery{Query: QueryBatch, Critics: 6, BatchSize: 8}, 33},                           // 660/20
		"batch, drawn":  {CriticQuery{Query: QueryBatch, Schedule: ScheduleDrawn, Critics: 6, BatchSize: 8}, 55},  // 660/12
		"sample, drawn": {CriticQuery{Query: QuerySample, Schedule: ScheduleDrawn, Critics: 6, BatchSize: 8}, 13}, // 660/52
	} {
		if got := config.starts(c.q); got != c.want {
			t.Errorf("%s: %d, must be %d", name, got, c.want)
		}
	}
	if got := (GSWGANConfig{CriticSteps: 1, Scheduled: 1}).starts(CriticQuery{Query: QueryMean, Critics: 6}); got != 0 {
		t.Errorf("without a warm start: %d", got)
	}
}

// positions returns a critic that is linear in the sum of two positions, over rows of the given pairs.
func positions(t *testing.T, rows ...[2]float32) realScore {
	r := NewRows(len(rows))
	for j := range 2 {
		column := make([]float32, len(rows))
		for i := range column {
			column[i] = rows[i][j]
		}
		must(r.Numeric(column))
	}
	return realScore{build(t, 2, net.Layer{Type: "conv1d", Channels: 1, Filters: 1, Kernel: 1, Stride: 1}, net.Dense(1)),
		r, net.Wasserstein}
}

// TestPositionsThatCancel: whatever two positions of a row leave of each other, the row moves the
// sum of a batch by no more than the clip, and the lattice pays for the rounding. With the norms of Squares and sums
// over the batch, a row of two positions of 1e8 moved it by 2.3 clips.
func TestPositionsThatCancel(t *testing.T) {
	const clip = 1.0
	// the second layer takes one position from the other, and its own gradient is short
	weights := []float32{0, 0.1, 1, -1, 0.2}
	others := [][2]float32{{1, 2}, {-3, 1}, {2, 2}, {0.5, 0}, {3, -1}}
	for name, row := range map[string][2]float32{
		"cancels":         {1e8, 1e8},
		"nearly cancels":  {1e8, 1e8 + 24},
		"does not cancel": {1e8, -1e8},
		"ordinary":        {1, 3},
		"nothing":         {0, 0},
	} {
		o := positions(t, append(others, row)...)
		g := newTestGradient(o, "positions", clip)
		g.compute(weights, all(5), 1, false)
		excluded := append([]float32(nil), g.sum...)
		g.compute(weights, all(6), 1, false)
		moved := make([]float32, len(excluded))
		for i := range moved {
			moved[i] = g.sum[i] - excluded[i]
		}
		if n := norm(moved); !(n <= clip*(1+1e-6)) {
			t.Errorf("%s: the row moves the sum by %g clips, must move it by at most 1", name, n/clip)
		}
	}
}

// TestWrittenGradients: what a written row adds is its gradient, clipped: the sum over positions in
// closed form.
func TestWrittenGradients(t *testing.T) {
	o := positions(t, [2]float32{2, 5})
	w := []float32{0.7, 0.1, 0.5, -1, 0.2}
	h := [2]float64{0.7*2 + 0.1, 0.7*5 + 0.1}
	want := []float64{0.5*2 - 1*5, 0.5 - 1, h[0], h[1], 1} // of kernel, its bias, the second layer, its bias
	total := 0.0
	for i := range want {
		want[i] = -want[i] // the loss of a real row is minus its score
		total += want[i] * want[i]
	}
	g := newTestGradient(o, "written", math.Sqrt(total)/4)
	g.compute(w, all(1), 1, false)
	for i, v := range g.sum {
		if math.Abs(float64(v)-want[i]/4) > 1e-5*math.Sqrt(total) {
			t.Errorf("weight %d: %g, must be %g", i, v, want[i]/4)
		}
	}
}
