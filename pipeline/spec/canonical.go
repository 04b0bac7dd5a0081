package spec

import (
	"weir/pipeline"
	"weir/privacy/digest"
	"weir/schema"
)

// Canonical is the spec as YAML with every default filled in and the domain in
// line. Comments, key order and layout of the source do not change it.
func (s *Spec) Canonical() ([]byte, error) {
	stages := schema.Ordered[schema.Merged]{}
	for _, st := range s.Stages {
		stages = append(stages, schema.Entry[schema.Merged]{Name: st.ID, Value: schema.Merged{
			stageHead{st.Kind.Name}, writePorts(st.Kind, st.Inputs).Interface(), st.Stage}})
	}
	dataset := canonicalDataset{s.Dataset, s.Dataset.columns}
	return schema.Canonical(canonicalSpec{s.Weir, s.Name, dataset, s.Privacy, s.Seed, stages, s.Experiment})
}

type canonicalSpec struct {
	Weir       int                           `yaml:"weir"`
	Name       string                        `yaml:"name"`
	Dataset    canonicalDataset              `yaml:"dataset"`
	Privacy    Privacy                       `yaml:"privacy"`
	Seed       uint64                        `yaml:"seed"`
	Stages     schema.Ordered[schema.Merged] `yaml:"stages"`
	Experiment *Experiment                   `yaml:"experiment,omitempty"`
}

type canonicalDataset struct {
	Dataset
	columns *pipeline.Domain
}

// MarshalYAML replaces the name of the domain's file by what it says.
func (d canonicalDataset) MarshalYAML() (any, error) {
	return schema.Merged{struct {
		File        string           `yaml:"file,omitempty"`
		Demo        string           `yaml:"demo,omitempty"`
		DemoRows    int64            `yaml:"demo_rows,omitempty"`
		CSV         *pipeline.CSV    `yaml:"csv,omitempty"`
		Domain      *pipeline.Domain `yaml:"domain"`
		Version     schema.Text      `yaml:"version"`
		PrivacyUnit pipeline.Unit    `yaml:"privacy_unit"`
		RowsPublic  int64            `yaml:"rows_public,omitempty"`
		Budget      *pipeline.Budget `yaml:"budget,omitempty"`
		Ledger      string           `yaml:"ledger,omitempty"`
	}{d.File, d.Demo, d.DemoRows, d.CSV, d.columns, d.Version, d.PrivacyUnit, d.RowsPublic, d.Budget, d.Ledger}}, nil
}

func (p *parser) digest(s *Spec) {
	text, err := s.Canonical()
	if err != nil {
		p.at("", "without a canonical form", "writable as YAML", err.Error())
		return
	}
	s.Digest = digest.Of(text)
}
