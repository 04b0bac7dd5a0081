package spec

import (
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Formatter lays out specs and the files of domains.
type Formatter struct{ spec, domain *schema.Schema }

// NewFormatter returns a formatter that knows the settings of the kinds of reg.
func NewFormatter(reg *pipeline.Registry) (*Formatter, error) {
	settings, err := Schema(reg)
	if err != nil {
		return nil, err
	}
	columns, err := schema.Of(&domain.Domain{})
	return &Formatter{settings, columns}, err
}

// Format lays out a spec, or the file of a domain, anew (schema.Format): settings in the order in which Canonical has
// them, and what the file says as it is. Neither needs to be valid beyond its form, but other files are refused: nothing
// is known of their order. The error is of type Diagnostics.
func (f *Formatter) Format(file string, data []byte) ([]byte, error) {
	settings := f.spec
	switch doc, _ := schema.Parse(file, data); {
	case doc == nil: // Format says why
	case doc.Has("columns"):
		settings = f.domain
	case !doc.Has("weir") && !doc.Has("dataset"):
		return nil, diagnostics([]schema.Problem{{File: file, Line: 1, Column: 1,
			Found: "no spec and no domain", Accepted: "a mapping with the key weir, dataset or columns"}})
	}
	text, problems := schema.Format(file, data, settings)
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return text, nil
}
