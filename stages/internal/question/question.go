// Package question holds questions to a table: a declared, checked list of counts, means,
// quantiles, histograms and covariances. The same question is asked exactly of a table
// that may be looked at, and with noise of one that may not: both tally whole numbers
// (tally.go), of which one changed row moves so many, and both read the
// answer off them (answer.go). What is released of them is a list of
// answers in one form (answers.go).
//
// A regression is a question too: a model of bounded columns as public facts (regression.go), the sums over
// rows that it comes down to (regression_fit.go), and what noisy sums say of its coefficients (posterior.go,
// coefficients.go).
package question

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// Unit is what a number of size 1 is in a tally: tallies are whole numbers, so that
// their sums are exact in any order and noise on them shows no low bits. A value is
// rounded to half a unit of its column's half range at most.
const Unit = 1 << 20

// What can be asked.
const (
	Count      = "count"
	Mean       = "mean"
	Quantile   = "quantile"
	Histogram  = "histogram"
	Covariance = "covariance"
)

// Question is one question of a spec, about the rows that meet all of Where.
type Question struct {
	Name     string      `yaml:"name" json:"name" required:"true" minLength:"1" doc:"What the answer is called; unique in the list."`
	Ask      string      `yaml:"ask" json:"ask" required:"true" enum:"count|mean|quantile|histogram" doc:"The number of rows, the mean or a quantile of a bounded column, or rows by category or bin of a column."`
	Column   string      `yaml:"column,omitempty" json:"column,omitempty" format:"column" doc:"The column that is asked about; a count has none."`
	Quantile float64     `yaml:"quantile,omitempty" json:"quantile,omitempty" exclusiveMin:"0" exclusiveMax:"1" doc:"Which quantile: 0.5 is the median."`
	Edges    []float64   `yaml:"edges,omitempty" json:"edges,omitempty" minItems:"2" doc:"Edges of a histogram's bins of a number, ascending: each bin holds its lower edge, the last one both. Values outside are counted in no bin."`
	Where    []Condition `yaml:"where,omitempty" json:"where,omitempty" doc:"Conditions on the rows that are asked about; a row has to meet all."`
}

// Condition is met by rows whose value of a column is one of In, or lies from From to To.
// A missing value meets none.
type Condition struct {
	Column string   `yaml:"column" json:"column" required:"true" format:"column" doc:"The column that decides."`
	In     []string `yaml:"in,omitempty" json:"in,omitempty" minItems:"1" unique:"true" doc:"Categories that meet the condition."`
	From   *float64 `yaml:"from,omitempty" json:"from,omitempty" doc:"Least number that meets the condition."`
	To     *float64 `yaml:"to,omitempty" json:"to,omitempty" doc:"Greatest number that meets the condition."`
}

// Resolved is a question with the public facts that its answer rests on, so that it can be
// asked of any table that has its columns.
type Resolved struct {
	Question
	Columns []string     `json:"columns,omitempty"` // of a covariance
	Bounds  [][2]float64 `json:"bounds,omitempty"`  // of Column, or of each of Columns; categories of a covariance are 0 and 1
	Step    float64      `json:"step,omitempty"`    // between the values that a quantile is picked from
	Cells   []string     `json:"cells,omitempty"`   // of a histogram, in the order of their counts
	Missing bool         `json:"missing,omitempty"` // the last cell counts missing values
	Rows    int64        `json:"rows,omitempty"`    // of the table, where that is public and is not asked; else 0
}

// Check holds a list of questions against a domain and returns them with the facts that
// they rest on; what is wrong goes to ps, all of it. rows is the table's number of rows
// where it is public, else 0.
func Check(ps *schema.Problems, path string, list []Question, d *domain.Domain, rows int64) []Resolved {
	listed(ps, path, list)
	questions := make([]Resolved, len(list))
	for i, q := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		questions[i] = Resolved{Question: q}
		questions[i].check(ps, at, d, rows)
	}
	return questions
}

// mostQuestions keeps the noise of each to numbers that can be drawn.
const mostQuestions = 1000

// listed wants a list that can be answered, each question under a name of its own.
func listed(ps *schema.Problems, path string, list []Question) {
	if len(list) == 0 || len(list) > mostQuestions {
		ps.Add(path, fmt.Sprintf("a list of %d", len(list)), fmt.Sprintf("1 to %d questions", mostQuestions))
	}
	names := map[string]bool{}
	for i, q := range list {
		where := fmt.Sprintf("%s[%d].name", path, i)
		if q.Name == "" {
			ps.Add(where, "empty", "a name")
		}
		if names[q.Name] {
			ps.Add(where, fmt.Sprintf("%q, the name of an earlier question", q.Name), "a name of its own")
		}
		names[q.Name] = true
	}
}

// suits wants settings that the sort of question has.
func (q Question) suits(ps *schema.Problems, path string) {
	if !slices.Contains([]string{Count, Mean, Quantile, Histogram}, q.Ask) {
		ps.Add(path+".ask", fmt.Sprintf("%.60q", q.Ask), "count, mean, quantile or histogram")
	}
	if (q.Ask == Quantile) != (q.Quantile != 0) || !(q.Quantile >= 0 && q.Quantile < 1) {
		ps.Add(path+".quantile", fmt.Sprintf("%g for a %s", q.Quantile, q.Ask),
			"a number between 0 and 1 for a quantile, left out elsewhere")
	}
	if len(q.Edges) > 0 && q.Ask != Histogram {
		ps.Add(path+".edges", "given for a "+q.Ask, "left out but for a histogram")
	}
	if q.Ask == Count && q.Column != "" {
		ps.Add(path+".column", fmt.Sprintf("%q for a count", q.Column), "left out: where says which rows are counted")
	}
}

// long refuses lists that take a stranger's file to judge, and no question.
func (a *Resolved) long(ps *schema.Problems, path string) bool {
	if n := len(a.Where); n > mostConditions {
		ps.Add(path+".where", fmt.Sprintf("a list of %d", n), fmt.Sprintf("at most %d conditions", mostConditions))
	}
	if n := len(a.Columns); n > mostColumns {
		ps.Add(path+".columns", fmt.Sprintf("%d columns", n), fmt.Sprintf("at most %d", mostColumns))
	}
	return len(a.Where) > mostConditions || len(a.Columns) > mostColumns
}

// mostConditions is how many conditions a question has, at most.
const mostConditions = 1000

func (a *Resolved) check(ps *schema.Problems, path string, d *domain.Domain, rows int64) {
	if a.long(ps, path) {
		return
	}
	for k, c := range a.Where {
		c.check(ps, fmt.Sprintf("%s.where[%d]", path, k), d)
	}
	a.suits(ps, path)
	if a.Ask == Count {
		if len(a.Where) == 0 && rows > 0 {
			ps.Add(path+".where", "a count of all rows, whose number is public", "conditions")
		}
		return
	}
	c := d.Column(a.Column)
	switch {
	case c == nil:
		ps.Unknown(path+".column", "column of the table", a.Column, d.Names())
	case c.RefuseUnit(ps, path+".column"):
	case c.Encoding != nil || c.Late || c.Type == domain.Text || c.Type.Calendar():
		ps.Add(path+".column", a.Column+", which is "+described(c),
			"a category or a number as it is before encode, known in the domain")
	case a.Ask == Histogram:
		a.checkCells(ps, path, c)
	default:
		a.checkNumber(ps, path, c, rows)
	}
}

func described(c *domain.Column) string {
	switch {
	case c.Encoding != nil:
		return "encoded (" + string(c.Encoding.Form) + ")"
	case c.Late:
		return "known only when another stage has released it"
	}
	return string(c.Type)
}

// checkNumber checks means and quantiles. A mean is over a public number of rows where
// every row has a value and none is left out.
func (a *Resolved) checkNumber(ps *schema.Problems, path string, c *domain.Column, rows int64) {
	if c.Type.Coded() || !bounded(c) {
		found := a.Column + ", a number without bounds that say how far one row moves the answer"
		if c.Type.Coded() {
			found = a.Column + ", which is " + string(c.Type)
		}
		ps.Add(path+".column", found,
			"a number with public bounds, the lower one below the upper one (kind `bounds` sets them)")
		return
	}
	a.Bounds = [][2]float64{*c.Bounds}
	if len(a.Where) == 0 && !c.Nullable && a.Ask == Mean {
		a.Rows = rows
	}
	if a.Ask == Quantile {
		a.Step = pickedFrom(c)
	}
}

func bounded(c *domain.Column) bool { return c.Bounds != nil && wide(*c.Bounds) }

// wide wants bounds whose width is a number that can be divided by.
func wide(b [2]float64) bool { return b[0] > -1e75 && b[1] < 1e75 && b[1]-b[0] > 1e-75 }

// mostPicked is how many values a quantile is picked from, at most.
const mostPicked = 1 << 40

// evenly is how many steps lie between the bounds of a number without a step of its own.
const evenly = 1000

// pickedFrom returns the step between values that a quantile is picked from.
func pickedFrom(c *domain.Column) float64 {
	wide := c.Bounds[1] - c.Bounds[0]
	step := c.Step
	if c.Type == domain.Integer {
		step = max(step, 1)
	}
	if !(step > 0 && step <= wide && wide/step < mostPicked) {
		return wide / evenly
	}
	return step
}

func (a *Resolved) checkCells(ps *schema.Problems, path string, c *domain.Column) {
	a.Missing = c.Nullable
	if c.Type.Coded() {
		if len(a.Edges) > 0 {
			ps.Add(path+".edges", "given for "+a.Column+", which is "+string(c.Type), "left out: its categories are the cells")
		}
		a.Cells = slices.Clone([]string(c.Categories))
	} else {
		if len(a.Edges) < 2 || !ascending(a.Edges) {
			ps.Add(path+".edges", fmt.Sprintf("%v for %s, a number", a.Edges, a.Column),
				"at least two numbers, each above the one before")
		}
		a.Cells = bins(a.Edges)
	}
	if a.Missing {
		name := "missing"
		for slices.Contains(a.Cells, name) {
			name += "_"
		}
		a.Cells = append(a.Cells, name)
	}
}

func ascending(x []float64) bool {
	for i := 1; i < len(x); i++ {
		if !(x[i-1] < x[i]) {
			return false
		}
	}
	return true
}

func bins(edges []float64) (names []string) {
	for i := 1; i < len(edges); i++ {
		end := ")"
		if i == len(edges)-1 {
			end = "]"
		}
		names = append(names, "["+text(edges[i-1])+", "+text(edges[i])+end)
	}
	return names
}

func text(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func (c Condition) check(ps *schema.Problems, path string, d *domain.Domain) {
	column := d.Column(c.Column)
	switch {
	case column == nil:
		ps.Unknown(path+".column", "column of the table", c.Column, d.Names())
		return
	case column.RefuseUnit(ps, path+".column"):
		return
	case column.Encoding != nil || column.Late || column.Type == domain.Text || column.Type.Calendar():
		ps.Add(path+".column", c.Column+", which is "+described(column),
			"a category or a number as it is before encode, known in the domain")
		return
	case column.Type.Coded() != (len(c.In) > 0) || column.Type.Coded() == (c.From != nil || c.To != nil):
		ps.Add(path, "a condition on "+c.Column+", which is "+string(column.Type),
			"in: for categories; from:, to: or both for a number")
	}
	c.checkIn(ps, path, column)
	if c.From != nil && c.To != nil && *c.From > *c.To {
		ps.Add(path+".from", fmt.Sprintf("%g, above to, %g", *c.From, *c.To), "at most to")
	}
}

// checkIn wants categories of the column, each once.
func (c Condition) checkIn(ps *schema.Problems, path string, column *domain.Column) {
	left := map[string]bool{}
	for _, v := range column.Categories {
		left[v] = true
	}
	for k, name := range c.In {
		again, known := left[name]
		switch {
		case known && !again:
			ps.Add(fmt.Sprintf("%s.in[%d]", path, k), fmt.Sprintf("%.60q, a second time", name), "each category once")
		case column.Type.Coded() && !known:
			ps.Unknown(fmt.Sprintf("%s.in[%d]", path, k), "category of "+c.Column, name, column.Categories)
		}
		if known {
			left[name] = false
		}
	}
}

// CheckCovariance holds the columns of a covariance against a domain: at least two bounded
// numbers or columns of two categories, which are 0 and 1, none with missing values.
func CheckCovariance(ps *schema.Problems, path string, names []string, d *domain.Domain, rows int64) Resolved {
	a := Resolved{Question: Question{Name: Covariance, Ask: Covariance}, Columns: names, Rows: rows}
	if n := len(names); n < 2 || n > mostColumns {
		ps.Add(path, fmt.Sprintf("a list of %d", n), fmt.Sprintf("from 2 to %d columns", mostColumns))
	}
	for i, at := range d.Pick(ps, path, names) {
		c := &d.Columns[at]
		switch {
		case c.RefuseUnit(ps, fmt.Sprintf("%s[%d]", path, i)):
		case c.Encoding != nil || c.Late || c.Type.Calendar() || c.Type == domain.Text:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", which is "+described(c),
				"a bounded number or a column of two categories")
		case c.Nullable:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", which may be missing",
				"a column without missing values (kinds `impute_constant` and `impute_knn` fill them)")
		case c.Type.Coded() && (len(c.Categories) != 2 || c.Categories[1] == ""): // Cells has "" for numbers
			ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s, of the categories %.60q", c.Name, c.Categories),
				"a bounded number or a column of two categories, the second of which is not empty")
		case !c.Type.Coded() && !bounded(c):
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", a number without bounds",
				"a number with public bounds, the lower one below the upper one")
		case c.Type.Coded():
			a.Bounds, a.Cells = append(a.Bounds, [2]float64{0, 1}), append(a.Cells, c.Categories[1])
		default:
			a.Bounds, a.Cells = append(a.Bounds, *c.Bounds), append(a.Cells, "")
		}
	}
	return a
}

// mostColumns keeps a covariance to numbers whose noise can be drawn and that can be held.
const mostColumns = 2000

// judge holds a question that came with its answers to the checks of a spec's questions: it must be what they make
// of it over the least table that its facts describe.
func (a Resolved) judge(ps *schema.Problems, path string) {
	before := len(*ps)
	if a.long(ps, path); len(*ps) > before {
		return
	}
	d := a.table()
	for _, p := range domain.Check(d, domain.Released) {
		ps.Add(path, fmt.Sprintf("about a table whose %s is %s", p.Path, p.Found), "about one whose "+p.Path+" is "+
			p.Accepted)
	}
	if len(*ps) > before {
		return
	}
	built := Resolved{Question: a.Question}
	if a.Ask == Covariance {
		built = CheckCovariance(ps, path+".columns", a.Columns, d, max(a.Rows, 0))
	} else {
		built.check(ps, path, d, max(a.Rows, 0))
	}
	if len(*ps) == before {
		a.agrees(ps, path, built)
	}
}

// table returns the least domain over which the question can have been asked: the columns that it names, as its
// facts and conditions describe them.
func (a Resolved) table() *domain.Domain {
	d := &domain.Domain{}
	for i, name := range a.Columns {
		addColumn(d, a.summed(i, name))
	}
	if a.Column != "" {
		addColumn(d, a.columnFacts())
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
func (a Resolved) summed(i int, name string) domain.Column {
	if i < len(a.Cells) && a.Cells[i] != "" {
		return domain.Column{Name: name, Type: domain.Categorical, Categories: []string{"not " + a.Cells[i], a.Cells[i]}}
	}
	c := domain.Column{Name: name, Type: domain.Numeric}
	if i < len(a.Bounds) {
		c.Bounds = &a.Bounds[i]
	}
	return c
}

// columnFacts returns the column of any other question.
func (a Resolved) columnFacts() domain.Column {
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
func (a Resolved) agrees(ps *schema.Problems, path string, made Resolved) {
	const most = 60
	found, want := facts(a), facts(made)
	for _, key := range slices.Sorted(maps.Keys(found)) {
		switch {
		case string(found[key]) == string(want[key]):
		case want[key] == nil:
			ps.Add(path+"."+key, fmt.Sprintf("%.*s for a %s", most, found[key], a.Ask), "left out")
		default:
			ps.Add(path+"."+key, fmt.Sprintf("%.*s", most, found[key]), fmt.Sprintf("%.*s", most, want[key]))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if found[key] == nil {
			ps.Add(path+"."+key, "missing", fmt.Sprintf("%.*s", most, want[key]))
		}
	}
}

// facts returns a question as it is written, by key.
func facts(a Resolved) (byKey map[string]json.RawMessage) {
	whole, err := json.Marshal(a)
	if err == nil {
		err = json.Unmarshal(whole, &byKey)
	}
	if err != nil {
		panic(err) // numbers from JSON, or made of them
	}
	return byKey
}
