// Package spec reads specs: YAML over the defaults of their kinds, checked, with the
// canonical form that their digest is of. It opens no data.
package spec

import (
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// Spec is a validated spec: every default filled in, every stage decoded.
type Spec struct {
	Weir       int              `yaml:"weir" json:"weir" required:"true" enum:"1" doc:"Version of the spec language."`
	Name       string           `yaml:"name" json:"name" required:"true" pattern:"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" doc:"Name of the pipeline; runs are kept under runs/NAME, where cache, datasets, ledgers and owners are names of weir's own."`
	Dataset    Dataset          `yaml:"dataset" json:"dataset" required:"true" doc:"The private table."`
	Privacy    Privacy          `yaml:"privacy" json:"privacy" required:"true" doc:"The budget, what it means, and how it is split."`
	Seed       uint64           `yaml:"seed" json:"seed" doc:"Public randomness only: weights, shuffles, sampling from the released model."`
	Write      Write            `yaml:"write,omitempty" json:"write,omitzero" doc:"How tables are written as files."`
	Stages     []Stage          `yaml:"-" json:"stages"`
	Experiment *Experiment      `yaml:"experiment,omitempty" json:"experiment,omitempty" doc:"Settings that its runs differ in, and repeats."`
	Readers    pipeline.Readers `yaml:"-" json:"-"` // of every kind that the program knows
	Off        []string         `yaml:"-" json:"-"` // stages that an override has taken out
	Digest     string           `yaml:"-" json:"-"` // sha256 of the canonical form without the experiment: of what one run does

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
	Version     schema.Text      `yaml:"version" json:"version" minLength:"1" doc:"Version of the data, as its owner counts them, 1 by default: a new one when anything in the file has changed. The first charge binds a version to the content that was read, and other content under it is refused. Charges of all versions add up."`
	PrivacyUnit pipeline.Unit    `yaml:"privacy_unit" json:"privacy_unit" doc:"Whose presence is protected: each row, or all rows with the same value of a column."`
	RowsPublic  int64            `yaml:"rows_public,omitempty" json:"rows_public,omitempty" min:"1" doc:"The row count, where it is publicly known."`
	Budget      *pipeline.Budget `yaml:"budget,omitempty" json:"budget,omitempty" doc:"Cap on everything ever spent on this dataset, over all runs."`
	Ledger      string           `yaml:"ledger,omitempty" json:"ledger,omitempty" format:"path" doc:"Where the ledger of the dataset is kept; beside the file by default."`
}

// Columns is the resolved domain of the dataset.
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
	Epsilon      schema.Float       `yaml:"epsilon" json:"epsilon" required:"true" exclusiveMin:"0" doc:"Budget in nats; inf means no privacy and needs claims: none."`
	Delta        float64            `yaml:"delta" json:"delta" min:"0" max:"0.5" doc:"Probability with which epsilon may be exceeded; below one over the number of rows."`
	Adjacency    privacy.Adjacency  `yaml:"adjacency" json:"adjacency" required:"true" enum:"add_remove|replace_one" doc:"Which tables count as neighbours."`
	Accountant   string             `yaml:"accountant" json:"accountant" enum:"pld|rdp|zcdp|moments|advanced|basic" doc:"How charges are composed."`
	Claims       pipeline.Claims    `yaml:"claims" json:"claims" enum:"proven|published|none" doc:"Refuse what is not proven, or show a paper's number beside the proven one."`
	Split        map[string]float64 `yaml:"split,omitempty" json:"split,omitempty" doc:"Shares of epsilon by stage; they sum to 1."`
	KeepNoiseKey bool               `yaml:"keep_noise_key" json:"keep_noise_key" doc:"Keep the noise key in internal/, so that the owner can replay the run; without it nobody can subtract the noise."`
	Acknowledge  []string           `yaml:"acknowledge,omitempty" json:"acknowledge,omitempty" doc:"Audit rules whose warning is accepted, such as W33."`
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
	SpreadsheetSafe bool `yaml:"spreadsheet_safe" json:"spreadsheet_safe,omitempty" doc:"In CSV files, names and cells of text that a spreadsheet would compute (they begin with =, +, -, @, a tab or a carriage return and are no number) get an apostrophe in front, which is part of the cell to all other readers; false by default."`
}

// merges reports whether several units may share a value of their column once it is read:
// those that are no category are all missing. Where units are exchanged, what shares a value
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
