package gan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
	"weir/stages/model/artifact"
)

// TestOnlyDrawnIsUnproven: the published algorithm names the shared coin and what holds
// with its draws revealed: 480 at K 1500, 21,000 steps (docs/accounting.md section 1).
func TestOnlyDrawnIsUnproven(t *testing.T) {
	h := pipeline.Header{Stability: pipeline.Shards(1500), Terms: pipeline.Terms{Adjacency: privacy.ReplaceOne,
		Delta: 1e-5}}
	s := gsWGANKind().New().(*GSWGAN)
	s.Steps, s.NoiseMultiplier = 21000, 1.07
	for _, c := range []struct{ query, schedule, rule, why string }{
		{"mean", "public", "", ""}, {"sample", "public", "", ""}, {"batch", "public", "", ""},
		{"sample", "drawn", "W37", "does not compose"}, {"batch", "drawn", "W36", "is epsilon 480 at"},
	} {
		s.Query, s.CriticSchedule = c.query, c.schedule
		got := s.unproven(1500, h)
		if got.Rule != c.rule || !strings.Contains(got.Why, c.why) || (c.rule == "") != (got == pipeline.Unproven{}) {
			t.Errorf("query %s, schedule %s: %v", c.query, c.schedule, got)
		}
	}
	s.ShareThrowaway = true
	if got := s.unproven(1500, h); !strings.Contains(got.Why, "every later critic (W22)") || !strings.Contains(got.Why,
		"is epsilon 480 at") {
		t.Errorf("a shared throw-away generator: %v", got)
	}
	h.Stability = pipeline.Unbounded()
	if got := s.unproven(1500, h); strings.Contains(got.Why, "epsilon") {
		t.Errorf("rows that change in every shard: %v, and no bound holds", got)
	}
}

// TestPublishedGSWGANGolden: the three epsilons that the thesis prints, at the steps that give
// them (docs/accounting.md section 3.1), for both queries that draw; none for mean.
func TestPublishedGSWGANGolden(t *testing.T) {
	s := gsWGANKind().New().(*GSWGAN)
	for _, c := range []struct {
		critics, steps int
		want           float64
	}{{250, 20993, 63.0}, {500, 37979, 34.8}, {1500, 20891, 6.45}} {
		for _, query := range []string{"batch", "sample"} {
			s.Query, s.Steps = query, c.steps
			got, err := publishedGSWGAN(s, c.critics).Epsilon(1.07, 1e-5)
			if err != nil || math.Abs(got-c.want) > 0.002*c.want/6.45 {
				t.Errorf("K %d, query %s: %g, %v, must be %g", c.critics, query, got, err, c.want)
			}
		}
	}
	s.Query = "mean"
	if publishedGSWGAN(s, 250) != nil {
		t.Error("query mean has a published epsilon, and no paper has it")
	}
}

// TestScheduleRefusals: settings that contradict each other are named before anything is paid.
func TestScheduleRefusals(t *testing.T) {
	in := learners(t)["gs_wgan drawn"].in
	for want, change := range map[string]func(*GSWGAN){
		"critic_schedule":                    func(s *GSWGAN) { s.Query = "mean" },
		"scheduled":                          func(s *GSWGAN) { s.Scheduled = 3 },
		"noise_multiplier":                   func(s *GSWGAN) { s.NoiseMultiplier = 0 },
		"release_every":                      func(s *GSWGAN) { s.Steps, s.ReleaseEvery = 1<<20, 1 },
		"release_every: is 30 with steps 20": func(s *GSWGAN) { s.Steps, s.ReleaseEvery = 20, 30 },
		"release_every: is 20 with steps 20": func(s *GSWGAN) { s.Steps, s.ReleaseEvery = 20, 20 },
		fmt.Sprintf("must be at most the number of shards, %d", in.Header.Shards): func(s *GSWGAN) {
			s.CriticSchedule,
				s.Scheduled = "public", in.Header.Shards+1
		},
		"batch_size: is 1 with generator_norm batch": func(s *GSWGAN) {
			s.BatchSize,
				s.GeneratorNorm = 1, "batch"
		},
		"batch_size: is 1 with critic_norm batch": func(s *GSWGAN) {
			s.BatchSize,
				s.CriticNorm = 1, "batch"
		},
		"batch_size: is 1 with critic_norm batch_after": func(s *GSWGAN) {
			s.BatchSize,
				s.CriticNorm = 1, "batch_after"
		},
		"critic_norm: is batch_after with query sample": func(s *GSWGAN) {
			s.Query,
				s.CriticNorm = "sample", "batch_after"
		},
		"share_throwaway: is true with critic_schedule public": func(s *GSWGAN) {
			s.CriticSchedule,
				s.Scheduled, s.ShareThrowaway = "public", 1, true
		},
		"critic_norm: is batch with query sample": func(s *GSWGAN) {
			s.Query,
				s.CriticNorm = "sample", "batch"
		},
	} {
		s := thesis()
		change(s)
		if _, err := s.Plan(pipeline.Headers{"in": in.Header}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must name %s", err, want)
		}
	}
	free := thesis()
	free.NoiseMultiplier, in.Header.Terms.NoPrivacy = 0, true
	if _, err := free.Plan(pipeline.Headers{"in": in.Header}); err != nil {
		t.Errorf("without privacy: %v", err)
	}
}

// TestEarlierGenerators: the model read back draws the rows of its last step, and the rows of
// step 10 where it is asked for them, which are the rows of a training of 10 steps.
func TestEarlierGenerators(t *testing.T) {
	l := learners(t)["gs_wgan drawn"]
	l.Stage = func() pipeline.Stage { s := thesis(); s.NoiseMultiplier = 0; s.CheckpointEvery = 5; return s }
	l.in.Header.Terms.NoPrivacy = true
	build := func(steps, every int) artifact.Model {
		stage := l.Stage
		l := l
		l.Stage = func() pipeline.Stage {
			s := stage().(*GSWGAN)
			s.Steps, s.ReleaseEvery = steps, every
			return s
		}
		packed, _ := l.Trained(t, l.in)
		m, err := artifact.Read[artifact.Model](t.Context(), packed, pipeline.ReadersOf(Kinds()))
		must(t, err)
		w, err := l.Stage().Plan(pipeline.Headers{"in": l.in.Header})
		must(t, err)
		for step := 1; step <= steps+1; step++ {
			if _, err := m.(artifact.Stepper).At(step); w.Out["model"].Kept.Has(step) != (err == nil) {
				t.Errorf("step %d of %d, released every %d: the plan says %v, the model %v", step, steps, every,
					w.Out["model"].Kept, err)
			}
		}
		return m
	}
	m, short, whole := build(12, 5), build(10, 0), build(12, 0)
	earlier, err := m.(artifact.Stepper).At(10)
	must(t, err)
	for what, pair := range map[string][2]artifact.Model{"step 10": {earlier, short}, "the last step": {m, whole}} {
		if !slices.Equal(rowsOf(t, pair[0]), rowsOf(t, pair[1])) {
			t.Errorf("%s draws other rows than a training that ends there", what)
		}
	}
	if slices.Equal(rowsOf(t, earlier), rowsOf(t, m)) {
		t.Error("step 10 draws the rows of the last step")
	}
	for want, m := range map[string]artifact.Model{"must be one of 5, 10, 12": m, "release_every": whole} {
		if _, err := m.(artifact.Stepper).At(7); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("step 7: %v, must say %s", err, want)
		}
	}
}

// rowsOf draws 50 rows as text.
func rowsOf(t *testing.T, m artifact.Model) []string {
	t.Helper()
	draw, err := m.Draw(artifact.Drawing{Random: func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }, Rows: 50})
	must(t, err)
	rec, err := draw(50)
	must(t, err)
	var out []string
	for _, c := range rec.Columns() {
		out = append(out, c.String())
	}
	return out
}
