package spec

import (
	"strconv"

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
// them, and what the file says as it is. Neither needs to be valid beyond its form. Other files are refused: nothing is
// known of their order. The error is of type Diagnostics.
func (f *Formatter) Format(file string, data []byte) ([]byte, error) {
	settings := f.spec
	switch doc, _ := schema.Parse(file, data); {
	case doc == nil: // Format says why
	case doc.Has("columns[0].name"):
		settings = f.domain
	case !tellsSpec(doc):
		return nil, diagnostics([]schema.Problem{{File: file, Line: 1, Column: 1, Found: "neither a spec nor a domain",
			Accepted: "a mapping with a number at weir, settings at dataset, or columns that have names"}})
	}
	text, problems := schema.Format(file, data, settings)
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return text, nil
}

// tellsSpec reports whether a document is a spec, or the dataset of one alone. The record of a run has a text at weir.
func tellsSpec(doc *schema.Document) bool {
	if doc.Has("weir") {
		_, err := strconv.Atoi(doc.Text("weir"))
		return err == nil
	}
	return len(doc.Keys("dataset")) > 0
}
