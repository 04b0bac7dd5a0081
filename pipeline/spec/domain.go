package spec

import (
	"fmt"
	"math"
	"strings"

	"weir/internal/plain"
	"weir/pipeline"
	"weir/schema"
)

// ParseDomain reads the YAML of a domain. The error is of type Diagnostics.
func ParseDomain(file string, data []byte) (*pipeline.Domain, error) {
	d, problems := parseDomain(file, data)
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return d, nil
}

func parseDomain(file string, data []byte) (*pipeline.Domain, []schema.Problem) {
	doc, problems := schema.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	if other := foreign(file, doc, "a domain", "columns"); other != nil {
		return nil, other
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return decodeDomain(doc, "")
}

func (p *parser) domain(demoRows int64) *pipeline.Domain {
	const path = "dataset.domain"
	if len(p.doc.Keys(path)) > 0 {
		d, problems := decodeDomain(p.doc, path)
		p.add(problems...)
		return d
	}
	name, demo := p.doc.Text(path), p.doc.Text("dataset.demo")
	if !p.doc.Has(path) && p.wrong(path, "dataset.demo") {
		return nil
	}
	if !p.doc.Has(path) && demo != "" {
		return p.demoDomain(demo, demoRows)
	}
	if name == "" || p.src.Read == nil {
		p.at(path, "", "the file of a domain, or the domain itself: {columns: [...]}", "")
		return nil
	}
	data, err := p.src.Read(name)
	if err != nil {
		p.at(path, "", "a readable file", err.Error())
		return nil
	}
	d, problems := parseDomain(name, data)
	p.add(problems...)
	return d
}

func (p *parser) demoDomain(name string, rows int64) *pipeline.Domain {
	d, err := p.src.Demo(name, rows)
	if err != nil {
		p.at("dataset.demo", "", "a built-in generator", err.Error())
	}
	return d
}

func decodeDomain(doc *schema.Document, path string) (*pipeline.Domain, []schema.Problem) {
	d := &pipeline.Domain{}
	problems := readDates(doc, path)
	if problems = append(problems, doc.Decode(path, d)...); len(problems) > 0 {
		return nil, problems
	}
	c := domainCheck{doc: doc, path: path, seen: map[string]bool{}, unknown: map[string]bool{}}
	if len(d.Columns) == 0 {
		c.add("columns", "empty", "at least one column")
	}
	for i := range d.Columns {
		before := len(c.problems)
		c.column(i, &d.Columns[i])
		if len(c.problems) > before {
			c.unknown[d.Columns[i].Name] = true
		}
	}
	c.decide(d)
	c.constraints(d)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return d, nil
}

type domainCheck struct {
	doc      *schema.Document
	path     string
	seen     map[string]bool
	unknown  map[string]bool // columns with a problem
	problems []schema.Problem

	undecided []int // columns that nobody has decided on
}

// mostNamed undecided columns are named.
const mostNamed = 8

// decide says once which columns are undecided: a draft has them all.
func (c *domainCheck) decide(d *pipeline.Domain) {
	if len(c.undecided) == 0 {
		return
	}
	var names []string
	for _, i := range c.undecided[:min(len(c.undecided), mostNamed)] {
		names = append(names, d.Columns[i].Name)
	}
	which := strings.Join(names, ", ")
	if more := len(c.undecided) - len(names); more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	c.add(fmt.Sprintf("columns[%d].source", c.undecided[0]),
		fmt.Sprintf("UNDECIDED in %d of %d columns (%s): bounds or categories were read from the data and nobody confirmed them (W01, W02)", len(c.undecided), len(d.Columns), which),
		"public in each, after a person has replaced them by what is publicly known, or bounds left out for a stage of kind dp_bounds, and categories: private for one of kind dp_categories")
}

func (c *domainCheck) add(path, found, accepted string) {
	if c.path != "" {
		path = c.path + "." + path
	}
	p := c.doc.Problem(path, accepted, "")
	p.Found = found
	c.problems = append(c.problems, p)
}

func (c *domainCheck) column(i int, col *pipeline.Column) {
	path := fmt.Sprintf("columns[%d]", i)
	if c.seen[col.Name] {
		c.add(path+".name", fmt.Sprintf("%q, a duplicate column", col.Name), "unique")
	}
	c.seen[col.Name] = true
	if col.Name == "" || !plain.Printable(col.Name) {
		c.add(path+".name", fmt.Sprintf("%q", col.Name), "a name, of "+plain.Accepted)
	}
	col.Nullable = col.Nullable || len(col.Missing) > 0 // a spelling of missing says that values may be
	if strings.HasPrefix(col.Name, "weir.") {
		c.add(path+".name", fmt.Sprintf("%q", col.Name), "a name that does not begin with weir.")
	}
	if col.Source == "" {
		col.Source = "public"
	}
	if col.Source == pipeline.Undecided {
		c.undecided, c.unknown[col.Name] = append(c.undecided, i), true
	}
	c.values(path, col)
}

// private makes a column whose list is no public knowledge what it is until a stage has
// released one: an open set of values.
func (c *domainCheck) private(path string, col *pipeline.Column) {
	if col.Type != pipeline.Categorical && col.Type != pipeline.Text {
		c.add(path+".categories", "private for type "+string(col.Type), "private for type categorical alone: what a stage releases has no order, and is as long as it is")
		return
	}
	col.Type = pipeline.Text
}

func (c *domainCheck) values(path string, col *pipeline.Column) {
	if col.Categories != nil && len(col.Categories) == 0 {
		c.private(path, col)
		c.spellings(path, col)
		return
	}
	if col.Type == pipeline.Boolean && len(col.Categories) == 0 {
		col.Categories = pipeline.Categories{"0", "1"}
	}
	switch {
	case col.Type.Coded() && len(col.Categories) == 0:
		c.add(path+".categories", "missing", "the list of all values, publicly known (W02), or private and a stage of kind dp_categories")
	case !col.Type.Coded() && len(col.Categories) > 0:
		c.add(path+".categories", "given for type "+string(col.Type), "left out, or the type categorical, ordinal or boolean")
	case col.Type == pipeline.Boolean && len(col.Categories) != 2:
		c.add(path+".categories", fmt.Sprintf("a list of %d values", len(col.Categories)), "two values for type boolean")
	}
	if col.Bounds != nil && (col.Type.Coded() || col.Type == pipeline.Text) {
		c.add(path+".bounds", "given for type "+string(col.Type), "left out, or given for a numeric type")
	}
	c.bounds(path+".bounds", col)
	c.spellings(path, col)
}

// bounds refuses an empty range, and ends that no value of the column can be.
func (c *domainCheck) bounds(path string, col *pipeline.Column) {
	b := col.Bounds
	if b == nil || col.Type.Coded() || col.Type == pipeline.Text {
		return
	}
	found := fmt.Sprintf("[%s, %s]", col.Show(b[0]), col.Show(b[1]))
	switch {
	case !(b[0] < b[1]):
		c.add(path, found, "[least, greatest], the least below the greatest")
	case col.Type == pipeline.Integer && (b[0] != math.Trunc(b[0]) || b[1] != math.Trunc(b[1])):
		c.add(path, found, "whole numbers for type integer")
	case col.Type == pipeline.Date && (b[0] < pipeline.FirstDay || b[1] > pipeline.LastDay):
		c.add(path, found, fmt.Sprintf("days since 1970-01-01 inside [%d, %d], the years 0 to 9999", pipeline.FirstDay, pipeline.LastDay))
	}
}

// spellings refuses a value that is listed twice or is both a category and missing.
func (c *domainCheck) spellings(path string, col *pipeline.Column) {
	listed := map[string]bool{}
	for i, v := range col.Categories {
		if listed[v] {
			c.add(fmt.Sprintf("%s.categories[%d]", path, i), fmt.Sprintf("%q, a duplicate category", v), "listed once")
		}
		listed[v] = true
		if !plain.Printable(v) {
			c.add(fmt.Sprintf("%s.categories[%d]", path, i), fmt.Sprintf("%q", v), plain.Accepted)
		}
	}
	for i, v := range col.Missing {
		if listed[v] {
			c.add(fmt.Sprintf("%s.missing[%d]", path, i), fmt.Sprintf("%q, which is also a category", v), "either a category or a spelling of missing")
		}
	}
}
