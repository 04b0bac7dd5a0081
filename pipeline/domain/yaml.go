package domain

import (
	"bytes"

	"gopkg.in/yaml.v3"

	"weir/schema"
)

// YAML is a domain as dataset.domain of a spec reads it; bounds of dates and times are dates and times, and steps of times
// are words.
func (d *Domain) YAML() ([]byte, error) {
	text, err := schema.Canonical(d)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	spelled := false
	for i := range d.Columns {
		if c := &d.Columns[i]; c.Type.Calendar() {
			spelled = true
			c.spell(valueOf(doc.Content[0], "columns").Content[i])
		}
	}
	if !spelled {
		return text, nil
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err = e.Encode(&doc)
	return out.Bytes(), err
}

// spell puts words in place of the numbers of a calendar column.
func (c *Column) spell(column *yaml.Node) {
	for k, n := range valueOf(column, "bounds").Content {
		text := c.Show(c.Bounds[k])
		if is, ok := c.ReadValue(text); ok && is == c.Bounds[k] { // part of a day has no date
			n.Tag, n.Value = "!!str", text
			if c.Type == Date {
				n.Tag = "!!timestamp"
			}
		}
	}
	for word, seconds := range Steps() {
		if n := valueOf(column, "step"); c.Type.Moment() && seconds == c.Step {
			n.Tag, n.Value = "!!str", word
		}
	}
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}
