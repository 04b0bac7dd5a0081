package spec

import (
	"weir/privacy"
	"weir/schema"
)

// Canonical is the spec as YAML with every default filled in and the domain in
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

// digest is of what one run does. The experiment says which other runs there are: with
// more values, cells or repeats, those that were made before are the same runs.
func (p *parser) digest(s *Spec) {
	text, err := s.canonical(nil)
	if err != nil {
		p.at("", "without a canonical form", "writable as YAML", err.Error())
		return
	}
	s.Digest = privacy.Digest(text)
}
