package train

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"weir/privacy"
	"weir/privacy/noise"
	"weir/train/net"
)

// fitCase is a run of Fit: what is paid for, and what is done with it.
type fitCase struct {
	DPSGD
	FitConfig
}

func fitConfig() fitCase {
	return fitCase{DPSGD{MaxGradNorm: 1, NoiseMultiplier: 1, SamplingRate: 0.5, ExpectedBatchSize: 100, Steps: 20},
		FitConfig{Optimiser: Adam(0.01, 0.9, 0.999), Average: 0.9}}
}

func (c fitCase) run(o Objective, start []float32, n int, name string, h Hooks) ([]float32, error) {
	c.Joined = joins(o)
	return Fit(context.Background(), c.FitConfig, o, start, n, paid(c.DPSGD, name), h)
}

// streamOf returns what step of a run under the test's key draws from.
func streamOf(name string, step int, purpose string) *noise.Stream {
	st, err := source(name).Use(uint64(step)).Stream(purpose, 0)
	must(err)
	return st
}

// TestPlainSGD: without noise and with an infinite clip, or one that never binds,
// Fit is plain gradient descent on the sampled rows. The reference is float64
// least squares by hand.
func TestPlainSGD(t *testing.T) {
	x, y := normalRows(200, 3, 1), normalRows(200, 1, 2)
	o, err := NewSupervised(build(t, 3, net.Dense(1)), x, y, net.MSE)
	must(err)
	for _, clip := range []float64{math.Inf(1), 1e9} {
		c := fitCase{DPSGD{MaxGradNorm: clip, SamplingRate: 0.3, ExpectedBatchSize: 60, Steps: 25},
			FitConfig{Optimiser: SGD(0.05, 0.9)}}
		w := []float32{0.1, -0.2, 0.3, 0}
		got, err := c.run(o, w, 200, "plain", Hooks{})
		must(err)
		want := []float64{0.1, -0.2, 0.3, 0}
		velocity := make([]float64, 4)
		in, out := net.NewMatrix(1, 3), net.NewMatrix(1, 1)
		for step := range c.Steps {
			grad := make([]float64, 4)
			for _, row := range streamOf("plain", step, "sample").Poisson(nil, 200, 0.3) {
				x.Gather(in, []int32{row})
				y.Gather(out, []int32{row})
				v := in.Row(0)
				d := want[0]*float64(v[0]) + want[1]*float64(v[1]) + want[2]*float64(v[2]) + want[3] - float64(out.Row(0)[0])
				for j := range 3 {
					grad[j] += 2 * d * float64(v[j]) / 60
				}
				grad[3] += 2 * d / 60
			}
			for j := range want {
				velocity[j] = 0.9*velocity[j] + grad[j]
				want[j] -= 0.05 * velocity[j]
			}
		}
		for j := range want {
			if math.Abs(float64(got[j])-want[j]) > 1e-5 {
				t.Errorf("clip %g: weight %d: %g, want %g", clip, j, got[j], want[j])
			}
		}
	}
}

// TestEmptySampleStillSteps: a step whose sample is empty adds noise and counts.
func TestEmptySampleStillSteps(t *testing.T) {
	o := realScore{build(t, 2, net.Dense(1)), normalRows(1, 2, 1), net.Wasserstein}
	c := fitCase{DPSGD{MaxGradNorm: 2, NoiseMultiplier: 1.5, SamplingRate: 1e-9, ExpectedBatchSize: 1, Steps: 1},
		FitConfig{Optimiser: SGD(1, 0)}}
	got, err := c.run(o, make([]float32, 3), 1, "empty", Hooks{})
	must(err)
	want := make([]float32, 3)
	l, err := c.lattice(3)
	must(err)
	streamOf("empty", 0, "noise").LatticeGaussian(want, 3, l.Step) // 1.5 times a clip of 2
	for i := range want {
		if want[i] == 0 || got[i] != -want[i] {
			t.Errorf("weight %d: %g, want minus the noise %g", i, got[i], want[i])
		}
	}
}

// resume runs a loop to its end, collecting checkpoints, then from each of them.
func resume(t *testing.T, every int, run func(Hooks) []float32) {
	t.Helper()
	var states [][]byte
	whole := run(Hooks{CheckpointEvery: every, Checkpoint: func(s []byte) error {
		states = append(states,
			s)
		return nil
	}})
	if len(states) == 0 {
		t.Fatal("no checkpoint was written")
	}
	for _, s := range states {
		var src, first *Progress // where it says that it goes on, and its first progress behind that
		h := Hooks{Resume: s, ProgressEvery: 1, Resumed: func(p Progress) { src = &p },
			Progress: func(p Progress) {
				if first == nil {
					first = &p
				}
			}}
		same(t, "after a checkpoint", run(h), whole)
		if src == nil || first != nil && (first.Step < src.Step || first.Step > src.Step+1+src.Steps/60 ||
			first.Steps != src.Steps) {
			t.Errorf("goes on from %+v, and is at %+v then", src, first)
		}
	}
}

// TestUnusableCheckpointIsAbsent: whatever became of a checkpoint, a paid loop goes on, from
// its beginning, and ends in the same weights.
func TestUnusableCheckpointIsAbsent(t *testing.T) {
	c, o := fitConfig(), realScore{build(t, 2, net.Dense(1)), normalRows(200, 2, 1), net.Wasserstein}
	var state []byte
	keep := func(s []byte) error { state = s; return nil }
	whole, err := c.run(o, start(o), 200, "unusable", Hooks{CheckpointEvery: 7, Checkpoint: keep})
	must(err)
	bit := append([]byte(nil), state...)
	bit[len(bit)/2] ^= 1
	for name, s := range map[string][]byte{"empty": {}, "magic alone": []byte(magic), "cut": state[:len(state)-1],
		"longer": append(bit[:len(bit):len(bit)], 0), "another bit": bit} {
		lost := false
		again, err := c.run(o, start(o), 200, "unusable", Hooks{Resume: s, Unusable: func() { lost = true }})
		must(err)
		if !lost {
			t.Errorf("%s: nobody was told", name)
		}
		same(t, name, again, whole)
	}
	// of 14 steps
	stranger := privacy.Open(privacy.Opening{Spend: "unusable", Mechanism: c.DPSGD, Source: source("unusable"), Drawn: 6})
	again, err := Fit(context.Background(), c.FitConfig, o, start(o), 200, stranger, Hooks{Resume: state})
	must(err)
	same(t, "steps that nobody drew", again, whole)
	if n := stranger.Released(); n != int64(c.Steps) {
		t.Errorf("steps that nobody drew: %d uses released, must be %d", n, c.Steps)
	}
}

func TestFitContinuesBitForBit(t *testing.T) {
	rows := normalRows(200, 4, 3)
	for name, o := range objectives(t, rows) {
		for _, optimiser := range []Optimiser{Adam(0.01, 0.9, 0.999), RMSProp(0.01), SGD(0.01, 0.9)} {
			c := fitConfig()
			c.Optimiser = optimiser
			resume(t, 7, func(h Hooks) []float32 {
				w, err := c.run(o, start(o), 200, name, h)
				must(err)
				return w
			})
		}
	}
}

func TestFitBitsDoNotDependOnCores(t *testing.T) {
	rows := normalRows(600, 4, 3)
	for name, o := range objectives(t, rows) {
		var got [2][]float32
		for k := range got {
			old := runtime.GOMAXPROCS(k + 1)
			w, err := fitConfig().run(o, start(o), 600, name, Hooks{})
			runtime.GOMAXPROCS(old)
			must(err)
			got[k] = w
		}
		same(t, name, got[0], got[1])
	}
}

// TestNoiseAheadIsNoiseInTurn: a net large enough for noise drawn ahead ends in
// the same bits with one core, where it is drawn in place, and across a resume.
func TestNoiseAheadIsNoiseInTurn(t *testing.T) {
	rows := normalRows(300, 4, 3)
	o := realScore{build(t, 4, net.Dense(900), net.LeakyReLU(0.2), net.Dense(1)), rows, net.Wasserstein}
	if o.Params() < aheadWeights {
		t.Fatal("the net is too small to show anything")
	}
	var got [2][]float32
	for k := range got {
		old := runtime.GOMAXPROCS(k + 1)
		resume(t, 6, func(h Hooks) []float32 {
			w, err := fitConfig().run(o, start(o), 300, "ahead", h)
			must(err)
			got[k] = w
			return w
		})
		runtime.GOMAXPROCS(old)
	}
	same(t, "weights", got[0], got[1])
}

func TestFitRefuses(t *testing.T) {
	rows := normalRows(10, 4, 3)
	mixed, err := Autoencoder(build(t, 4, net.Residual("add", net.Dense(4), net.Layer{Type: "batch_norm"}), net.Dense(4)),
		rows, net.MSE)
	must(err)
	fine := objectives(t, rows)["critic"]
	run := func(change func(*fitCase), o Objective, h Hooks) error {
		c := fitConfig()
		change(&c)
		_, err := c.run(o, start(o), 10, "refuse", h)
		return err
	}
	none := func(*fitCase) {}
	for want, err := range map[string]error{
		"mixes the examples": run(none, mixed, Hooks{}),
		"max_grad_norm":      run(func(c *fitCase) { c.MaxGradNorm = math.Inf(1) }, fine, Hooks{}),
		"noise_multiplier":   run(func(c *fitCase) { c.NoiseMultiplier = math.NaN() }, fine, Hooks{}),
		"sampling_rate":      run(func(c *fitCase) { c.SamplingRate = 1.5 }, fine, Hooks{}),
		"learning_rate":      run(func(c *fitCase) { c.Optimiser.LearningRate = 0 }, fine, Hooks{}),
		"average":            run(func(c *fitCase) { c.Average = 1 }, fine, Hooks{}),
		"range of float32":   run(func(c *fitCase) { c.MaxGradNorm = 1e-300 }, fine, Hooks{}),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, must name %s", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, fitConfig().FitConfig, fine, start(fine), 10, paid(fitConfig().DPSGD, "cancel"),
		Hooks{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}

// TestEventIsTheConfig: the event states what the loop does (docs/design.md section 9).
func TestEventIsTheConfig(t *testing.T) {
	got := fitConfig().Event(privacy.AddRemove)
	want := privacy.Repeated{Count: 20, Event: privacy.PoissonSampled{SamplingRate: 0.5,
		Event: privacy.Gaussian{NoiseMultiplier: 1}}}
	if got != privacy.Event(want) {
		t.Errorf("event %+v, want %+v", got, want)
	}
}

// TestFitEndsWhereItDiverges: without noise and clip a number whose gradient overflows ends the training at its
// step. With a clip its row counts as zero, and nothing is told of it.
func TestFitEndsWhereItDiverges(t *testing.T) {
	far := make([]float32, 200)
	far[7] = 1e38
	x, y := numeric(far, make([]float32, 200), make([]float32, 200)), normalRows(200, 1, 2)
	o, err := NewSupervised(build(t, 3, net.Dense(1)), x, y, net.MSE)
	must(err)
	c := fitCase{DPSGD{MaxGradNorm: math.Inf(1), SamplingRate: 1, ExpectedBatchSize: 200, Steps: 5},
		FitConfig{Optimiser: SGD(0.05, 0)}}
	w, err := c.run(o, []float32{0.1, -0.2, 0.3, 0}, 200, "diverges", Hooks{})
	if err == nil || w != nil || !strings.Contains(err.Error(),
		"step 1: the sum of the gradients is not a finite number") {
		t.Errorf("%v, %v: must end at step 1", w, err)
	}
	c.MaxGradNorm = 1
	w, err = c.run(o, []float32{0.1, -0.2, 0.3, 0}, 200, "clipped", Hooks{})
	must(err)
	for _, v := range w {
		if math.IsNaN(float64(v)) {
			t.Errorf("%v: must be finite", w)
		}
	}
}

// TestFitReturnsTheRunningMean: with a decay, Fit returns the mean of its iterates by the
// rule of runningMean, which forgets the start; the iterates are the results of runs that
// end after 1, 2, ... steps.
func TestFitReturnsTheRunningMean(t *testing.T) {
	o := realScore{build(t, 2, net.Dense(1)), normalRows(200, 2, 1), net.Wasserstein}
	c := fitConfig()
	run := func(steps int, average float64) []float32 {
		c.Steps, c.Average = steps, average
		w, err := c.run(o, start(o), 200, "mean", Hooks{})
		must(err)
		return w
	}
	const steps, decay = 8, 0.4
	want := wide(start(o))
	for step := 1; step <= steps; step++ {
		move := 1 - math.Min(decay, (1+float64(step))/(10+float64(step)))
		for i, v := range run(step, 0) {
			want[i] += move * (float64(v) - want[i])
		}
	}
	for i, v := range run(steps, decay) {
		if math.Abs(float64(v)-want[i]) > 1e-6*math.Max(1, math.Abs(want[i])) {
			t.Errorf("weight %d is %g, must be %g", i, v, want[i])
		}
	}
}
