package ask

import (
	"fmt"
	"slices"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// Check holds a list of questions against a domain and returns them with the facts that
// they rest on; what is wrong goes to ps, all of it. rows is the table's number of rows
// where it is public, else 0.
func Check(ps *schema.Problems, path string, list []Question, d *domain.Domain, rows int64) []Asked {
	listed(ps, path, list)
	asked := make([]Asked, len(list))
	for i, q := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		asked[i] = Asked{Question: q}
		asked[i].check(ps, at, d, rows)
	}
	return asked
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
		at := fmt.Sprintf("%s[%d].name", path, i)
		if q.Name == "" {
			ps.Add(at, "empty", "a name")
		}
		if names[q.Name] {
			ps.Add(at, fmt.Sprintf("%q, the name of an earlier question", q.Name), "a name of its own")
		}
		names[q.Name] = true
	}
}

// suits wants settings that the sort of question has.
func (q Question) suits(ps *schema.Problems, at string) {
	if !slices.Contains([]string{Count, Mean, Quantile, Histogram}, q.Ask) {
		ps.Add(at+".ask", fmt.Sprintf("%.60q", q.Ask), "count, mean, quantile or histogram")
	}
	if (q.Ask == Quantile) != (q.Quantile != 0) || !(q.Quantile >= 0 && q.Quantile < 1) {
		ps.Add(at+".quantile", fmt.Sprintf("%g for a %s", q.Quantile, q.Ask), "a number between 0 and 1 for a quantile, left out elsewhere")
	}
	if len(q.Edges) > 0 && q.Ask != Histogram {
		ps.Add(at+".edges", "given for a "+q.Ask, "left out but for a histogram")
	}
	if q.Ask == Count && q.Column != "" {
		ps.Add(at+".column", fmt.Sprintf("%q for a count", q.Column), "left out: where says which rows are counted")
	}
}

// long refuses lists that take a stranger's file to judge, and no question.
func (a *Asked) long(ps *schema.Problems, at string) bool {
	if n := len(a.Where); n > mostConditions {
		ps.Add(at+".where", fmt.Sprintf("a list of %d", n), fmt.Sprintf("at most %d conditions", mostConditions))
	}
	if n := len(a.Columns); n > mostColumns {
		ps.Add(at+".columns", fmt.Sprintf("%d columns", n), fmt.Sprintf("at most %d", mostColumns))
	}
	return len(a.Where) > mostConditions || len(a.Columns) > mostColumns
}

// mostConditions is how many conditions a question has, at most.
const mostConditions = 1000

func (a *Asked) check(ps *schema.Problems, at string, d *domain.Domain, rows int64) {
	if a.long(ps, at) {
		return
	}
	for k, c := range a.Where {
		c.check(ps, fmt.Sprintf("%s.where[%d]", at, k), d)
	}
	a.suits(ps, at)
	if a.Ask == Count {
		if len(a.Where) == 0 && rows > 0 {
			ps.Add(at+".where", "a count of all rows, whose number is public", "conditions")
		}
		return
	}
	c := d.Column(a.Column)
	switch {
	case c == nil:
		ps.Unknown(at+".column", "column of the table", a.Column, d.Names())
	case c.RefuseUnit(ps, at+".column"):
	case c.Encoding != nil || c.Late || c.Type == domain.Text || c.Type.Calendar():
		ps.Add(at+".column", a.Column+", which is "+described(c), "a category or a number as it is before encode, known in the domain")
	case a.Ask == Histogram:
		a.checkCells(ps, at, c)
	default:
		a.checkNumber(ps, at, c, rows)
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

// checkNumber is for means and quantiles. A mean is over a public number of rows where
// every row has a value and none is left out.
func (a *Asked) checkNumber(ps *schema.Problems, at string, c *domain.Column, rows int64) {
	if c.Type.Coded() || !bounded(c) {
		found := a.Column + ", a number without bounds that say how far one row moves the answer"
		if c.Type.Coded() {
			found = a.Column + ", which is " + string(c.Type)
		}
		ps.Add(at+".column", found, "a number with public bounds, the lower one below the upper one (kind `bounds` sets them)")
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

// pickedFrom is the step between values that a quantile is picked from.
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

func (a *Asked) checkCells(ps *schema.Problems, at string, c *domain.Column) {
	a.Missing = c.Nullable
	if c.Type.Coded() {
		if len(a.Edges) > 0 {
			ps.Add(at+".edges", "given for "+a.Column+", which is "+string(c.Type), "left out: its categories are the cells")
		}
		a.Cells = slices.Clone([]string(c.Categories))
	} else {
		if len(a.Edges) < 2 || !ascending(a.Edges) {
			ps.Add(at+".edges", fmt.Sprintf("%v for %s, a number", a.Edges, a.Column), "at least two numbers, each above the one before")
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

func (c Condition) check(ps *schema.Problems, at string, d *domain.Domain) {
	column := d.Column(c.Column)
	switch {
	case column == nil:
		ps.Unknown(at+".column", "column of the table", c.Column, d.Names())
		return
	case column.RefuseUnit(ps, at+".column"):
		return
	case column.Encoding != nil || column.Late || column.Type == domain.Text || column.Type.Calendar():
		ps.Add(at+".column", c.Column+", which is "+described(column), "a category or a number as it is before encode, known in the domain")
		return
	case column.Type.Coded() != (len(c.In) > 0) || column.Type.Coded() == (c.From != nil || c.To != nil):
		ps.Add(at, "a condition on "+c.Column+", which is "+string(column.Type), "in: for categories; from:, to: or both for a number")
	}
	c.checkIn(ps, at, column)
	if c.From != nil && c.To != nil && *c.From > *c.To {
		ps.Add(at+".from", fmt.Sprintf("%g, above to, %g", *c.From, *c.To), "at most to")
	}
}

// checkIn wants categories of the column, each once.
func (c Condition) checkIn(ps *schema.Problems, at string, column *domain.Column) {
	left := map[string]bool{}
	for _, v := range column.Categories {
		left[v] = true
	}
	for k, name := range c.In {
		again, known := left[name]
		switch {
		case known && !again:
			ps.Add(fmt.Sprintf("%s.in[%d]", at, k), fmt.Sprintf("%.60q, a second time", name), "each category once")
		case column.Type.Coded() && !known:
			ps.Unknown(fmt.Sprintf("%s.in[%d]", at, k), "category of "+c.Column, name, column.Categories)
		}
		if known {
			left[name] = false
		}
	}
}

// CheckCovariance holds the columns of a covariance against a domain: at least two bounded
// numbers or columns of two categories, which are 0 and 1, none with missing values.
func CheckCovariance(ps *schema.Problems, path string, names []string, d *domain.Domain, rows int64) Asked {
	a := Asked{Question: Question{Name: Covariance, Ask: Covariance}, Columns: names, Rows: rows}
	if n := len(names); n < 2 || n > mostColumns {
		ps.Add(path, fmt.Sprintf("a list of %d", n), fmt.Sprintf("from 2 to %d columns", mostColumns))
	}
	for i, at := range d.Pick(ps, path, names) {
		c := &d.Columns[at]
		switch {
		case c.RefuseUnit(ps, fmt.Sprintf("%s[%d]", path, i)):
		case c.Encoding != nil || c.Late || c.Type.Calendar() || c.Type == domain.Text:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", which is "+described(c), "a bounded number or a column of two categories")
		case c.Nullable:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", which may be missing", "a column without missing values (kinds `impute_constant` and `impute_knn` fill them)")
		case c.Type.Coded() && (len(c.Categories) != 2 || c.Categories[1] == ""): // Cells has "" for numbers
			ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%s, of the categories %.60q", c.Name, c.Categories), "a bounded number or a column of two categories, the second of which is not empty")
		case !c.Type.Coded() && !bounded(c):
			ps.Add(fmt.Sprintf("%s[%d]", path, i), c.Name+", a number without bounds", "a number with public bounds, the lower one below the upper one")
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
