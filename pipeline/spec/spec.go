// Package spec reads specs: YAML over the defaults of their kinds, checked, with the
// canonical form that their digest is of. It opens no data.
package spec

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// Spec is a validated spec: every default filled in, every stage decoded.
type Spec struct {
	Weir       int              `yaml:"weir" json:"weir" required:"true" enum:"1" doc:"Version of the spec language."`
	Name       string           `yaml:"name" json:"name" required:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" doc:"Name of the pipeline; runs are kept under runs/NAME, where cache, datasets, ledgers and owners are names of weir's own." example:"cardio-2026"`
	Dataset    Dataset          `yaml:"dataset" json:"dataset" required:"true" doc:"The private table."`
	Privacy    Privacy          `yaml:"privacy" json:"privacy" required:"true" doc:"The budget, what it means, and how it is split."`
	Seed       uint64           `yaml:"seed" json:"seed" doc:"Public randomness only: weights, shuffles, sampling from the released model." example:"7"`
	Write      Write            `yaml:"write,omitempty" json:"write,omitzero" doc:"How tables are written as files."`
	Stages     []Stage          `yaml:"-" json:"stages"`
	Experiment *Experiment      `yaml:"-" json:"experiment,omitempty"`
	Readers    pipeline.Readers `yaml:"-" json:"-"` // of every kind that the program knows
	Off        []string         `yaml:"-" json:"-"` // stages that an override has taken out
	Notes      []string         `yaml:"-" json:"-"` // what overrides change beyond what they say: no part of the spec
	Digest     string           `yaml:"-" json:"-"` // sha256 of the canonical form without the experiment: of what one run does

	from                *origin
	doc                 *schema.Document // that it was read from; nil for one that was not
	badSource, badTerms bool             // something is wrong with the dataset, with the privacy terms
}

// Dataset says where the private table is and what is publicly known of it. Where it is are settings of its source,
// which come first in the mapping.
type Dataset struct {
	Source   pipeline.Source   `yaml:"-" json:"-"`
	Declared pipeline.Declared `yaml:"-" json:"-"` // of the source

	CSV         *pipeline.CSV    `yaml:"csv,omitempty" json:"csv,omitempty" doc:"How the text file is written."`
	Domain      namedDomain      `yaml:"domain,omitempty" json:"-" doc:"File of the domain, relative to the spec, or the domain itself; a generator brings its own."`
	Version     schema.Text      `yaml:"version" json:"version" minLength:"1" doc:"Version of the data, as its owner counts them, 1 by default: a new one when anything in the file has changed. The first charge binds a version to the content that was read, and other content under it is refused. Charges of all versions add up." example:"2"`
	PrivacyUnit pipeline.Unit    `yaml:"privacy_unit" json:"privacy_unit" doc:"Whose presence is protected: each row, or all rows with the same value of a column." example:"{\"column\": \"patient_id\", \"max_rows\": 4}"`
	RowsPublic  int64            `yaml:"rows_public,omitempty" json:"rows_public,omitempty" min:"1" doc:"The row count, where it is publicly known." example:"70000"`
	Budget      *pipeline.Budget `yaml:"budget,omitempty" json:"budget,omitempty" doc:"Cap on everything ever spent on this dataset, over all runs." example:"{\"epsilon\": 10, \"delta\": 1e-5}"`
	Ledger      string           `yaml:"ledger,omitempty" json:"ledger,omitempty" format:"path" doc:"Where the ledger of the dataset is kept; beside the file by default."`
}

// Columns returns the resolved domain of the dataset.
func (d *Dataset) Columns() *domain.Domain { return d.Domain.columns }

// namedDomain is the name of a domain's file or the domain itself; the canonical form
// holds what it says.
type namedDomain struct {
	schema.Raw
	columns *domain.Domain
}

// MarshalYAML gives the resolved domain.
func (d namedDomain) MarshalYAML() (any, error) { return d.columns, nil }

// Privacy is the budget of a spec and what it means.
type Privacy struct {
	Epsilon      schema.Float       `yaml:"epsilon" json:"epsilon" required:"true" exclusiveMin:"0" doc:"Budget in nats; inf means no privacy and needs claims: none." example:"1"`
	Delta        float64            `yaml:"delta" json:"delta" min:"0" max:"0.5" doc:"Probability with which epsilon may be exceeded; below one over the number of rows." example:"1e-6"`
	Adjacency    privacy.Adjacency  `yaml:"adjacency" json:"adjacency" required:"true" enum:"add_remove|replace_one" doc:"Which tables count as neighbours."`
	Accountant   string             `yaml:"accountant" json:"accountant" enum:"pld|rdp|zcdp|moments|advanced|basic" doc:"How charges are composed."`
	Claims       pipeline.Claims    `yaml:"claims" json:"claims" enum:"proven|published|none" doc:"Refuse what is not proven, or show a paper's number beside the proven one."`
	Split        map[string]float64 `yaml:"split,omitempty" json:"split,omitempty" doc:"Shares of epsilon by stage; they sum to 1." example:"{\"detector\": 0.1, \"train\": 0.9}"`
	KeepNoiseKey bool               `yaml:"keep_noise_key" json:"keep_noise_key" doc:"Keep the noise key in internal/, so that the owner can replay the run; without it nobody can subtract the noise."`
	Acknowledge  map[string]string  `yaml:"acknowledge,omitempty" json:"acknowledge,omitempty" doc:"Warnings that are accepted, by audit rule, each with the reason why, such as {W33: the paper has this epsilon}; the reasons are printed in PRIVACY.md." example:"{\"W25\": \"id numbers rows, not persons\"}"`
}

// Stage is one entry of stages, in file order.
type Stage struct {
	ID     string
	Kind   *pipeline.Kind
	Inputs map[string][]pipeline.Ref // by input port
	Stage  pipeline.Stage            // settings decoded over the kind's defaults
	wrong  []string                  // paths of settings with problems
}

// Write says how tables are written as files.
type Write struct {
	SpreadsheetSafe bool `yaml:"spreadsheet_safe" json:"spreadsheet_safe,omitempty" doc:"In CSV files, names and cells of text that a spreadsheet would compute (they begin with =, +, -, @, a tab or a carriage return and are not a number) get an apostrophe in front, which is part of the cell to all other readers; false by default."`
}

// merges reports whether several units may share a value of their column once it is read:
// those that are not a category are all missing. Where units are exchanged, what shares a value
// cannot draw for itself (Column.OfUnit).
func (d *Dataset) merges(unit *domain.Column) bool {
	return unit.Type.Coded() && d.CSV != nil && d.CSV.Unknown == "missing"
}

// Header returns the header of the dataset: private, rows(1) or rows(max_rows).
func (s *Spec) Header() pipeline.Header {
	h := pipeline.Header{Class: pipeline.Private, Stability: s.Dataset.PrivacyUnit.Stability(), OwnRows: true,
		Rows: s.Dataset.RowsPublic,
		Terms: pipeline.Terms{Adjacency: s.Privacy.Adjacency, Claims: s.Privacy.Claims,
			NoPrivacy: s.Privacy.Epsilon.Infinite(),
			Unit:      s.Dataset.PrivacyUnit, Delta: s.Privacy.Delta}}
	d := s.Dataset.Columns()
	if unit := s.Dataset.PrivacyUnit.Column; unit != "" {
		h.Rows = 0 // how many rows are dropped beyond max_rows depends on the data
		d = d.Clone()
		c := d.Column(unit)
		c.FromUnit = unit
		c.OfUnit = s.Privacy.Adjacency == privacy.AddRemove || !s.Dataset.merges(c)
	}
	return pipeline.TableHeader(d, h)
}

// Canonical returns the spec as YAML with every default filled in and the domain in
// line. Comments, key order and layout of the source do not change it.
func (s *Spec) Canonical() ([]byte, error) { return s.canonical(s.Experiment) }

func (s *Spec) canonical(e *Experiment) ([]byte, error) {
	stages := schema.Ordered[schema.Merged]{}
	for _, st := range s.Stages {
		stages = append(stages, schema.Entry[schema.Merged]{Name: st.ID, Value: schema.Merged{
			stageHead{st.Kind.Name}, writePorts(st.Kind, st.Inputs).Interface(), st.Stage}})
	}
	return schema.Canonical(canonicalSpec{s.Weir, s.Name, schema.Merged{s.Dataset.Source, datasetFields(s.Dataset)},
		s.Privacy, s.Seed, s.Write, stages, e})
}

type canonicalSpec struct {
	Weir       int                           `yaml:"weir"`
	Name       string                        `yaml:"name"`
	Dataset    schema.Merged                 `yaml:"dataset"`
	Privacy    Privacy                       `yaml:"privacy"`
	Seed       uint64                        `yaml:"seed"`
	Write      Write                         `yaml:"write"`
	Stages     schema.Ordered[schema.Merged] `yaml:"stages"`
	Experiment *Experiment                   `yaml:"experiment,omitempty"`
}

// digest sets the digest of what one run does. The experiment says which other runs there are: with
// more values, cells or repeats, those that were made before are the same runs.
func (p *parser) digest(s *Spec) {
	text, err := s.canonical(nil)
	if err != nil {
		p.problemAt("", "without a canonical form", "writable as YAML", err.Error())
		return
	}
	s.Digest = privacy.Digest(text)
}

// Configure makes a stage of kind k from texts and lists of texts, for callers without a spec. A
// setting that the kind does not have is left out.
func Configure(k *pipeline.Kind, settings map[string]any) (pipeline.Stage, error) {
	stage := k.New()
	shape, err := schema.Derive(stage)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, s := range shape.Settings() {
		if value, ok := settings[s.Path]; ok {
			line, err := json.Marshal(value) // which is YAML too
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "%s: %s\n", s.Path, line)
		}
	}
	if text.Len() == 0 {
		text.WriteString("{}")
	}
	doc, problems := schema.Parse(k.Name, []byte(text.String()))
	if len(problems) == 0 {
		problems = doc.Decode("", stage)
	}
	return stage, schema.Join(problems)
}

// Schema returns the JSON Schema of a spec over the kinds of reg.
func Schema(reg *pipeline.Registry) (*schema.Schema, error) {
	file := specFile{Spec: defaults()}
	spec, err := schema.Derive(&file)
	if err != nil {
		return nil, err
	}
	kinds := map[string]*schema.Schema{}
	for _, name := range reg.Names() {
		kinds[name], err = settingsSchema(reg.Kind(name))
		if err != nil {
			return nil, err
		}
	}
	union, err := schema.Union("kind", kinds)
	if err != nil {
		return nil, err
	}
	domain, err := schema.Of(&domain.Domain{})
	if err != nil {
		return nil, err
	}
	spec, err = spec.With([]string{"stages", "*"}, union)
	if err != nil {
		return nil, err
	}
	dataset, err := datasetSchema(reg)
	if err != nil {
		return nil, err
	}
	if spec, err = spec.With([]string{"dataset"}, dataset); err != nil {
		return nil, err
	}
	return spec.With([]string{"dataset", "domain"}, schema.AnyOf(schema.PathSchema(), domain))
}

// Addresses of the published schemas: SchemaStore's, with the version of the spec language. Nothing of weir asks for
// them, and they stay while the language does (docs/editors.md).
const (
	pipelineID = "https://json.schemastore.org/weir-pipeline-1.json"
	domainID   = "https://json.schemastore.org/weir-domain-1.json"
)

// Published returns the JSON Schema that editors check by: of a spec of these kinds ("pipeline") or of a domain
// ("domain").
func Published(what string, reg *pipeline.Registry) ([]byte, error) {
	switch what {
	case "pipeline":
		doc, err := Schema(reg)
		if err != nil {
			return nil, err
		}
		return doc.Publish(pipelineID, "weir pipeline", "How a private table is cleaned, which private model learns it, how "+
			"the budget is split and how the result is judged.")
	case "domain":
		doc, err := schema.Of(&domain.Domain{})
		if err != nil {
			return nil, err
		}
		return doc.Publish(domainID, "weir domain", "What is publicly known of each column of a private table.")
	}
	return nil, fmt.Errorf("unknown schema %q, must be pipeline or domain", what)
}

// What is not known of a spec with problems, so that no further problem is reported
// that only follows from them.

// KnowsSource tells whether the header of the dataset is what the spec says.
func (s *Spec) KnowsSource() bool { return !s.badSource }

// KnowsTerms tells whether the privacy terms are what the spec says.
func (s *Spec) KnowsTerms() bool { return !s.badTerms }

// Sound tells whether nothing is wrong with the settings of a stage.
func (s *Stage) Sound() bool { return len(s.wrong) == 0 }

// Given tells whether the spec gives a value to a setting of a stage, named by its
// path in the stage, and nothing is wrong with it.
func (s *Spec) Given(stage *Stage, setting string) bool {
	path := schema.Path("stages", stage.ID) + "." + setting
	for _, wrong := range stage.wrong {
		if related(wrong, path) {
			return false
		}
	}
	return setting != "" && s.doc.Has(path)
}

// defaulted tells whether every setting with a problem has a default instead: none
// is required, and none an input.
func (s *Stage) defaulted(path string) bool {
	shape, err := StageSchema(s.Kind)
	if err != nil {
		return false
	}
	for _, setting := range shape.Settings() {
		for _, wrong := range s.wrong {
			if (setting.Required || s.Kind.InByKey(setting.Path) != nil) && related(wrong, path+"."+setting.Path) {
				return false
			}
		}
	}
	return true
}

// related tells whether one path lies at or below the other.
func related(a, b string) bool { return schema.Within(a, b) || schema.Within(b, a) }

// Unread tells whether the kind of a stage is unknown, and with it its ports.
func (s *Stage) Unread() bool { return s.Stage == nil && s.Kind.New == nil }

// Diagnostic is one reason why a spec does not compile, at its place in the
// spec: with a rule a refusal of privacy, without one a fault of the spec.
type Diagnostic struct {
	schema.Problem
	Stage string `json:"stage,omitempty"`
}

// Diagnostics is every reason at once.
type Diagnostics []Diagnostic

// Sort orders by place.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

func (ds Diagnostics) Error() string { return schema.Lines(ds) }

// Privacy reports whether all reasons are refusals of privacy or budget, which
// have an exit code of their own.
func (ds Diagnostics) Privacy() bool {
	for _, d := range ds {
		if d.Rule == "" {
			return false
		}
	}
	return len(ds) > 0
}

func diagnostics(ps []schema.Problem) Diagnostics {
	ds := make(Diagnostics, len(ps))
	for i, p := range ps {
		ds[i] = Diagnostic{Problem: p}
	}
	return ds
}

// RuleBudget marks refusals because the budget does not suffice.
const RuleBudget = "budget"

// Fault returns a diagnostic of the spec itself, at a path of it.
func (s *Spec) Fault(path, found, accepted, hint string) Diagnostic {
	d := Diagnostic{}
	if s.doc != nil {
		d.Problem = s.doc.Problem(path, "", "")
	}
	d.Path, d.Found, d.Accepted, d.Hint = path, found, accepted, hint
	return d
}

// Refusal returns a diagnostic of privacy at a path of the spec, found by looking at what the
// spec names.
func (s *Spec) Refusal(rule, stage, path, found, accepted, hint string) Diagnostic {
	d := s.Fault(path, found, accepted, hint)
	d.Rule, d.Stage = rule, stage
	return d
}
