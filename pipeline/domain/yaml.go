package domain

import (
	"bytes"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// YAML is a domain as dataset.domain of a spec reads it; bounds of dates are dates.
func (d *Domain) YAML() ([]byte, error) {
	text, err := schema.Canonical(d)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	dated := false
	for i := range d.Columns {
		if c := &d.Columns[i]; c.Type == Date && c.Bounds != nil {
			dated = true
			for k, n := range boundsOf(&doc, i) {
				if text := c.Show(c.Bounds[k]); spells(text, c.Bounds[k]) {
					n.Tag, n.Value = "!!timestamp", text
				}
			}
		}
	}
	if !dated {
		return text, nil
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err = e.Encode(&doc)
	return out.Bytes(), err
}

// spells tells whether a text is the date of a day, which part of a day has none of.
func spells(text string, day float64) bool {
	is, ok := ParseDay(text)
	return ok && is == day
}

// boundsOf are the two nodes of the bounds of column i.
func boundsOf(doc *yaml.Node, i int) []*yaml.Node {
	column := valueOf(doc.Content[0], "columns").Content[i]
	return valueOf(column, "bounds").Content
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}
