package compile

import (
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/privacy"
)

// fakes are kinds with the privacy behaviour that the compiler must judge.
func fakes(t *testing.T, more ...pipeline.Kind) *pipeline.Registry {
	t.Helper()
	table := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := pipeline.NewRegistry([]pipeline.Kind{
		{Name: "clean", Doc: "Row by row.", In: table, Out: out, New: func() pipeline.Stage { return &cleanStage{} }},
		{Name: "mix", Doc: "Across rows.", In: table, Out: out, New: func() pipeline.Stage { return &mixStage{} }},
		{Name: "leak", Doc: "Releases without paying.", In: table, Out: out, New: func() pipeline.Stage { return &leakStage{} }},
		{Name: "learn", Doc: "Pays.", In: table, Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}}, New: func() pipeline.Stage { return &learnStage{Steps: 100} }},
		{Name: "draw", Doc: "Samples.", In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "a model"}}, Out: out, New: func() pipeline.Stage { return &drawStage{} }},
		{Name: "judge", Doc: "Compares.", In: []pipeline.Port{{Name: "real", Form: pipeline.FormTable, Doc: "real rows"}, {Name: "synthetic", Form: pipeline.FormTable, Doc: "synthetic rows"}},
			Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Doc: "figures"}}, New: func() pipeline.Stage { return &judgeStage{} }},
		{Name: "report", Doc: "Collects.", In: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Many: true, Doc: "figures"}},
			Out: []pipeline.Port{{Name: "files", Form: pipeline.FormFiles, Doc: "pages"}}, New: func() pipeline.Stage { return &reportStage{} }},
	}, more)
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// noisy is a mechanism in small: DP-SGD at a sampling rate of 0.01.
type noisy struct {
	steps      int64
	multiplier float64
}

func (m noisy) Check() error { return nil }
func (m noisy) Uses() int64  { return m.steps }

func (m noisy) Event(privacy.Adjacency) privacy.Event {
	return privacy.Repeated{Count: m.steps, Event: privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: m.multiplier}}}
}

func (m noisy) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	if a == privacy.ReplaceOne {
		return privacy.Sensitivity{Norm: privacy.L2, Bound: 2}
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 1}
}

type cleanStage struct {
	Column string `yaml:"column,omitempty" doc:"A column that must exist."`
}

func (s *cleanStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps pipeline.Problems
	if s.Column != "" && in["in"].Domain.Column(s.Column) == nil {
		ps.Add("column", "no column of the table", "one of "+strings.Join(in["in"].Domain.Names(), ", "))
	}
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Lazy: true}, ps.Err()
}

type mixStage struct{}

func (s *mixStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Stability = h.Stability.AcrossRows(false)
	return pipeline.Work{Out: pipeline.Headers{"out": h}}, nil
}

type leakStage struct{}

func (s *leakStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Class = pipeline.Released
	return pipeline.Work{Out: pipeline.Headers{"out": h}}, nil
}

type learnStage struct {
	Steps           int64   `yaml:"steps" doc:"Steps." min:"1"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" doc:"Fixed noise." exclusiveMin:"0"`
	Unproven        bool    `yaml:"unproven,omitempty" doc:"Claims what nobody has proven."`
}

func (s *learnStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Form, h.Class, h.Schema = pipeline.FormModel, pipeline.Released, pipeline.FilesSchema()
	work := pipeline.Work{Out: pipeline.Headers{"model": h}, Terms: pipeline.Pricing{Scale: s.NoiseMultiplier}, Spends: []pipeline.Spend{{Name: "train", Doc: "Gaussian",
		Mechanism: func(scale float64) privacy.Mechanism { return noisy{s.Steps, scale} }}}}
	if s.Unproven {
		work.Terms.Unproven = "the encoder has no noise"
		work.Terms.Published = &pipeline.Published{Method: "the paper", Epsilon: func(float64, float64) (float64, error) { return 0.36, nil }}
	}
	return work, nil
}

type drawStage struct {
	Rows int64 `yaml:"rows" doc:"Rows." required:"true" min:"0"`
}

func (s *drawStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := pipeline.TableHeader(in["in"].Domain, pipeline.Header{Class: in["in"].Class, Rows: s.Rows})
	return pipeline.Work{Out: pipeline.Headers{"out": h}}, nil
}

type judgeStage struct{}

func (s *judgeStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"metrics": {Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private}}}, nil
}

type reportStage struct{}

func (s *reportStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"files": {Form: pipeline.FormFiles, Schema: pipeline.FilesSchema(), Class: pipeline.Private}}}, nil
}

const head = `weir: 1
name: test
dataset:
  file: patients.csv
  rows_public: 1000
  domain:
    columns:
      - {name: age, type: integer, bounds: [0, 120]}
      - {name: sex, type: categorical, categories: [1, 2]}
privacy: {epsilon: 1, delta: 1e-5, adjacency: add_remove}
`

func parse(t *testing.T, text string, set ...string) (*spec.Spec, error) {
	t.Helper()
	return spec.Parse(spec.Sources{File: "test.yaml", Data: []byte(text), Set: set, More: Faults}, fakes(t))
}

func compile(t *testing.T, text string, set ...string) (*Plan, error) {
	t.Helper()
	spec, err := parse(t, text, set...)
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}
