package train

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weir/privacy"
	"weir/train/net"
)

// labelGANCase is a run of LabelGAN on three labels, of which the last has no rows.
type labelGANCase struct {
	DPSGD
	LabelGANConfig
	critic, gen *net.Net
	rows        *Rows
	labels      []int32
}

func newLabelGANCase(t testing.TB, n int, critic *net.Net) labelGANCase {
	c := labelGANCase{DPSGD: DPSGD{MaxGradNorm: 1, NoiseMultiplier: 0.5, SamplingRate: 0.3,
		ExpectedBatchSize: 0.3 * float64(n), Steps: 20},
		LabelGANConfig: LabelGANConfig{Labels: 3, Shares: []float64{0.5, 0.5, 0}, Loss: "cross_entropy", CriticSteps: 2,
			GeneratorSteps: 1, GeneratorBatch: 20,
			Critic: Adam(1e-2, 0.5, 0.9), Generator: Adam(1e-2, 0.5, 0.9), Seed: 3},
		critic: critic, gen: build(t, 3, net.Residual("add", net.Dense(3), net.Activation("batch_norm")), net.Dense(5),
			net.Activation("tanh"), net.Dense(4)),
		rows: normalRows(n, 4, 1)}
	for i := range n {
		c.labels = append(c.labels, int32(i*7%5%2))
	}
	return c
}

// critics returns the forms that the two kinds with a GAN for each label have.
func critics(t testing.TB) map[string]*net.Net {
	return map[string]*net.Net{
		"dropout": build(t, 4, net.Dense(8), net.LeakyReLU(0.3), net.Dropout(0.3), net.Dense(6), net.Dropout(0.3),
			net.Dense(1)),
		"convolved": build(t, 4, net.Layer{Type: "conv1d", Channels: 1, Filters: 3, Kernel: 2, Stride: 1}, net.LeakyReLU(0.2),
			net.Dense(1)),
	}
}

func (c labelGANCase) copies(n *net.Net) (w []float32) {
	r := rand.New(rand.NewPCG(1, 1))
	for range c.Labels {
		w = append(w, n.Init(r)...)
	}
	return w
}

func (c labelGANCase) run(paid *privacy.Handle, h Hooks) ([]float32, error) {
	return LabelGAN(context.Background(), c.LabelGANConfig, c.critic, c.gen, c.copies(c.critic), c.copies(c.gen), c.rows,
		c.labels, paid, h)
}

func (c labelGANCase) train(t testing.TB, h Hooks) []float32 {
	t.Helper()
	w, err := c.run(paid(c.DPSGD, "label gan"), h)
	must(err)
	return w
}

func TestLabelGANContinuesBitForBit(t *testing.T) {
	for name, critic := range critics(t) {
		c := newLabelGANCase(t, 100, critic)
		c.Average, c.GeneratorSteps, c.Frozen = 0.9, 2, 5*4+4
		if name == "convolved" {
			c.Loss, c.WeightClip = "wasserstein", 0.01
		}
		start := c.copies(c.gen)
		resume(t, 7, func(h Hooks) []float32 {
			w := c.train(t, h)
			each := c.gen.Params()
			for l := range c.Labels {
				frozen := (l+1)*each - c.Frozen
				same(t, "frozen weights", w[frozen:(l+1)*each], start[frozen:(l+1)*each])
				if slices.Equal(w[l*each:frozen], start[l*each:frozen]) {
					t.Errorf("%s: the generator of label %d stays", name, l)
				}
			}
			return w
		})
	}
}

func TestLabelGANBitsDoNotDependOnCores(t *testing.T) {
	for name, critic := range critics(t) {
		c := newLabelGANCase(t, 1500, critic)
		c.Steps = 4
		var got [2][]float32
		for k := range got {
			old := runtime.GOMAXPROCS(k + 1)
			got[k] = c.train(t, Hooks{})
			runtime.GOMAXPROCS(old)
		}
		same(t, name, got[0], got[1])
	}
}

// frozen gives what one run's mechanism put out to another.
type frozen struct {
	out  [][]float32
	next int
}

func (f *frozen) Release(r privacy.Released) any {
	if f.next == len(f.out) {
		f.out = append(f.out, slices.Clone(r.Out.([]float32)))
	}
	f.next++
	return slices.Clone(f.out[f.next-1])
}

// TestNeighboursOfALabelGAN: with the noisy sums as they were, the weights are the weights of a table in which
// a row has changed its label, or a label has no rows left, bit for bit. Shares that are counted
// tell them apart.
func TestNeighboursOfALabelGAN(t *testing.T) {
	c := newLabelGANCase(t, 100, critics(t)["dropout"])
	var f frozen
	run := func(c labelGANCase) []float32 {
		f.next = 0
		p := privacy.Open(privacy.Opening{Spend: "train", Mechanism: c.DPSGD, Source: source("label gan"), Probe: &f})
		w, err := c.run(p, Hooks{})
		must(err)
		return w
	}
	want := run(c)
	if len(f.out) != c.Steps {
		t.Fatalf("%d sums are released, must be one a step", len(f.out))
	}
	other := c
	other.labels = slices.Clone(c.labels)
	other.labels[3] = 2
	same(t, "a row with another label", run(other), want)
	other.labels = make([]int32, 100)
	same(t, "one label for all rows", run(other), want)
	other.labels = slices.Clone(c.labels)
	other.labels[3] = 2
	other.Shares = []float64{0, 0, 0}
	for _, l := range other.labels {
		other.Shares[l] += 0.01
	}
	if slices.Equal(run(other), want) {
		t.Error("counted shares leave no trace: the test is blind")
	}
}

// byCount is the wrong ByLabel: it gives the rows of each label together the weight of their
// expected number, by how many there are.
type byCount struct{ *ByLabel }

func (o byCount) Worker(rows int) Worker {
	return &byCountWorker{o.ByLabel.Worker(rows).(*byLabelWorker)}
}

type byCountWorker struct{ *byLabelWorker }

func (k *byCountWorker) Accumulate(grad, scale []float32) {
	keys := slices.Clone(scale)
	for _, p := range k.labels {
		for _, i := range p.at {
			keys[i] *= float32(len(scale)) / float32(k.Count*len(p.at))
		}
	}
	k.byLabelWorker.Accumulate(grad, keys)
}

// TestARowThatChangesItsLabel moves the sum of clipped gradients by at most two clips, and comes near it; also
// where rows draw dropout masks, since a mask goes with a row's place in the batch. Both wrong variants
// move it by more: sums over a label divided by its number of rows, and masks in the order of a label's rows.
func TestARowThatChangesItsLabel(t *testing.T) {
	const clip = 0.1
	for name, critic := range critics(t) {
		c := newLabelGANCase(t, 40, critic)
		for i := range c.labels {
			c.labels[i] = min(1, int32(i)) // label 0 has one row
		}
		each := realScore{critic, c.rows, net.Logistic}
		o, err := NewByLabel(each, c.labels, c.Labels)
		must(err)
		if got := labelMoves(o, o, clip); !(got <= 2 && got > 1.4) {
			t.Errorf("%s: the sum moves by %g clips, must move by at most 2 and near it", name, got)
		}
		if name == "dropout" {
			if got := labelMoves(byCount{o}, o, clip); !(got > 2) {
				t.Errorf("divided by the number of a label's rows: %g clips, the test is blind", got)
			}
			o.Each = shared{each}
			if !(labelMoves(o, o, clip) > 2) {
				t.Error("masks in the order of a label's rows: the test is blind")
			}
		}
	}
}

// labelMoves returns by how many clips the sum moves, most, as single rows go to label 0.
func labelMoves(o Objective, key *ByLabel, clip float64) (most float64) {
	w := start(key)
	g := newTestGradient(o, "moves", clip)
	sum := func() []float64 {
		g.compute(w, all(len(key.Labels)), 0, false)
		out := make([]float64, len(g.sum))
		for i, v := range g.sum {
			out[i] = float64(v)
		}
		return out
	}
	before := sum()
	for i := range key.Labels {
		previous := key.Labels[i]
		key.Labels[i] = 2 - previous // 1 stays, where no other label is free
		if previous == 1 {
			key.Labels[i] = 0
		}
		square := 0.0
		for j, v := range sum() {
			square += (v - before[j]) * (v - before[j])
		}
		most = math.Max(most, math.Sqrt(square)/clip)
		key.Labels[i] = previous
	}
	return most
}

// shared hides that rows can have draws of their own.
type shared struct{ Objective }

func (o shared) Worker(rows int) Worker { return struct{ Worker }{o.Objective.Worker(rows)} }

// TestLabelGANLearns: without noise each label's generator comes near the means of its rows, which differ; the label
// without rows does no harm to others.
func TestLabelGANLearns(t *testing.T) {
	for _, loss := range []string{"cross_entropy", "wasserstein"} {
		c := newLabelGANCase(t, 400, build(t, 4, net.Dense(16), net.LeakyReLU(0.2), net.Dense(1)))
		want := [2][]float64{{2, -1, 0.5, 0}, {-1, 1, 0, 1}}
		r := rand.New(rand.NewPCG(8, 8))
		columns := make([][]float32, 4)
		for j := range columns {
			for _, l := range c.labels {
				columns[j] = append(columns[j], float32(want[l][j]+0.3*r.NormFloat64()))
			}
		}
		c.rows = numeric(columns...)
		c.Loss, c.NoiseMultiplier, c.MaxGradNorm, c.Steps = loss, 0, 10, 2000
		c.Shares = []float64{0.6, 0.4, 0} // i*7%5%2
		c.Critic, c.Generator, c.gen = RMSProp(5e-3), RMSProp(1e-3), build(t, 3, net.Dense(16), net.Activation("relu"),
			net.Dense(4))
		if loss == "wasserstein" {
			c.WeightClip = 0.1
		}
		w := c.train(t, Hooks{})
		for l := range want {
			checkMeans(t, w[l*c.gen.Params():][:c.gen.Params()], want[l])
		}
	}
}

func TestLabelGANRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*labelGANCase)
		want   string
	}{
		"loss":   {func(c *labelGANCase) { c.Loss = "hinge" }, "cross_entropy or wasserstein"},
		"shares": {func(c *labelGANCase) { c.Shares = []float64{1} }, "one for each"},
		"share":  {func(c *labelGANCase) { c.Shares = []float64{1, math.NaN(), 0} }, "shares[1]"},
		"steps":  {func(c *labelGANCase) { c.CriticSteps = 0 }, "critic_steps"},
		"labels": {func(c *labelGANCase) { c.labels = c.labels[1:] }, "labels: are another number"},
		"label":  {func(c *labelGANCase) { c.labels = make([]int32, 50); c.labels[3] = 3 }, "must be from 0 to 2"},
		"width":  {func(c *labelGANCase) { c.gen = build(t, 3, net.Dense(5)) }, "widths"},
		"frozen": {func(c *labelGANCase) { c.Frozen = 1000 }, "frozen"},
		"critic": {func(c *labelGANCase) { c.critic = build(t, 4, net.Activation("batch_norm"), net.Dense(1)) },
			"batch_norm"},
	} {
		k := newLabelGANCase(t, 50, critics(t)["dropout"])
		c.change(&k)
		if _, err := k.run(paid(k.DPSGD, "label gan"), Hooks{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, must say %q", name, err, c.want)
		}
	}
}
