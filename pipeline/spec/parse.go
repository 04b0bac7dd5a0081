package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/privacy/account"
	"weir/schema"
)

// specFile is the YAML of a spec: Spec with its stages undecoded, in the order of the canonical form.
type specFile struct {
	Spec       `yaml:",inline"`
	Raw        schema.Ordered[schema.Raw] `yaml:"stages" required:"true" minItems:"1" doc:"The pipeline, in order; from defaults to the stage above. Names of stages are letters, digits, _ and -, of at most 64 bytes."`
	Experiment *Experiment                `yaml:"experiment,omitempty" doc:"Settings that its runs differ in, and repeats."`
}

// Input is where a spec's words come from.
type Input struct {
	File string                            // name of the spec, for messages
	Data []byte                            // its YAML
	Set  []string                          // overrides path=value, in order; stages.NAME=off takes a stage out
	Read func(name string) ([]byte, error) // reads the file of a domain, relative to the spec
	// More looks for what else is wrong with a spec that has problems; nil: only
	// what its words say is looked at.
	More func(*Spec) Diagnostics
}

// Parse validates a spec and decodes every stage over the defaults of its
// kind. The error is of type Diagnostics and lists every problem at once.
func Parse(src Input, reg *pipeline.Registry) (*Spec, error) {
	o := &origin{src: src, reg: reg}
	doc, problems := o.read()
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return o.parse(doc, Trial{})
}

// parse decodes a document with the settings of a trial.
func (o *origin) parse(doc *schema.Document, t Trial) (*Spec, error) {
	p := &parser{src: o.src, doc: doc, reg: o.reg, known: &o.known, stages: doc.Keys("stages")}
	for _, c := range t.copies {
		if err := doc.Copy(c.to, c.from); err != nil {
			p.add(asProblem(c.to, err))
		}
	}
	if len(p.problems) > 0 {
		return nil, diagnostics(p.problems)
	}
	spec := p.spec()
	spec.from, spec.Readers = o, o.reg.Readers()
	for _, set := range o.src.Set {
		if id := offStage(set); id != "" {
			spec.Off = append(spec.Off, id)
			spec.noteAim(id, o.aims[id])
		}
	}
	if len(p.problems) == 0 {
		p.digest(spec)
	}
	if len(p.problems) == 0 {
		return spec, nil
	}
	return nil, p.all(spec)
}

// all returns every problem, with problems of meaning that do not follow from them.
func (p *parser) all(spec *Spec) Diagnostics {
	ds := diagnostics(p.problems)
	if p.src.More == nil || p.misnamed {
		return ds
	}
	ds = append(ds, p.src.More(spec)...)
	ds.Sort()
	return ds
}

// off is the value of --set that takes a stage out.
const off = "off"

// sharesPath is where the shares of stages stand.
const sharesPath = "privacy.split"

// offStage returns the stage that an override takes out; "" where it takes none out.
func offStage(set string) string {
	path, value, _ := strings.Cut(set, "=")
	id, of := strings.CutPrefix(path, "stages.")
	if !of || value != off || strings.Contains(id, ".") {
		return ""
	}
	return id
}

// aimOf returns the column that a stage predicts, at which models aim that give none; "" where it predicts none.
func aimOf(doc *schema.Document, id string, reg *pipeline.Registry) string {
	path := schema.Path("stages", id)
	kind := reg.Kind(doc.Text(path + ".kind"))
	if kind == nil {
		return ""
	}
	if _, predicts := kind.New().(pipeline.Predictor); !predicts {
		return ""
	}
	return doc.Text(path + ".target")
}

// noteAim says which models have lost the target that a stage gave them which an override has taken out: they are other
// models, which nobody asked for.
func (s *Spec) noteAim(off, column string) {
	if column == "" || len(s.Predicted()) > 0 {
		return
	}
	for i := range s.Stages {
		stage := &s.Stages[i]
		if aimed, ok := stage.Stage.(pipeline.Aimed); ok && *aimed.AimAt() == pipeline.NoTarget && !s.Given(stage, "target") {
			s.Notes = append(s.Notes, fmt.Sprintf("without stage %s, which predicts %s, stage %s has no target: its model is "+
				"another one, and a charge of its own; --set stages.%s.target=%s leaves it as it was", off, column, stage.ID,
				stage.ID, column))
		}
	}
}

// turnOff takes a stage and its share of the budget out; where that leaves one share, the stage that it is of has all.
func turnOff(doc *schema.Document, id string) []schema.Problem {
	path := schema.Path("stages", id)
	if stages := doc.Keys("stages"); !slices.Contains(stages, id) {
		return []schema.Problem{{File: "--set " + path, Found: "off, and there is no such stage",
			Accepted: "a stage of the spec: " + strings.Join(stages, ", "), Hint: schema.DidYouMean(id, stages)}}
	}
	doc.Remove(path)
	doc.Remove(sharesPath + "." + id)
	if len(doc.Keys(sharesPath)) == 1 {
		doc.Remove(sharesPath)
	}
	return nil
}

// override sets one path; an empty value takes the setting out. Sources exclude each other, so that choosing one
// takes the settings of the others out.
func override(doc *schema.Document, set string, reg *pipeline.Registry) []schema.Problem {
	path, value, ok := strings.Cut(set, "=")
	if !ok {
		return []schema.Problem{{File: "--set " + set, Found: "without =", Accepted: "path=value, such as privacy.epsilon=1"}}
	}
	if id := offStage(set); id != "" {
		return turnOff(doc, id)
	}
	if value == "" {
		doc.Remove(path)
		return nil
	}
	if err := doc.Set(path, value); err != nil {
		return []schema.Problem{asProblem(path, err)}
	}
	for _, key := range rivals(reg, path) {
		doc.Remove(schema.Path("dataset", key))
	}
	return nil
}

// strangers returns the overrides of stages that neither the spec has nor an override makes.
func strangers(doc *schema.Document, sets, stages []string) (problems []schema.Problem) {
	for _, set := range sets {
		path, _, _ := strings.Cut(set, "=")
		rest, of := strings.CutPrefix(path, "stages.")
		id, _, setting := strings.Cut(rest, ".")
		if !of || !setting || slices.Contains(stages, id) || doc.Has(schema.Path("stages", id)+".kind") {
			continue
		}
		problems = append(problems, schema.Problem{File: "--set " + path,
			Found:    fmt.Sprintf("a setting of %q, and there is no such stage", id),
			Accepted: "one of a stage of the spec: " + strings.Join(stages, ", "), Hint: schema.DidYouMean(id, stages)})
	}
	return problems
}

func asProblem(path string, err error) schema.Problem {
	var p schema.Problem
	if errors.As(err, &p) {
		return p
	}
	return schema.Problem{File: "--set " + path, Hint: err.Error()}
}

type parser struct {
	src      Input
	doc      *schema.Document
	reg      *pipeline.Registry
	known    *known
	stages   []string // of the spec, before a trial takes one out
	problems []schema.Problem
	misnamed bool // a stage has a name by which no other can read it
}

func (p *parser) add(ps ...schema.Problem) { p.problems = append(p.problems, ps...) }

// problemAt adds a problem at a path of the spec.
func (p *parser) problemAt(path, found, accepted, hint string) {
	problem := p.doc.Problem(path, accepted, hint)
	if found != "" {
		problem.Found = found
	}
	p.add(problem)
}

func (p *parser) spec() *Spec {
	file := specFile{Spec: defaults()}
	p.add(p.doc.Decode("", &file)...)
	spec := &file.Spec
	spec.doc, spec.Experiment = p.doc, file.Experiment
	spec.Experiment.settle()
	p.source(spec)
	for _, id := range p.doc.Keys("stages") {
		spec.Stages = append(spec.Stages, p.stage(id))
	}
	spec.Dataset.Domain.columns = p.domain(&spec.Dataset)
	p.rules(spec)
	spec.badSource = spec.Dataset.Columns() == nil || p.wrong("dataset.domain", "dataset.privacy_unit",
		"dataset.rows_public")
	spec.badTerms = p.wrong("privacy.epsilon", "privacy.adjacency", "privacy.claims")
	fillInputs(spec.Stages)
	p.fillTargets(spec.Stages)
	return spec
}

func defaults() Spec {
	return Spec{Weir: 1, Dataset: Dataset{Version: "1"}, Privacy: Privacy{Delta: 1e-5, Accountant: account.Default,
		Claims: pipeline.ClaimsProven, KeepNoiseKey: true}}
}

// stage reads one stage. One whose kind or whose inputs are unknown has no settings.
func (p *parser) stage(id string) Stage {
	path := schema.Path("stages", id)
	name := p.doc.Text(path + ".kind")
	kind := p.reg.Kind(name)
	switch {
	case id == "" || id == pipeline.DatasetID || strings.ContainsAny(id, "./\\ #") || !plaintext.Printable(id):
		p.problemAt(path, fmt.Sprintf("the stage name %q", id),
			"a name without dot, slash, blank, # or control character, other "+
				"than dataset", "")
		p.misnamed = true
	case !IsStageName(id):
		p.problemAt(path, fmt.Sprintf("the stage name %q", id), stageNames, "")
		p.misnamed = true
	case !p.doc.Has(path + ".kind"):
		p.problemAt(path, "", "a mapping with kind: one of "+strings.Join(p.reg.Names(), ", "), "")
	case kind == nil:
		p.problemAt(path+".kind", "", "one of "+strings.Join(p.reg.Names(), ", "), schema.DidYouMean(name, p.reg.Names()))
	default:
		return p.settings(id, path, kind)
	}
	return p.unread(id, path, name)
}

// unread returns a stage whose kind is unknown. It reads what from names, in any form, so that a dangling name is
// reported beside the kind.
func (p *parser) unread(id, path, name string) Stage {
	in, names := pipeline.Port{Name: "in", Many: true, Optional: true}, refList{}
	s := Stage{ID: id, Kind: &pipeline.Kind{Name: name, In: []pipeline.Port{in}, Out: []pipeline.Port{{}}},
		wrong: []string{path}}
	if at := path + "." + in.Key(); p.doc.Has(at) {
		p.add(p.doc.Decode(at, &names)...)
	}
	for _, name := range names {
		s.Inputs = map[string][]pipeline.Ref{in.Name: append(s.Inputs[in.Name], pipeline.ParseRef(name))}
	}
	return s
}

const stageNames = "letters, digits, _ and -, not - first, of at most 64 bytes together"

// IsStageName reports whether files can be named after a stage on any system: what leaves a
// run is.
func IsStageName(id string) bool {
	for i, r := range id {
		if r == '-' && i == 0 || r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

func (p *parser) settings(id, path string, kind *pipeline.Kind) Stage {
	ports, s := portStruct(kind), Stage{ID: id, Kind: kind, Stage: kind.New()}
	problems := append(readDates(p.doc, path), p.doc.Decode(path, &stageHead{}, ports.Interface(), s.Stage)...)
	for _, problem := range problems {
		if instead, known := kind.Elsewhere[strings.TrimPrefix(problem.Path, path+".")]; known &&
			problem.Found == schema.UnknownKey {
			problem.Hint = instead
		}
		p.add(problem)
		s.wrong = append(s.wrong, problem.Path)
	}
	s.Inputs = readPorts(kind, ports)
	p.single(path, &s)
	if len(s.wrong) > 0 && !s.defaulted(path) {
		s.Stage = nil
	}
	return s
}

// single refuses a list of stages where a port reads one.
func (p *parser) single(path string, s *Stage) {
	for _, port := range s.Kind.In {
		if n := len(s.Inputs[port.Name]); n > 1 && !port.Many {
			at := path + "." + port.Key()
			p.problemAt(at, fmt.Sprintf("a list of %d stages", n), "one stage", "")
			s.wrong = append(s.wrong, at)
		}
	}
}

// wrong tells whether one of the settings at the paths, or what they lie in, has a
// problem. An unknown key may have been meant for any setting beside it.
func (p *parser) wrong(paths ...string) bool {
	for _, problem := range p.problems {
		where := problem.Path
		if problem.Found == schema.UnknownKey {
			where = parent(where)
		}
		for _, path := range paths {
			if related(where, path) {
				return true
			}
		}
	}
	return false
}

func parent(path string) string {
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return ""
	}
	return path[:i]
}
