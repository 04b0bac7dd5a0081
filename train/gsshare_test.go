package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/train/net"
)

// TestSharedThrowawayReachesEveryCritic replays the warm start on neighbours that differ in the first shard. With a
// throw-away generator each, that shard's critic alone changes, and the mean over critics moves by no more than query mean
// is charged for. With one for all, every critic changes and the mean moves by more: sold as query mean, the claim would
// be false.
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

// neighbour is 400 normal rows, of which those listed lie far away.
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
