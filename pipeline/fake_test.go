package pipeline

import (
	"context"
	"strings"
	"testing"

	"weir/privacy"
)

// fakes are kinds with the privacy behaviour that the compiler must judge.
func fakes(t *testing.T) *Registry {
	t.Helper()
	table := []Port{{Name: "in", Form: FormTable, Doc: "a table"}}
	out := []Port{{Name: "out", Form: FormTable, Doc: "a table"}}
	reg, err := NewRegistry([]Kind{
		{Name: "clean", Doc: "Row by row.", In: table, Out: out, New: func() Stage { return &cleanStage{} }},
		{Name: "mix", Doc: "Across rows.", In: table, Out: out, New: func() Stage { return &mixStage{} }},
		{Name: "leak", Doc: "Releases without paying.", In: table, Out: out, New: func() Stage { return &leakStage{} }},
		{Name: "learn", Doc: "Pays.", In: table, Out: []Port{{Name: "model", Form: FormModel, Doc: "a model"}}, New: func() Stage { return &learnStage{Steps: 100} }},
		{Name: "draw", Doc: "Samples.", In: []Port{{Name: "in", Form: FormModel, Doc: "a model"}}, Out: out, New: func() Stage { return &drawStage{} }},
		{Name: "judge", Doc: "Compares.", In: []Port{{Name: "real", Form: FormTable, Doc: "real rows"}, {Name: "synthetic", Form: FormTable, Doc: "synthetic rows"}},
			Out: []Port{{Name: "metrics", Form: FormMetrics, Doc: "figures"}}, New: func() Stage { return &judgeStage{} }},
		{Name: "report", Doc: "Collects.", In: []Port{{Name: "metrics", Form: FormMetrics, Many: true, Doc: "figures"}},
			Out: []Port{{Name: "files", Form: FormFiles, Doc: "pages"}}, New: func() Stage { return &reportStage{} }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

type noRun struct{}

func (noRun) Run(context.Context, *Env, Tables) (Tables, error) { return nil, nil }

type cleanStage struct {
	noRun  `yaml:"-"`
	Column string `yaml:"column,omitempty" doc:"A column that must exist."`
}

func (s *cleanStage) Plan(in Headers) (Outline, error) {
	var ps Problems
	if s.Column != "" && in["in"].Domain.Column(s.Column) == nil {
		ps.Add("column", "no column of the table", "one of "+strings.Join(in["in"].Domain.Names(), ", "))
	}
	return Outline{Out: Headers{"out": in["in"]}, Lazy: true}, ps.Err()
}

type mixStage struct {
	noRun `yaml:"-"`
}

func (s *mixStage) Plan(in Headers) (Outline, error) {
	h := in["in"]
	h.Stability = h.Stability.AcrossRows(false)
	return Outline{Out: Headers{"out": h}}, nil
}

type leakStage struct {
	noRun `yaml:"-"`
}

func (s *leakStage) Plan(in Headers) (Outline, error) {
	h := in["in"]
	h.Class = Released
	return Outline{Out: Headers{"out": h}}, nil
}

type learnStage struct {
	noRun           `yaml:"-"`
	Steps           int64   `yaml:"steps" doc:"Steps." min:"1"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" doc:"Fixed noise." exclusiveMin:"0"`
	Unproven        bool    `yaml:"unproven,omitempty" doc:"Claims what nobody has proven."`
}

func (s *learnStage) Plan(in Headers) (Outline, error) {
	h := in["in"]
	h.Form, h.Class, h.Schema = FormModel, Released, FilesSchema()
	cost := &Cost{Mechanism: "Gaussian", Sensitivity: "1", Steps: s.Steps, NoiseMultiplier: s.NoiseMultiplier,
		Event: func(nm float64) privacy.Event {
			return privacy.Repeated{Count: s.Steps, Event: privacy.PoissonSampled{SamplingRate: 0.01, Event: privacy.Gaussian{NoiseMultiplier: nm}}}
		}}
	if s.Unproven {
		cost.Unproven = "the encoder has no noise"
		cost.Published = &Published{Method: "the paper", Epsilon: func(float64, float64) (float64, error) { return 0.36, nil }}
	}
	return Outline{Out: Headers{"model": h}, Cost: cost}, nil
}

type drawStage struct {
	noRun `yaml:"-"`
	Rows  int64 `yaml:"rows" doc:"Rows." required:"true" min:"0"`
}

func (s *drawStage) Plan(in Headers) (Outline, error) {
	h := TableHeader(in["in"].Domain, Header{Class: in["in"].Class, Rows: s.Rows})
	return Outline{Out: Headers{"out": h}}, nil
}

type judgeStage struct {
	noRun `yaml:"-"`
}

func (s *judgeStage) Plan(in Headers) (Outline, error) {
	return Outline{Out: Headers{"metrics": {Form: FormMetrics, Schema: MetricsSchema(), Class: Private}}}, nil
}

type reportStage struct {
	noRun `yaml:"-"`
}

func (s *reportStage) Plan(in Headers) (Outline, error) {
	return Outline{Out: Headers{"files": {Form: FormFiles, Schema: FilesSchema(), Class: Private}}}, nil
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

func parse(t *testing.T, text string, set ...string) (*Spec, error) {
	t.Helper()
	spec, problems := ParseSpec(Sources{File: "test.yaml", Data: []byte(text), Set: set}, fakes(t))
	return spec, FromProblems(problems)
}

func compile(t *testing.T, text string, set ...string) (*Plan, error) {
	t.Helper()
	spec, err := parse(t, text, set...)
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}
