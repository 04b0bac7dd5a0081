package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"weir/pipeline/domain"
	"weir/schema"
)

// judge holds a question that came with its answers to the checks of a spec's questions: it must be what they make
// of it over the least table that its facts describe.
func (a Asked) judge(ps *schema.Problems, at string) {
	before := len(*ps)
	if a.long(ps, at); len(*ps) > before {
		return
	}
	d := a.table()
	for _, p := range domain.Check(d, domain.Released) {
		ps.Add(at, fmt.Sprintf("about a table whose %s is %s", p.Path, p.Found), "about one whose "+p.Path+" is "+p.Accepted)
	}
	if len(*ps) > before {
		return
	}
	made := Asked{Question: a.Question}
	if a.Ask == Covariance {
		made = CheckCovariance(ps, at+".columns", a.Columns, d, max(a.Rows, 0))
	} else {
		made.check(ps, at, d, max(a.Rows, 0))
	}
	if len(*ps) == before {
		a.agrees(ps, at, made)
	}
}

// table returns the least domain over which the question can have been asked: the columns that it names, as its
// facts and conditions describe them.
func (a Asked) table() *domain.Domain {
	d := &domain.Domain{}
	for i, name := range a.Columns {
		addColumn(d, a.summed(i, name))
	}
	if a.Column != "" {
		addColumn(d, a.about())
	}
	for _, c := range a.Where {
		c.describe(d)
	}
	if len(d.Columns) == 0 { // a count of all rows
		d.Columns = []domain.Column{{Name: "any", Type: domain.Numeric}}
	}
	return d
}

// addColumn adds a column that is not there yet.
func addColumn(d *domain.Domain, c domain.Column) {
	if d.Index(c.Name) < 0 {
		d.Columns = append(d.Columns, c)
	}
}

// summed returns column i of a covariance.
func (a Asked) summed(i int, name string) domain.Column {
	if i < len(a.Cells) && a.Cells[i] != "" {
		return domain.Column{Name: name, Type: domain.Categorical, Categories: []string{"not " + a.Cells[i], a.Cells[i]}}
	}
	c := domain.Column{Name: name, Type: domain.Numeric}
	if i < len(a.Bounds) {
		c.Bounds = &a.Bounds[i]
	}
	return c
}

// about returns the column of any other question.
func (a Asked) about() domain.Column {
	c := domain.Column{Name: a.Column, Type: domain.Numeric, Nullable: a.Missing, Step: a.Step}
	switch {
	case a.Ask == Histogram && len(a.Edges) == 0:
		c.Type, c.Categories = domain.Categorical, slices.Clone(a.Cells)
		if a.Missing && len(a.Cells) > 0 {
			c.Categories = c.Categories[:len(a.Cells)-1]
		}
	case len(a.Bounds) > 0:
		c.Bounds = &a.Bounds[0]
	}
	return c
}

// describe adds what a condition tells of its column.
func (c Condition) describe(d *domain.Domain) {
	known := d.Column(c.Column)
	switch {
	case known == nil && len(c.In) > 0:
		addColumn(d, domain.Column{Name: c.Column, Type: domain.Categorical})
		known = d.Column(c.Column)
	case known == nil:
		addColumn(d, domain.Column{Name: c.Column, Type: domain.Numeric})
		return
	case !known.Type.Coded():
		return
	}
	seen := map[string]bool{}
	for _, v := range known.Categories {
		seen[v] = true
	}
	for _, v := range c.In {
		if !seen[v] {
			known.Categories = append(known.Categories, v)
		}
		seen[v] = true
	}
}

// agrees wants the facts that a check made of the question.
func (a Asked) agrees(ps *schema.Problems, at string, made Asked) {
	const most = 60
	found, want := facts(a), facts(made)
	for _, key := range slices.Sorted(maps.Keys(found)) {
		switch {
		case string(found[key]) == string(want[key]):
		case want[key] == nil:
			ps.Add(at+"."+key, fmt.Sprintf("%.*s for a %s", most, found[key], a.Ask), "left out")
		default:
			ps.Add(at+"."+key, fmt.Sprintf("%.*s", most, found[key]), fmt.Sprintf("%.*s", most, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if found[key] == nil {
			ps.Add(at+"."+key, "missing", fmt.Sprintf("%.*s", most, want[key]))
		}
	}
}

// facts returns a question as it is written, by key.
func facts(a Asked) (byKey map[string]json.RawMessage) {
	whole, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(whole, &byKey)
	}
	if err != nil {
		panic(err) // numbers from JSON, or made of them
	}
	return byKey
}
