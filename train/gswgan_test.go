package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weir/privacy"
	"weir/train/net"
)

// gsCase is a run of GSWGAN: what is paid for, what is done with it, and whether critics normalise their batch.
type gsCase struct {
	CriticQuery
	GSWGANConfig
	normed bool
}

func (c gsCase) nets(t testing.TB) (critic, gen *net.Net) {
	critic, gen = wganNets(t)
	if c.normed {
		critic = build(t, 4, net.Dense(16), net.Activation("batch_norm"), net.LeakyReLU(0.2), net.Dense(1))
	}
	return critic, gen
}

func gsConfig(q Query) gsCase {
	return gsCase{CriticQuery: CriticQuery{MaxGradNorm: 1, NoiseMultiplier: 0.5, Steps: 24, BatchSize: 8, Columns: 4,
		Query: q, Schedule: SchedulePublic}, GSWGANConfig: GSWGANConfig{WarmSteps: 20, CriticSteps: 2, Scheduled: 2,
		Penalty: 10, Critic: Adam(1e-3, 0, 0.9), Generator: Adam(1e-3, 0, 0.9), Seed: 4}}
}

// opened returns the paid query of as many critics as there are shards.
func (c gsCase) opened(shards [][]int32, name string) *privacy.Handle {
	c.Critics = len(shards)
	return paid(c.CriticQuery, name)
}

// shardsOf deals n rows to k shards; the last stays empty.
func shardsOf(n, k int) [][]int32 {
	out := make([][]int32, k)
	for i := range n {
		out[i%(k-1)] = append(out[i%(k-1)], int32(i))
	}
	return out
}

func runGS(t testing.TB, c gsCase, rows *Rows, shards [][]int32, h Hooks) []float32 {
	t.Helper()
	nc, ng := c.nets(t)
	w, err := GSWGAN(context.Background(), c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "gs"), h)
	must(err)
	var all []float32
	for _, k := range w {
		all = append(all, k.Weights...)
	}
	return all
}

// gsVariants returns all pairs of query and schedule.
func gsVariants() []gsCase {
	var list []gsCase
	for _, q := range []Query{QueryBatch, QuerySample, QueryMean} {
		list = append(list, gsConfig(q))
	}
	for _, q := range []Query{QueryBatch, QuerySample} {
		c := gsConfig(q)
		c.Schedule = ScheduleDrawn
		list = append(list, c)
	}
	return list
}

// normedCases returns the queries that critics which normalise their batch may be asked. Shift and scale are hidden
// from such critics, so that they do not teach means.
func normedCases() (list []gsCase) {
	for _, q := range []Query{QueryBatch, QueryMean} {
		c := gsConfig(q)
		c.normed = true
		list = append(list, c)
	}
	return list
}

// sharedCase has one throw-away generator for all critics.
func sharedCase() gsCase {
	c := gsConfig(QueryBatch)
	c.Schedule, c.Share = ScheduleDrawn, true
	return c
}

func TestGSWGANContinuesBitForBit(t *testing.T) {
	rows := normalRows(300, 4, 1)
	for _, c := range append(gsVariants(), append(normedCases(), sharedCase())...) {
		c.Every = 7
		resume(t, 10, func(h Hooks) []float32 { return runGS(t, c, rows, shardsOf(300, 70), h) })
	}
}

func TestGSWGANBitsDoNotDependOnCores(t *testing.T) {
	rows := normalRows(300, 4, 1)
	for _, c := range append(gsVariants(), append(normedCases(), sharedCase())...) {
		var got [2][]float32
		for k := range got {
			old := runtime.GOMAXPROCS(k + 1)
			got[k] = runGS(t, c, rows, shardsOf(300, 70), Hooks{})
			runtime.GOMAXPROCS(old)
		}
		same(t, fmt.Sprint(c.Query, c.Schedule), got[0], got[1])
	}
}

// TestReleaseSensitivity: one critic exchanged for a hostile one (huge or NaN
// weights) moves the release, before noise, by at most what Event states.
func TestReleaseSensitivity(t *testing.T) {
	rows := normalRows(300, 4, 1)
	const critics = 10
	for _, c := range append(normedCases(), gsConfig(QueryBatch), gsConfig(QuerySample), gsConfig(QueryMean)) {
		q := c.Query
		c.NoiseMultiplier, c.MaxGradNorm = 0, 0.7
		nc, ng := c.nets(t)
		shards := shardsOf(300, critics)
		l, err := newGSLoop(c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "sensitivity"))
		must(err)
		fake := l.gen.sample(l.generator.w, c.BatchSize, rand.New(rand.NewPCG(6, 6)))
		query := func() net.Matrix { // with the same coins each time
			l.release.paid = c.opened(shards, "sensitivity")
			must(l.release.begin(0))
			if q == QueryBatch {
				for i := range l.release.asked {
					l.release.asked[i] = 3 // the changed one, for the whole batch
				}
			}
			m, _ := l.release.query(l.critics, fake, false)
			return m
		}
		before := query()
		before = copyOf(before)
		moved := false
		for _, hostile := range []float32{-1e3, 1e3, 1e30, float32(math.NaN()), float32(math.Inf(1))} {
			for j := range l.critics[3].w {
				l.critics[3].w[j] = hostile
			}
			after := query()
			var total float64
			for i := range c.BatchSize {
				d := 0.0
				for j, v := range after.Row(i) {
					d += math.Pow(float64(v)-float64(before.Row(i)[j]), 2)
				}
				if q != QueryMean && !(math.Sqrt(d) <= 2*0.7) {
					t.Errorf("%s: row %d moved by %g, at most 1.4", q, i, math.Sqrt(d))
				}
				total += d
			}
			moved = moved || total > 0
			if most := 2 * 0.7 * math.Sqrt(float64(c.BatchSize)) / critics; q == QueryMean &&
				!(math.Sqrt(total) <= most*(1+1e-6)) {
				t.Errorf("%s: the mean moved by %g, at most %g", q, math.Sqrt(total), most)
			}
		}
		if !moved {
			t.Errorf("%s: nothing moved, the test shows nothing", q)
		}
	}
}

// TestReleaseNoise: the noise has the deviation that Event's multiplier stands
// for. 60 steps of 32 numbers: the relative error of a deviation is 1/sqrt(2n) =
// 0.016; 0.09 is 5.6 of them, false alarm 2e-8.
func TestReleaseNoise(t *testing.T) {
	rows := normalRows(300, 4, 1)
	const critics = 10
	for q, want := range map[Query]float64{
		QuerySample: 3 * 2 * 0.7,                          // multiplier times 2 C
		QueryBatch:  3 * 2 * 0.7,                          // for each row: the event joins them
		QueryMean:   3 * 2 * 0.7 * math.Sqrt(8) / critics, // times 2 C sqrt(B) / K
	} {
		c := gsConfig(q)
		c.NoiseMultiplier, c.MaxGradNorm, c.Steps = 3, 0.7, 60
		nc, ng := wganNets(t)
		shards := shardsOf(300, critics)
		l, err := newGSLoop(c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "noise"))
		must(err)
		for _, k := range l.critics {
			clear(k.w) // no gradient: the release is noise alone
		}
		fake := l.gen.sample(l.generator.w, c.BatchSize, rand.New(rand.NewPCG(6, 6)))
		var square, n float64
		for step := range 60 {
			must(l.release.begin(step))
			out, _ := l.release.query(l.critics, fake, false)
			for i := range c.BatchSize {
				square += math.Pow(norm(out.Row(i)), 2)
				n += 4
			}
		}
		if got := math.Sqrt(square / n); math.Abs(got/want-1) > 0.09 {
			t.Errorf("%s: deviation %g, want %g", q, got, want)
		}
	}
}

func copyOf(m net.Matrix) net.Matrix {
	out := net.NewMatrix(m.Rows, m.Cols)
	out.CopyFrom(m)
	return out
}

// TestScheduleIsPublic: which critics a step trains does not depend on whom the
// rows asked: the critics are the critics of a run with another noise key.
func TestScheduleIsPublic(t *testing.T) {
	rows := normalRows(300, 4, 1)
	c := gsConfig(QuerySample)
	nc, ng := wganNets(t)
	shards := shardsOf(300, 11)
	l, err := newGSLoop(c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "schedule"))
	must(err)
	for step := range 7 {
		_, err := l.step(step, false)
		must(err)
	}
	for i, k := range l.critics { // 7 steps of 2 critics: 0 to 3 had two turns; the last shard is empty
		want := 2
		if i < 3 {
			want = 4
		}
		if i == 10 {
			want = 0
		}
		if k.t != want {
			t.Errorf("critic %d took %d steps, want %d", i, k.t, want)
		}
	}
}

// TestGSWGANLearns: critics of 10 shards without noise pull the generated means to
// the means of the rows.
func TestGSWGANLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	want := []float64{1, -1, 0.5, 0}
	columns := make([][]float32, 4)
	for j := range columns {
		for range 400 {
			columns[j] = append(columns[j], float32(want[j]+0.3*r.NormFloat64()))
		}
	}
	for _, c := range gsVariants() {
		c.NoiseMultiplier, c.Steps, c.Scheduled, c.BatchSize, c.WarmSteps = 0, 800, 5, 16, 100
		c.Critic, c.Generator = Adam(2e-3, 0, 0.9), Adam(2e-3, 0, 0.9)
		if c.Schedule == ScheduleDrawn { // as many critic steps as in turn
			c.CriticSteps = 10
		}
		t.Run(fmt.Sprint(c.Query, " ", c.Schedule), func(t *testing.T) {
			checkMeans(t, runGS(t, c, numeric(columns...), shardsOf(400, 11)[:10], Hooks{}), want)
		})
	}
}

// TestDrawnCriticsAreTrained: under schedule drawn a step trains whom it asks, and no
// other: one critic for query batch, a critic once for all its rows for query sample.
func TestDrawnCriticsAreTrained(t *testing.T) {
	rows := normalRows(300, 4, 1)
	for _, q := range []Query{QueryBatch, QuerySample} {
		c := gsConfig(q)
		c.Schedule = ScheduleDrawn
		nc, ng := wganNets(t)
		shards := shardsOf(300, 6)[:5]
		l, err := newGSLoop(c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "drawn"))
		must(err)
		want := make([]int, 5)
		for step := range 7 {
			_, err := l.step(step, false)
			must(err)
			output := map[int]bool{}
			for _, k := range l.release.asked {
				output[k] = true
			}
			if q == QueryBatch && len(output) != 1 {
				t.Errorf("a batch asks %d critics", len(output))
			}
			for k := range output {
				want[k] += c.CriticSteps
			}
		}
		for i, k := range l.critics {
			if k.t != want[i] {
				t.Errorf("%s: critic %d took %d steps, want %d", q, i, k.t, want[i])
			}
		}
	}
}

// TestDrawsAreUniformAndSecret: of 4000 steps each of 5 critics judges a fifth, within 6
// standard deviations (false alarm 1e-8), and another key asks others.
func TestDrawsAreUniformAndSecret(t *testing.T) {
	rows, shards := normalRows(300, 4, 1), shardsOf(300, 6)[:5]
	nc, ng := wganNets(t)
	c := gsConfig(QueryBatch)
	c.Steps = 4000
	draws := func(key string) []int {
		l, err := newGSLoop(c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, key))
		must(err)
		var who []int
		for step := range c.Steps {
			must(l.release.begin(step))
			who = append(who, l.release.asked[0])
		}
		return who
	}
	one, other, equal := draws("one key"), draws("another key"), 0
	counts := make([]float64, 5)
	for i, k := range one {
		counts[k]++
		if other[i] == k {
			equal++
		}
	}
	for k, n := range append(counts, float64(equal)) {
		if math.Abs(n-800) > 6*math.Sqrt(4000*0.2*0.8) {
			t.Errorf("%d: %g of 4000, want 800 (the last: steps that two keys agree on)", k, n)
		}
	}
}

// TestKeptGenerators: the generator kept after step 14 is the generator of a run of 14 steps; the
// last is the generator of a run that keeps no other.
func TestKeptGenerators(t *testing.T) {
	rows, shards := normalRows(300, 4, 1), shardsOf(300, 6)
	nc, ng := wganNets(t)
	c := gsConfig(QueryBatch)
	c.Schedule, c.NormalStart, c.Average = ScheduleDrawn, true, 0.9
	run := func(steps, every int) []Iterate {
		c.Steps, c.Every = steps, every
		k, err := GSWGAN(context.Background(), c.GSWGANConfig, nc, ng, rows, shards, c.opened(shards, "kept"), Hooks{})
		must(err)
		return k
	}
	several := run(24, 7)
	var places []int
	for _, k := range several {
		places = append(places, k.Step)
	}
	if !slices.Equal(places, []int{7, 14, 21, 24}) {
		t.Fatalf("kept steps %v", places)
	}
	same(t, "step 14", several[1].Weights, run(14, 0)[0].Weights)
	same(t, "the last step", several[3].Weights, run(24, 0)[0].Weights)
	if even := run(24, 12); len(even) != 2 {
		t.Errorf("of 24 steps every 12th are %d", len(even))
	}
}

func TestGSWGANRefuses(t *testing.T) {
	rows := normalRows(20, 4, 1)
	nc, ng := wganNets(t)
	curved := build(t, 4, net.Dense(3), net.Activation("tanh"), net.Dense(1))
	run := func(critic *net.Net, shards [][]int32, change func(*gsCase)) error {
		c := gsConfig(QueryMean)
		change(&c)
		_, err := GSWGAN(context.Background(), c.GSWGANConfig, critic, ng, rows, shards, c.opened(shards, "refuse"), Hooks{})
		return err
	}
	none := func(*gsCase) {}
	for want, err := range map[string]error{
		"disjoint":         run(nc, [][]int32{{0, 1}, {1}}, none),
		"outside":          run(nc, [][]int32{{0, 20}}, none),
		"at least 1":       run(nc, nil, none),
		"gradient penalty": run(curved, shardsOf(20, 3), none),
		"query":            run(nc, shardsOf(20, 3), func(c *gsCase) { c.Query = "rows" }),
		// of all: nobody is drawn
		"critic_schedule": run(nc, shardsOf(20, 3), func(c *gsCase) { c.Schedule = ScheduleDrawn }),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must name %s", err, want)
		}
	}
}

// TestSampleRefusesMixedRows: under query sample the rows that one critic judges together follow from secret
// draws, so that batch_norm, which lets each of them move the gradient at the others, is refused; the other queries
// take it.
func TestSampleRefusesMixedRows(t *testing.T) {
	rows, shards := normalRows(60, 4, 1), shardsOf(60, 4)
	for _, q := range []Query{QueryBatch, QuerySample, QueryMean} {
		c := gsConfig(q)
		c.normed = true
		mixed, ng := c.nets(t)
		_, err := GSWGAN(t.Context(), c.GSWGANConfig, mixed, ng, rows, shards, c.opened(shards, "gs"), Hooks{})
		if (err != nil) != (q == QuerySample) || err != nil && !strings.Contains(err.Error(), "batch_norm") {
			t.Errorf("query %s: %v", q, err)
		}
	}
}

// TestNormedCriticsSeeThreeBatches: rows of one batch have mean 0 and deviation 1 behind batch_norm, so that a linear
// critic scores generated and real rows alike on average, wherever the real ones lie.
func TestNormedCriticsSeeThreeBatches(t *testing.T) {
	const n = 8
	critic := build(t, 4, net.Activation("batch_norm"), net.Dense(1))
	r := rand.New(rand.NewPCG(2, 3))
	fake, loss := net.NewMatrix(n, 4), make([]float64, n)
	normal(fake, r)
	newTriples(critic, n).run(critic.Init(r), fake, func(m net.Matrix) {
		normal(m, r)
		for i := range n {
			m.Row(i)[0] += 5
		}
	}, 0, r, loss)
	sum := 0.0
	for _, v := range loss {
		sum += v
	}
	if !(math.Abs(sum) < 1e-4) { // float32: eight differences of scores of size 1
		t.Errorf("generated rows score %g more than real ones in all, must be 0", sum)
	}
}

// TestWhatNormedCriticsHide: a critic with batch_norm behind its first layer scores rows alike after a shift of each
// column and after one scale of all, up to the 1e-5 that batch_norm adds to a variance, but not after a scale of one
// column. So its gradients at the rows of a batch add up to 0 in each column: nothing holds where a generator puts a
// column. Behind the activation, whose slope depends on the shift, batch_norm hides none of these.
func TestWhatNormedCriticsHide(t *testing.T) {
	dense, norm, leaky := net.Dense(16), net.Activation("batch_norm"), net.Activation("leaky_relu")
	for place, c := range map[string]struct {
		critic []net.Layer
		hides  map[string]bool
	}{
		"before": {[]net.Layer{dense, norm, leaky, net.Dense(1)}, map[string]bool{"shift": true, "scale": true, "sum": true}},
		"after":  {[]net.Layer{dense, leaky, norm, net.Dense(1)}, map[string]bool{}},
	} {
		j := newJudged(t, c.critic)
		far := map[string]float64{
			"shift":        j.moved(func(column int, v float32) float32 { return v + float32(2*column-3) }),
			"scale":        j.moved(func(_ int, v float32) float32 { return 3*v + 1 }),
			"scale of one": j.moved(func(column int, v float32) float32 { return v * float32([]int{3, 1, 1, 1}[column]) }),
			"sum":          j.sum(),
		}
		for what, v := range far {
			if (v < 1e-3) != c.hides[what] {
				t.Errorf("batch_norm %s the activation: %s moves a score by %g", place, what, v)
			}
		}
	}
}

// judged is rows of four columns before a critic.
type judged struct {
	pass *net.Pass
	w    []float32
	x    net.Matrix
}

func newJudged(t *testing.T, layers []net.Layer) *judged {
	critic, r := build(t, 4, layers...), rand.New(rand.NewPCG(4, 5))
	j := &judged{critic.NewPass(32), critic.Init(r), net.NewMatrix(32, 4)}
	normal(j.x, r)
	return j
}

func (j *judged) scores(change func(column int, v float32) float32) []float32 {
	in := j.pass.Input(32)
	for i := range 32 {
		for k, v := range j.x.Row(i) {
			in.Row(i)[k] = change(k, v)
		}
	}
	return slices.Clone(j.pass.Forward(j.w, net.Mode{Train: true, Frozen: true}).Data)
}

func unchanged(_ int, v float32) float32 { return v }

// moved returns how far a change moves a score at most.
func (j *judged) moved(change func(int, float32) float32) (far float64) {
	plain := j.scores(unchanged)
	for i, v := range j.scores(change) {
		far = math.Max(far, math.Abs(float64(v-plain[i])))
	}
	return far
}

// sum returns the largest sum, over rows, of the gradients of a column.
func (j *judged) sum() (most float64) {
	j.scores(unchanged)
	for i := range 32 {
		j.pass.OutGrad().Row(i)[0] = float32(1 + i%3)
	}
	grad := j.pass.BackwardInput(j.w, 0)
	for k := range 4 {
		sum := 0.
		for i := range 32 {
			sum += float64(grad.Row(i)[k])
		}
		most = math.Max(most, math.Abs(sum))
	}
	return most
}
