package spec

import (
	"bytes"
	"fmt"
	"strconv"

	"gopkg.in/yaml.v3"

	"weir/pipeline"
	"weir/schema"
)

// readDates puts days since 1970-01-01 in place of the dates among the bounds of a
// domain. It returns a problem for each other text there.
func readDates(doc *schema.Document, path string) (problems []schema.Problem) {
	list := "columns"
	if path != "" {
		list = path + ".columns"
	}
	for i := 0; doc.Has(fmt.Sprintf("%s[%d]", list, i)); i++ {
		column := fmt.Sprintf("%s[%d]", list, i)
		date := pipeline.ColumnType(doc.Text(column+".type")) == pipeline.Date
		for k := range 2 {
			at := fmt.Sprintf("%s.bounds[%d]", column, k)
			text := doc.Text(at)
			if _, err := strconv.ParseFloat(text, 64); text == "" || err == nil {
				continue
			}
			accepted, day := "a number", 0.0
			if date {
				var ok bool
				if day, ok = pipeline.ParseDay(text); ok {
					doc.Replace(at, day)
					continue
				}
				accepted = "a date, as 2019-04-30"
			}
			problems = append(problems, doc.Problem(at, accepted, ""))
			doc.Replace(at, day) // told once
		}
	}
	return problems
}

// WriteDomain is the YAML of a domain, as ParseDomain reads it; bounds of dates are dates.
func WriteDomain(d *pipeline.Domain) ([]byte, error) {
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
		if c := &d.Columns[i]; c.Type == pipeline.Date && c.Bounds != nil {
			dated = true
			for k, n := range boundsOf(&doc, i) {
				n.Tag, n.Value = "!!timestamp", c.Show(c.Bounds[k])
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
