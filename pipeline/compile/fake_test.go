package compile

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/relation"
	"weir/pipeline/spec"
	"weir/privacy"
	"weir/schema"
)

// fakes returns kinds with the privacy behaviour that the compiler must judge.
func fakes(t *testing.T, more ...pipeline.Kind) *pipeline.Registry {
	t.Helper()
	table := []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"}}
	out := []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "a table"}}
	reg, err := pipeline.NewRegistry([]pipeline.Kind{
		{Name: "clean", Doc: "Row by row.", In: table, Out: out, New: func() pipeline.Stage { return &cleanStage{} }},
		{Name: "drop", Doc: "Leaves out.", In: table, Out: out, New: func() pipeline.Stage { return &dropStage{} }},
		{Name: "mix", Doc: "Across rows.", In: table, Out: out, New: func() pipeline.Stage { return &mixStage{} }},
		{Name: "leak", Doc: "Releases without paying.", In: table, Out: out,
			New: func() pipeline.Stage { return &leakStage{} }},
		{Name: "cut", Doc: "Makes shards.", In: table, Out: out, New: func() pipeline.Stage { return &cutStage{Shards: 2} }},
		{Name: "file", Doc: "Reads a file.", In: []pipeline.Port{{Name: "like", Form: pipeline.FormTable, Lends: true,
			Doc: "a domain"}}, Out: out, New: func() pipeline.Stage { return &fileStage{} }},
		{Name: "count", Doc: "Pays for figures.", In: []pipeline.Port{{Name: "in", Form: pipeline.FormMetrics,
			Doc: "figures"}}, Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}},
			New: func() pipeline.Stage { return learn() }},
		{Name: "learn", Doc: "Pays.", In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "a table"},
			{Name: "other", Form: pipeline.FormTable, Optional: true, Doc: "another"}},
			Out: []pipeline.Port{{Name: "model", Form: pipeline.FormModel, Doc: "a model"}},
			New: func() pipeline.Stage { return learn() }},
		{Name: "draw", Doc: "Samples.", In: []pipeline.Port{{Name: "in", Form: pipeline.FormModel, Doc: "a model"}}, Out: out,
			New: func() pipeline.Stage { return &drawStage{} }},
		{Name: "judge", Doc: "Compares.", In: []pipeline.Port{{Name: "real", Form: pipeline.FormTable, Doc: "real rows"},
			{Name: "synthetic", Form: pipeline.FormTable, Doc: "synthetic rows"}},
			Out: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Doc: "figures"}},
			New: func() pipeline.Stage { return &judgeStage{} }},
		{Name: "report", Doc: "Collects.", In: []pipeline.Port{{Name: "metrics", Form: pipeline.FormMetrics, Many: true,
			Doc: "figures"}},
			Out: []pipeline.Port{{Name: "files", Form: pipeline.FormFiles, Doc: "pages"}},
			New: func() pipeline.Stage { return &reportStage{} }},
	}, more)
	if err != nil {
		t.Fatal(err)
	}
	return reg.Reading(pipeline.SourceKind{Name: "file", New: func() pipeline.Source { return &fakeFile{} }},
		pipeline.SourceKind{Name: "demo", New: func() pipeline.Source { return &fakeDemo{} }})
}

// fakeFile is a source of people's rows, which no plan opens.
type fakeFile struct {
	File   string `yaml:"file,omitempty" format:"path" doc:"A file."`
	Stays  bool   `yaml:"stays,omitempty" doc:"Rows stay with a program."`
	Sample int64  `yaml:"sample,omitempty" doc:"Rows that leave it."`
}

func (s *fakeFile) Declare(pipeline.Declaring) (pipeline.Declared, error) {
	d := pipeline.Declared{Name: s.File, Full: s.File, Place: s.File, Files: []string{s.File}, Stays: s.Stays,
		Sample: s.Sample}
	if s.Stays {
		d.Program = "a database"
	}
	return d, nil
}

func (*fakeFile) Open(context.Context, pipeline.Opening) (pipeline.Opened, error) {
	panic("is planned only")
}

// fakeDemo is a source of invented rows, of which there is one.
type fakeDemo struct {
	Demo string `yaml:"demo,omitempty" doc:"A generator."`
	Rows int64  `yaml:"demo_rows,omitempty" doc:"Rows."`
}

func (s *fakeDemo) Declare(pipeline.Declaring) (pipeline.Declared, error) {
	if s.Demo != "cardio" {
		var ps schema.Problems
		ps.Unknown("demo", "generator", s.Demo, []string{"cardio"})
		return pipeline.Declared{}, ps.Err()
	}
	return pipeline.Declared{Name: "demo: " + s.Demo, Full: s.Demo, Place: s.Demo, Invented: "a test"}, nil
}

func (*fakeDemo) Open(context.Context, pipeline.Opening) (pipeline.Opened, error) {
	panic("is planned only")
}

// noisy is a mechanism in small.
type noisy struct {
	law        string
	rate       float64
	steps      int64
	multiplier float64
	faulty     bool
}

func (m noisy) Check() error {
	if m.faulty {
		return errors.New("its clip is missing")
	}
	return nil
}

func (m noisy) Uses() int64 { return m.steps }

func (m noisy) Event(privacy.Adjacency) privacy.Event {
	switch m.law {
	case "laplace":
		return privacy.Laplace{NoiseMultiplier: m.multiplier}
	case "discrete": // which has no bound for groups (privacy.Group)
		return privacy.DiscreteGaussian{NoiseMultiplier: m.multiplier}
	}
	return privacy.Repeated{Count: m.steps, Event: privacy.PoissonSampled{SamplingRate: m.rate,
		Event: privacy.Gaussian{NoiseMultiplier: m.multiplier}}}
}

func (m noisy) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	if a == privacy.ReplaceOne {
		return privacy.Sensitivity{Norm: privacy.L2, Bound: 2}
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: 1}
}

// onShards is noisy where a whole shard may change.
type onShards struct {
	noisy
	shards int
}

func (m onShards) Shards() int { return m.shards }

type cleanStage struct {
	Column string `yaml:"column,omitempty" doc:"A column that must exist."`
}

func (s *cleanStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	if s.Column != "" && in["in"].Domain.Column(s.Column) == nil {
		ps.Add("column", "no column of the table", "one of "+strings.Join(in["in"].Domain.Names(), ", "))
	}
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]}, Lazy: true}, ps.Err()
}

type dropStage struct {
	Columns []string `yaml:"columns" doc:"What is left out."`
}

func (s *dropStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	d := h.Domain.Clone()
	d.Columns = slices.DeleteFunc(d.Columns, func(c domain.Column) bool { return slices.Contains(s.Columns, c.Name) })
	return pipeline.Work{Out: pipeline.Headers{"out": pipeline.TableHeader(d, h)}, Lazy: true,
		Elsewhere: func(r relation.Relation) (relation.Relation, error) { return r, nil }}, nil
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

// learnStage pays, in one of many ways.
type learnStage struct {
	Law             string  `yaml:"law" doc:"What is drawn." enum:"sgd|laplace|discrete|shards"`
	Steps           int64   `yaml:"steps" doc:"Steps." min:"1"`
	SamplingRate    float64 `yaml:"sampling_rate" doc:"Poisson rate." exclusiveMin:"0" max:"1"`
	Shards          int64   `yaml:"shards" doc:"Shards that the law shards runs on." min:"1"`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" doc:"Fixed noise." exclusiveMin:"0"`
	Unproven        bool    `yaml:"unproven,omitempty" doc:"Claims what nobody has proven."`
	Published       string  `yaml:"published,omitempty" doc:"The arithmetic of its paper: 1/noise, or none that is finite." enum:"finite|infinite|none"`
	Does            string  `yaml:"does,omitempty" doc:"What is wrong with it." enum:"lazy|twice|nameless|pointer|fault|private file|public file|no output|counts"`
}

func learn() *learnStage {
	return &learnStage{Law: "sgd", Steps: 100, SamplingRate: 0.01, Shards: 2}
}

func (s *learnStage) mechanism(scale float64) privacy.Mechanism {
	m := noisy{s.Law, s.SamplingRate, s.Steps, scale, s.Does == "fault"}
	switch {
	case s.Law == "shards":
		return onShards{m, int(s.Shards)}
	case s.Does == "pointer":
		return &m
	}
	return m
}

func (s *learnStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h.Form, h.Class, h.Schema = pipeline.FormModel, pipeline.Released, nil
	spend := pipeline.Spend{Name: "train", Doc: s.Law, Mechanism: s.mechanism}
	work := pipeline.Work{Out: pipeline.Headers{"model": h}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Lazy: s.Does == "lazy"}
	switch s.Does {
	case "nameless":
		spend.Name = ""
	case "twice":
		work.Spends = []pipeline.Spend{spend}
	case "private file", "public file":
		work.Files = []pipeline.FileUse{{Path: "far/other.csv", Public: s.Does == "public file", By: "a steward"}}
	case "counts":
		work.Counts = func(r relation.Relation) (relation.Relation, []relation.Key) { return r, nil }
	case "no output":
		work.Out = pipeline.Headers{}
	}
	work.Spends = append(work.Spends, spend)
	if s.Unproven {
		work.Pricing.Unproven = pipeline.Unproven{Rule: "W13", Why: "the encoder has no noise"}
	}
	switch s.Published {
	case "finite":
		work.Pricing.Published = &pipeline.Published{Method: "the paper", Epsilon: func(m, _ float64) (float64, error) {
			return 1 / m, nil
		}}
	case "infinite":
		work.Pricing.Published = &pipeline.Published{Method: "the paper", Epsilon: func(float64, float64) (float64, error) {
			return math.Inf(1), nil
		}}
	case "none":
		work.Pricing.Published = &pipeline.Published{Method: "the paper", Epsilon: func(float64, float64) (float64, error) {
			return 0, errors.New("no such event")
		}}
	}
	return work, nil
}

type cutStage struct {
	Shards int `yaml:"shards" doc:"How many." min:"1"`
}

func (s *cutStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	h = h.WithShardColumn(s.Shards)
	if h.Stability.Spread == pipeline.SpreadRows {
		h.Stability = pipeline.Shards(s.Shards)
	}
	return pipeline.Work{Out: pipeline.Headers{"out": h}}, nil
}

// fileStage reads a file, which it says is public or not.
type fileStage struct {
	Public bool `yaml:"public,omitempty" doc:"Declared so."`
	Leaks  bool `yaml:"leaks,omitempty" doc:"Calls its output public whatever the file is."`
}

func (s *fileStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	class := pipeline.Private
	if s.Public || s.Leaks {
		class = pipeline.Public
	}
	h := pipeline.TableHeader(in["like"].Domain, pipeline.Header{Class: class})
	return pipeline.Work{Out: pipeline.Headers{"out": h},
		Files: []pipeline.FileUse{{Path: "far/rows.csv", Public: s.Public, By: "a steward"}}}, nil
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
	return pipeline.Work{Out: pipeline.Headers{"metrics": {Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(),
		Class: pipeline.Private}}}, nil
}

type reportStage struct{}

func (s *reportStage) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"files": {Form: pipeline.FormFiles, Class: pipeline.Private}}}, nil
}

// head is billed by rdp, which takes a tenth of the time of pld: figures are from TestBillIsTheGoldenComposition.
const head = `weir: 1
name: test
dataset:
  file: patients.csv
  rows_public: 1000
  domain:
    columns:
      - {name: age, type: integer, bounds: [0, 120]}
      - {name: sex, type: categorical, categories: [1, 2]}
privacy: {epsilon: 1, delta: 1e-5, adjacency: add_remove, accountant: rdp}
`

func parse(t *testing.T, text string, set ...string) (*spec.Spec, error) {
	t.Helper()
	return spec.Parse(spec.Input{File: "test.yaml", Data: []byte(text), Set: set, More: Faults,
		Read: func(string) ([]byte, error) { return nil, errors.New("is not there") }}, fakes(t))
}

func compile(t *testing.T, text string, set ...string) (*Plan, error) {
	t.Helper()
	spec, err := parse(t, text, set...)
	if err != nil {
		return nil, err
	}
	return Compile(spec)
}
