package pipelinetest

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/privacy"
)

// sampledSums are the noisy sums of a training: each use takes a Poisson sample of the rows
// and adds Gaussian noise to a sum of vectors of norm clip at most.
type sampledSums struct {
	Clip, Sigma, Rate float64
	Steps             int64
}

func (m sampledSums) Check() error       { return nil }
func (m sampledSums) Uses() int64        { return m.Steps }
func (m sampledSums) Deviation() float64 { return m.Sigma * m.Clip }

func (m sampledSums) Event(privacy.Adjacency) privacy.Event {
	return privacy.Repeated{Count: m.Steps, Event: privacy.PoissonSampled{SamplingRate: m.Rate,
		Event: privacy.Gaussian{NoiseMultiplier: m.Sigma}}}
}

func (m sampledSums) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	bound := m.Clip
	if a == privacy.ReplaceOne {
		bound *= 2
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: bound}
}

// descent is a kind that learns by DP-SGD, as short as it can be: weights go towards the
// mean of the rows as one-hot vectors, with a pull towards 0 in the place of a divergence.
// What is wrong with it depends on how many rows there are, or on a batch.
type descent struct {
	NoiseMultiplier float64 `yaml:"noise_multiplier" json:"noise_multiplier" doc:"Noise of each sum."`
	rate            float64
	pull            func(rows int) float64                         // weight of the pull
	learning        func(rows int) float64                         // learning rate
	divide          func(sum []float64, batch int, noised bool)    // of a sum, before and after its noise; nil: nothing
	steps           func(rows int) int                             // how many are taken
	progress        func(env *pipeline.Env, step, steps, rows int) // after each step
	end             func(rows int) error                           // of the run
}

const (
	descentSteps = 12
	descentClip  = 4. // no gradient is as long: a sum moves by less than is stated, whatever is wrong
	descentBatch = 10.
)

// rightDescent returns what is held against the wrong ones.
func rightDescent() descent {
	return descent{NoiseMultiplier: 2, rate: 0.25, pull: func(int) float64 { return 0.5 },
		learning: func(int) float64 { return 1 },
		steps:    func(int) int { return descentSteps }, progress: func(env *pipeline.Env, step, steps, _ int) {
			env.Progress(int64(step), int64(steps))
		},
		end: func(int) error { return nil }}
}

func (s *descent) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := released(in["in"])
	return pipeline.Work{
		Out:     pipeline.Headers{"model": out},
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "train", Doc: "noisy sums of samples",
			Mechanism: func(scale float64) privacy.Mechanism {
				return sampledSums{Clip: descentClip, Sigma: scale, Rate: s.rate, Steps: descentSteps}
			}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			rows, err := vectors(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			w, err := s.learn(env, rows, len(cells(in["in"])))
			if err != nil {
				return nil, err
			}
			return release(out, w)
		},
	}, nil
}

func (s *descent) learn(env *pipeline.Env, rows [][]int, width int) ([]float64, error) {
	paid, err := env.Privacy.Open("train")
	if err != nil {
		return nil, err
	}
	w, n := make([]float64, width), s.steps(len(rows))
	for t := range n {
		u, err := paid.Use(int64(t))
		if err != nil {
			return nil, err
		}
		batch := u.Stream("sample", 0).Poisson(nil, len(rows), s.rate)
		sum := make([]float64, width)
		for _, i := range batch {
			add(sum, clipped(w, rows[i], s.pull(len(rows))))
		}
		s.divided(sum, len(batch), false)
		noise := make([]float64, width)
		u.Stream("noise", 0).Gaussian(noise)
		out := append([]float64(nil), sum...)
		for j := range out {
			out[j] += float64(noise[j] * descentClip * s.NoiseMultiplier)
		}
		out = privacy.Release(u, sum, out)
		s.divided(out, len(batch), true)
		for j := range w {
			w[j] -= float64(s.learning(len(rows)) * out[j] / descentBatch)
		}
		s.progress(env, t+1, n, len(rows))
	}
	return w, s.end(len(rows))
}

func (s *descent) divided(sum []float64, batch int, noised bool) {
	if s.divide != nil {
		s.divide(sum, batch, noised)
	}
}

// clipped returns the gradient of |w - x|²/2 + pull |w|²/2 for a row x whose ones are listed.
func clipped(w []float64, ones []int, pull float64) []float64 {
	g, square := make([]float64, len(w)), 0.0
	for j := range g {
		g[j] = float64((1 + pull) * w[j])
	}
	for _, j := range ones {
		g[j]--
	}
	for _, v := range g {
		square += float64(v * v)
	}
	by := math.Min(1, descentClip*(1-0x1p-40)/math.Sqrt(square))
	for j := range g {
		g[j] *= by
	}
	return g
}

func add(sum, g []float64) {
	for j, v := range g {
		sum[j] += v
	}
}

// cells lists where the categories of each column begin, one more for what is missing.
func cells(t pipeline.Table) (columns []int) {
	for i, c := range t.Domain.Columns {
		for range len(c.Categories) + 1 {
			columns = append(columns, i)
		}
	}
	return columns
}

// vectors returns the rows as the places of their ones.
func vectors(ctx context.Context, t pipeline.Table) (rows [][]int, err error) {
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			var ones []int
			pos := 0
			for j, c := range t.Domain.Columns {
				if a := rec.Column(j).(*array.Int32); a.IsNull(i) {
					ones = append(ones, pos+len(c.Categories))
				} else {
					ones = append(ones, pos+int(a.Value(i)))
				}
				pos += len(c.Categories) + 1
			}
			rows = append(rows, ones)
		}
	}
	return rows, nil
}

// scaled multiplies all of a sum.
func scaled(sum []float64, by float64) {
	for j := range sum {
		sum[j] *= by
	}
}

// descents returns wrong learners by what is wrong with them, each with words of what the suite
// has to say of it. Each of them is right on the rows of a neighbour that has as many.
func descents() map[string]struct {
	wrong func(*descent)
	says  string
} {
	type entry = struct {
		wrong func(*descent)
		says  string
	}
	return map[string]entry{
		"none": {func(*descent) {}, ""},
		"a weight of the loss by the private row count": {
			func(s *descent) { s.pull = func(n int) float64 { return float64(n) / 1000 } },
			"they depend on rows that they did not draw"},
		"a weight of the loss over the private row count": {
			func(s *descent) { s.pull = func(n int) float64 { return 1 / float64(1+n) } },
			"they depend on rows that they did not draw"},
		"a learning rate over the private row count": {func(s *descent) {
			s.learning = func(n int) float64 {
				return 40 / float64(1+n)
			}
		},
			"output model is released and differs"},
		"a noisy sum divided by the batch": {func(s *descent) {
			s.divide = func(sum []float64, batch int, noised bool) {
				if noised {
					scaled(sum, descentBatch/float64(max(1, batch)))
				}
			}
		}, "output model is released and differs"},
		"a sum divided by the batch before its noise": {func(s *descent) {
			s.divide = func(sum []float64, batch int, noised bool) {
				if !noised {
					scaled(sum, descentBatch/float64(max(1, batch)))
				}
			}
		}, "its sensitivity is larger than paid for"},
		"steps by the private row count": {func(s *descent) { s.steps = func(n int) int { return min(descentSteps, n/4) } },
			"the number of uses depends on the data"},
		"a total by the private row count": {func(s *descent) {
			s.progress = func(env *pipeline.Env, step, _, rows int) { env.Progress(int64(step), int64(rows/3)) }
		}, "progress: "},
		"a total of another number of steps": {func(s *descent) {
			s.progress = func(env *pipeline.Env, step, steps, _ int) { env.Progress(int64(step), int64(steps+1)) }
		}, "the end is not reached"},
		"a total that grows": {func(s *descent) {
			s.progress = func(env *pipeline.Env, step, _, _ int) { env.Progress(int64(step), int64(step)) }
		}, "the total is 1 at first and 12 at the end"},
		"more than all": {func(s *descent) {
			s.progress = func(env *pipeline.Env, step, steps, _ int) { env.Progress(int64(2*step), int64(steps)) }
		}, "24 of 12 is not a share"},
		"no progress": {func(s *descent) { s.progress = func(*pipeline.Env, int, int, int) {} }, "reports no progress"},
		"an error at the end, of few rows": {func(s *descent) {
			s.end = func(n int) error {
				if n < 5 {
					return errors.New("too few rows")
				}
				return nil
			}
		}, "too few rows"},
	}
}

func descentCase(s descent, in Input) Case {
	return Case{Name: "descent", Stage: func() pipeline.Stage { again := s; return &again },
		In: map[string]Input{"in": in}}
}

func descentKind() pipeline.Kind {
	k := independentKind()
	k.Name, k.New = "descent", func() pipeline.Stage { s := rightDescent(); return &s }
	return k
}

// TestWrongLearnersAreFound: what a number of private rows, or of a batch, leaks into is
// found, however little it moves.
func TestWrongLearnersAreFound(t *testing.T) {
	for what, f := range descents() {
		t.Run(what, func(t *testing.T) {
			r, s := &recorder{}, rightDescent()
			f.wrong(&s)
			r.run(func(t reporter) { checkCase(t, descentKind(), descentCase(s, visitors(40, privacy.AddRemove))) })
			said := strings.Join(r.said, "\n")
			if f.says == "" && said != "" || !strings.Contains(said, f.says) {
				t.Errorf("reported %q, want %q", said, f.says)
			}
		})
	}
}
