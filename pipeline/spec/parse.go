package spec

import (
	"errors"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/privacy/account"
	"weir/schema"
)

// specFile is the YAML of a spec: Spec with its stages undecoded.
type specFile struct {
	Spec `yaml:",inline"`
	Raw  schema.Ordered[schema.Raw] `yaml:"stages" required:"true" minItems:"1" doc:"The pipeline, in order; from defaults to the stage above."`
}

// Sources is where a spec's words come from.
type Sources struct {
	File string                                                  // name of the spec, for messages
	Data []byte                                                  // its YAML
	Set  []string                                                // overrides path=value, in order
	Read func(name string) ([]byte, error)                       // reads the file of a domain, relative to the spec
	Demo func(name string, rows int64) (*pipeline.Domain, error) // the domain of a built-in generator
}

// Parse validates a spec and decodes every stage over the defaults of its
// kind. The error is of type Diagnostics and lists every problem at once.
func Parse(src Sources, reg *pipeline.Registry) (*Spec, error) {
	doc, problems := schema.Parse(src.File, src.Data)
	if doc == nil {
		return nil, faults(problems)
	}
	for _, set := range src.Set {
		problems = append(problems, override(doc, set)...)
	}
	if len(problems) > 0 {
		return nil, faults(problems)
	}
	p := &parser{src: src, doc: doc, reg: reg}
	spec := p.spec()
	return spec, faults(p.problems)
}

// override sets one path; an empty value takes the setting out. File and demo
// exclude each other, so that setting one replaces the other.
func override(doc *schema.Document, set string) []schema.Problem {
	path, value, ok := strings.Cut(set, "=")
	if !ok {
		return []schema.Problem{{File: "--set " + set, Found: "without =", Accepted: "path=value, such as privacy.epsilon=1"}}
	}
	if value == "" {
		doc.Remove(path)
		return nil
	}
	if err := doc.Set(path, value); err != nil {
		return []schema.Problem{asProblem(path, err)}
	}
	switch path {
	case "dataset.file":
		doc.Remove("dataset.demo")
		doc.Remove("dataset.demo_rows")
	case "dataset.demo":
		doc.Remove("dataset.file")
	}
	return nil
}

func asProblem(path string, err error) schema.Problem {
	var p schema.Problem
	if errors.As(err, &p) {
		return p
	}
	return schema.Problem{File: "--set " + path, Hint: err.Error()}
}

type parser struct {
	src      Sources
	doc      *schema.Document
	reg      *pipeline.Registry
	problems []schema.Problem
}

func (p *parser) add(ps ...schema.Problem) { p.problems = append(p.problems, ps...) }

// at is a problem at a path of the spec.
func (p *parser) at(path, found, accepted, hint string) {
	problem := p.doc.Problem(path, accepted, hint)
	if found != "" {
		problem.Found = found
	}
	p.add(problem)
}

func (p *parser) spec() *Spec {
	file := specFile{Spec: Default()}
	p.add(p.doc.Decode("", &file)...)
	spec := &file.Spec
	for _, id := range p.doc.Keys("stages") {
		if s, ok := p.stage(id); ok {
			spec.Stages = append(spec.Stages, s)
		}
	}
	if len(p.problems) > 0 {
		return nil
	}
	spec.Dataset.columns = p.domain(spec.Dataset.DemoRows)
	p.rules(spec)
	if len(p.problems) > 0 {
		return nil
	}
	spec.where = p.where
	fillInputs(spec.Stages)
	p.digest(spec)
	return spec
}

// Default is a spec before its file is read.
func Default() Spec {
	return Spec{Weir: 1, Dataset: Dataset{Version: "1"}, Privacy: Privacy{Delta: 1e-5, Accountant: account.Default, Claims: pipeline.ClaimsProven, KeepNoiseKey: true}}
}

func (p *parser) stage(id string) (Stage, bool) {
	path := schema.Path("stages", id)
	name := p.doc.Text(path + ".kind")
	kind := p.reg.Kind(name)
	switch {
	case id == pipeline.DatasetID || strings.ContainsAny(id, "./\\ #"):
		p.at(path, fmt.Sprintf("the stage name %q", id), "a name without dot, slash, blank or #, other than dataset", "")
		return Stage{}, false
	case !p.doc.Has(path + ".kind"):
		p.at(path, "", "a mapping with kind: one of "+strings.Join(p.reg.Names(), ", "), "")
		return Stage{}, false
	case kind == nil:
		p.at(path+".kind", "", "one of "+strings.Join(p.reg.Names(), ", "), schema.DidYouMean(name, p.reg.Names()))
		return Stage{}, false
	}
	ports, stage := portStruct(kind), kind.New()
	if ps := p.doc.Decode(path, &stageHead{}, ports.Interface(), stage); len(ps) > 0 {
		p.add(ps...)
		return Stage{}, false
	}
	return Stage{ID: id, Kind: kind, Inputs: readPorts(kind, ports), Stage: stage}, true
}

// where finds a path of the spec, or the nearest that is written.
func (p *parser) where(path string) (string, int, int) {
	for at := path; at != ""; at = parent(at) {
		if p.doc.Has(at) {
			line, column := p.doc.At(at)
			return p.src.File, line, column
		}
	}
	return p.src.File, 1, 1
}

func parent(path string) string {
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return ""
	}
	return path[:i]
}
