package train

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"weir/train/net"
)

// scored are rows of a score and a content each, for a table of few different ones.
type scored struct {
	score   float64
	content int32
}

// ranked returns a Worst of rows of a table, in which equal rows alone tie.
func ranked(rows int, table []scored) *Worst {
	var scores []float64
	for _, r := range table {
		scores = append(scores, r.score)
	}
	return NewWorst(rows, scores, func(i, j int32) int { return cmp.Compare(table[i].content, table[j].content) }, nil)
}

// left returns what a rule keeps of a batch, as contents in order.
func left(table []scored, batch []int32, rule func(table []scored, batch []int32) []int32) (retained []scored) {
	for _, i := range rule(table, slices.Clone(batch)) {
		retained = append(retained, table[i])
	}
	slices.SortFunc(retained, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.content, b.content))
	})
	return retained
}

// brought returns how many rows of long are not in short, and missing how many rows of short are not in
// long; both are sorted.
func brought(short, long []scored) (brought, missing int) {
	rest := slices.Clone(long)
	for _, r := range short {
		if i := slices.Index(rest, r); i >= 0 {
			rest = slices.Delete(rest, i, i+1)
		} else {
			missing++
		}
	}
	return len(rest), missing
}

// most returns the largest change of what a rule keeps, over all batches of all tables of up to
// five of six rows, three of which have equal scores, and over all rows x that a batch has besides, at
// any place of the table, in that order or the other.
func most(rule func(table []scored, batch []int32) []int32) (moved, result int) {
	kinds := []scored{{1, 1}, {2, 1}, {2, 2}, {2, 3}, {3, 1}, {9, 1}}
	tried := 0
	var try func(table []scored)
	try = func(table []scored) {
		for coins := range 1 << len(table) {
			var batch []int32
			for i := range table {
				if coins>>i&1 == 1 {
					batch = append(batch, int32(i))
				}
			}
			short := left(table, batch, rule)
			for _, x := range kinds {
				tried++
				pos := tried % (len(table) + 1)
				long := slices.Insert(slices.Clone(table), pos, x)
				including := []int32{int32(pos)}
				for _, i := range batch {
					including = append(including, i+int32(b2i(int(i) >= pos)))
				}
				slices.Sort(including)
				if tried%2 == 0 {
					slices.Reverse(long)
					for k := range including {
						including[k] = int32(len(long)-1) - including[k]
					}
					slices.Reverse(including)
				}
				b, g := brought(short, left(long, including, rule))
				moved, result = max(moved, b), max(result, g)
			}
		}
		if len(table) < 5 {
			first := 0
			if len(table) > 0 {
				first = slices.Index(kinds, table[len(table)-1])
			}
			for _, r := range kinds[first:] { // tables as multisets: places are tried above
				try(append(slices.Clone(table), r))
			}
		}
	}
	try(nil)
	return moved, result
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOneRowMovesOne: the proof in the comment of Worst, by trying everything small.
func TestOneRowMovesOne(t *testing.T) {
	for rows := 1; rows <= 3; rows++ {
		came, moved := most(func(table []scored, batch []int32) []int32 { return ranked(rows, table).survivors(batch) })
		if came != 1 || moved != 0 {
			t.Errorf("without the worst %d of a batch, one row more brings %d and takes %d, must bring 1 and take 0", rows, came,
				moved)
		}
	}
}

// TestWrongRuleMovesMany: the same search rejects three rules that look alike. Above the mean of
// the batch one row takes others with it or lets them in; a share of the batch that is rounded down,
// too; and ranks that tie by place alone, in a table that may stand in another order, exchange rows.
func TestWrongRuleMovesMany(t *testing.T) {
	aboveMean := func(table []scored, batch []int32) (retained []int32) {
		mean := 0.0
		for _, i := range batch {
			mean += table[i].score / float64(len(batch))
		}
		for _, i := range batch {
			if table[i].score <= mean {
				retained = append(retained, i)
			}
		}
		return retained
	}
	share := func(table []scored, batch []int32) []int32 {
		if len(batch) < 3 {
			return batch
		}
		return ranked(len(batch)/3, table).survivors(batch)
	}
	byPlace := func(table []scored, batch []int32) []int32 {
		w := NewWorst(1, make([]float64, len(table)), func(i, j int32) int {
			return cmp.Compare(table[i].score,
				table[j].score)
		}, nil)
		return w.survivors(batch)
	}
	for name, rule := range map[string]func([]scored, []int32) []int32{"above the mean": aboveMean, "a third": share,
		"ties by place": byPlace} {
		if came, went := most(rule); came <= 1 && went == 0 {
			t.Errorf("%s: one row more brings %d and takes %d, and that is not found", name, came, went)
		}
	}
}

// byFirst scores generated rows by their first number.
func byFirst(x net.Matrix, _ int) []float64 {
	scores := make([]float64, x.Rows)
	for i := range scores {
		scores[i] = float64(x.Row(i)[0])
	}
	return scores
}

// planted returns rows of which the last is an anomaly, 20 standard deviations and more away, in
// all columns; the worst three of each batch are left out.
func planted(n int, away float32) (*Rows, *Worst) {
	r := rand.New(rand.NewPCG(1, 1))
	columns, scores := make([][]float32, 4), make([]float64, n)
	for j := range columns {
		for i := range n {
			v := float32(r.NormFloat64())
			if i == n-1 {
				v = away
			}
			columns[j] = append(columns[j], v)
			scores[i] += math.Abs(float64(v))
		}
	}
	return numeric(columns...), NewWorst(3, scores, cmp.Compare[int32], byFirst)
}

// TestPlantedAnomalyEntersNoGradient: whether the planted row is 20 or 1000 standard
// deviations away makes not one bit of difference to what any loop ends in; without removal it does.
func TestPlantedAnomalyEntersNoGradient(t *testing.T) {
	const n = 300
	shards := shardsOf(n, 12)
	loops := map[string]func(rows *Rows, w *Worst) []float32{
		"fit": func(rows *Rows, w *Worst) []float32 {
			o, c := realScore{build(t, 4, net.Dense(1)), rows, net.Wasserstein}, fitConfig()
			c.Worst = w
			got, err := c.run(o, start(o), n, "planted", Hooks{})
			must(err)
			return got
		},
		"wgan": func(rows *Rows, w *Worst) []float32 {
			c := wganConfig()
			c.Worst = w
			_, gen := runWGAN(t, c, rows, Hooks{})
			return gen
		},
		"wgan, pairs": func(rows *Rows, w *Worst) []float32 {
			c := wganConfig()
			c.Worst, c.Paired, c.Joined = w, true, 2
			_, gen := runWGAN(t, c, rows, Hooks{})
			return gen
		},
		"wgan, shuffle": func(rows *Rows, w *Worst) []float32 {
			c := wganConfig()
			c.Worst, c.Shuffle = w, n
			_, gen := runWGAN(t, c, rows, Hooks{})
			return gen
		},
		"label gan": func(rows *Rows, w *Worst) []float32 {
			c := newLabelGANCase(t, n, critics(t)["dropout"])
			c.rows, c.Worst = rows, w
			return c.train(t, Hooks{})
		},
		"pate_gan": func(rows *Rows, w *Worst) []float32 {
			c := pateCases()["ours"]
			c.Worst = w
			return runPATE(t, c, rows, shards, Hooks{})
		},
		"pate_gan, the paper's": func(rows *Rows, w *Worst) []float32 {
			c := pateCases()["the paper's"]
			c.Worst = w
			return runPATE(t, c, rows, shards, Hooks{})
		},
	}
	for name, run := range loops {
		near, w := planted(n, 20)
		far, v := planted(n, 1000)
		same(t, name, run(near, w), run(far, v))
		if slices.Equal(run(near, nil), run(far, nil)) {
			t.Errorf("%s: the planted row makes no difference even where it stays", name)
		}
	}
}

// TestPlantedAnomalyInItsShard: a batch of gs_wgan is drawn with replacement, so that a row may
// be in it several times, and then counts so often. It never is in more than 5 places of 8 here.
func TestPlantedAnomalyInItsShard(t *testing.T) {
	const n = 300
	run := func(rows *Rows, w *Worst) []float32 {
		c := gsConfig(QueryMean)
		if c.Worst = w; w != nil {
			w.Rows = 5
		}
		return runGS(t, c, rows, shardsOf(n, 12), Hooks{})
	}
	near, w := planted(n, 20)
	far, v := planted(n, 1000)
	same(t, "gs_wgan", run(near, w), run(far, v))
	if slices.Equal(run(near, nil), run(far, nil)) {
		t.Error("the planted row makes no difference even where it stays")
	}
}

// TestWorstRowIsAsIfAbsent: where all rows are in every batch and there is no noise, leaving out
// the worst is training without it, bit for bit.
func TestWorstRowIsAsIfAbsent(t *testing.T) {
	all, w := planted(101, 20)
	w.Rows = 1
	values := make([][]float32, 4)
	m := net.NewMatrix(1, 4)
	for i := range int32(100) {
		all.Gather(m, []int32{i})
		for j, v := range m.Row(0) {
			values[j] = append(values[j], v)
		}
	}
	run := func(rows *Rows, n int, w *Worst) []float32 {
		o := realScore{build(t, 4, net.Dense(1)), rows, net.Wasserstein}
		c := fitCase{DPSGD{MaxGradNorm: 1, SamplingRate: 1, ExpectedBatchSize: float64(n), Steps: 5},
			FitConfig{Optimiser: SGD(0.1, 0), Worst: w}}
		got, err := c.run(o, start(o), n, "absent", Hooks{})
		must(err)
		return got
	}
	same(t, "weights", run(all, 101, w), run(numeric(values...), 100, nil))
}

// TestGeneratedRowsWithoutGradients: the gradient at the rows of the highest scores is zero,
// at the others what it was; the sum over the rows of a critic that clips is the sum over the others.
func TestGeneratedRowsWithoutGradients(t *testing.T) {
	nc, ng := wganNets(t)
	r := rand.New(rand.NewPCG(1, 1))
	wc, wg := nc.Init(r), ng.Init(r)
	dx := func(w *Worst) net.Matrix {
		g := newGenerated(nc, ng, 9, 0, net.Wasserstein)
		if w != nil {
			must(g.leaveOut(w, 0, 10))
		}
		return g.score(wc, wg, rand.New(rand.NewPCG(5, 5)), -1, 0)
	}
	w := &Worst{Rows: 4, Score: byFirst}
	x := newGenerated(nc, ng, 9, 0, net.Wasserstein).gen.sample(wg, 9, rand.New(rand.NewPCG(5, 5)))
	first := byFirst(x, noLabel)
	sorted := slices.Sorted(slices.Values(first))
	whole, part := dx(nil), dx(w)
	for i := range 9 {
		zero := norm(part.Row(i)) == 0
		if zero != (first[i] >= sorted[5]) || !zero && !slices.Equal(part.Row(i), whole.Row(i)) {
			t.Errorf("row %d, of score %g: gradient %v, without removal %v", i, first[i], part.Row(i), whole.Row(i))
		}
	}
	g := newGenerated(nc, ng, 9, 0, net.Wasserstein)
	must(g.leaveOut(w, 0, 10))
	stay := g.pool(wg, rand.New(rand.NewPCG(5, 5)))
	if stay.Rows != 5 || slices.Max(byFirst(stay, noLabel)) != sorted[4] {
		t.Errorf("a pool of %d rows, the worst %v, must be 5 and %g", stay.Rows, byFirst(stay, noLabel), sorted[4])
	}
}

// TestEqualScoresLeaveOutSoMany: however many tie, exactly so many rows go.
func TestEqualScoresLeaveOutSoMany(t *testing.T) {
	alike := func(x net.Matrix, _ int) []float64 { return make([]float64, x.Rows) }
	w := &Worst{Rows: 3, Score: alike, Rank: []int32{0, 1, 2, 3}}
	if out := w.dropped(net.NewMatrix(8, 2), noLabel); !slices.Equal(out, []int{0, 1, 2}) {
		t.Errorf("of 8 equal rows %v are left out", out)
	}
	if got := w.survivors([]int32{3, 3, 3, 3, 1}); !slices.Equal(got, []int32{3, 1}) {
		t.Errorf("of a row drawn four times and another, %v are kept", got)
	}
}

// TestWorstThatCannotBe: an order that is none, and batches that nothing would be left of.
func TestWorstThatCannotBe(t *testing.T) {
	rank := []int32{2, 0, 1}
	for name, c := range map[string]struct {
		w     *Worst
		batch float64
		made  int
		fine  bool
	}{
		"none":              {nil, 1, 1, true},
		"fits":              {&Worst{Rows: 2, Rank: rank, Score: byFirst}, 3, 3, true},
		"nothing generated": {&Worst{Rows: 2, Rank: rank}, 3, 0, true},
		"no scores":         {&Worst{Rows: 2, Rank: rank}, 3, 3, false},
		"whole batch":       {&Worst{Rows: 3, Rank: rank, Score: byFirst}, 3, 4, false},
		"whole generated":   {&Worst{Rows: 3, Rank: rank, Score: byFirst}, 4, 3, false},
		"no row":            {&Worst{Rank: rank, Score: byFirst}, 3, 3, false},
		"a rank twice":      {&Worst{Rows: 1, Rank: []int32{0, 1, 1}, Score: byFirst}, 3, 3, false},
		"a rank too high":   {&Worst{Rows: 1, Rank: []int32{0, 1, 3}, Score: byFirst}, 3, 3, false},
		"few ranks":         {&Worst{Rows: 1, Rank: []int32{0, 1}, Score: byFirst}, 3, 3, false},
	} {
		if err := c.w.check(3, c.batch, c.made); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
