package train

import (
	"slices"
	"testing"
)

// TestWarmStartMoves: each critic moves the counter by its share of one total, the shards
// that nobody is in too, and steps go on from there.
func TestWarmStartMoves(t *testing.T) {
	c := gsConfig(QueryMean)
	shards := shardsOf(300, 70)
	shards[3] = nil
	var at []int
	runGS(t, c, normalRows(300, 4, 1), shards, Hooks{ProgressEvery: 1, Progress: func(p Progress) {
		c := c.GSWGANConfig.starts(CriticQuery{Query: c.Query, BatchSize: c.BatchSize, Critics: 70})
		if p.Steps != c+24 {
			t.Fatalf("%+v: the total must be %d", p, c+24)
		}
		at = append(at, p.Step)
	}})
	// A start is 110 passes, a step 16+70+3: 7700/89, rounded up, is 87.
	if len(at) != 70+24 || !slices.IsSorted(at) || at[0] != 1 || at[34] != 43 || at[69] != 87 || at[70] != 88 || at[93] != 87+24 {
		t.Errorf("the counter is at %v", at)
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
