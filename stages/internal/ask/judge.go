package ask

import (
	"fmt"
	"slices"

	"weir/pipeline"
)

// named wants names of their own.
func named(ps *pipeline.Problems, path string, list []Question) {
	names := map[string]bool{}
	for i, q := range list {
		if names[q.Name] {
			ps.Add(fmt.Sprintf("%s[%d].name", path, i), fmt.Sprintf("%q, the name of an earlier question", q.Name), "a name of its own")
		}
		names[q.Name] = true
	}
}

// suits wants settings that the sort of question has.
func (q Question) suits(ps *pipeline.Problems, at string) {
	if (q.Ask == Quantile) != (q.Quantile != 0) {
		ps.Add(at+".quantile", fmt.Sprintf("%g for a %s", q.Quantile, q.Ask), "a number between 0 and 1 for a quantile, left out elsewhere")
	}
	if len(q.Edges) > 0 && q.Ask != Histogram {
		ps.Add(at+".edges", "given for a "+q.Ask, "left out but for a histogram")
	}
	if q.Ask == Count && q.Column != "" {
		ps.Add(at+".column", fmt.Sprintf("%q for a count", q.Column), "left out: where says which rows are counted")
	}
}

// judge holds a question that came with its answers to what Check and CheckCovariance make:
// whatever passes can be asked of any table that it does not lack.
func (a Asked) judge(ps *pipeline.Problems, at string) {
	if !slices.Contains([]string{Count, Mean, Quantile, Histogram, Covariance}, a.Ask) {
		ps.Add(at+".ask", fmt.Sprintf("%.60q", a.Ask), "count, mean, quantile, histogram or covariance")
		return
	}
	a.suits(ps, at)
	if a.Name == "" {
		ps.Add(at+".name", "empty", "a name")
	}
	if !(a.Question.Quantile >= 0 && a.Question.Quantile < 1) {
		ps.Add(at+".quantile", fmt.Sprint(a.Question.Quantile), "between 0 and 1")
	}
	if a.Column == "" && (a.Ask == Mean || a.Ask == Quantile || a.Ask == Histogram) {
		ps.Add(at+".column", "missing", "the column that is asked about")
	}
	if !ascending(a.Edges) || len(a.Edges) == 1 {
		ps.Add(at+".edges", fmt.Sprint(a.Edges), "at least two numbers, each above the one before")
	}
	for k, c := range a.Where {
		c.judge(ps, fmt.Sprintf("%s.where[%d]", at, k))
	}
	a.judgeColumns(ps, at)
	a.judgeFacts(ps, at)
}

// judgeColumns judges those of a covariance.
func (a Asked) judgeColumns(ps *pipeline.Problems, at string) {
	least, most := 0, 0
	if a.Ask == Covariance {
		least, most = 2, mostColumns
	}
	if n := len(a.Columns); n < least || n > most {
		ps.Add(at+".columns", fmt.Sprintf("%d", n), fmt.Sprintf("from %d to %d of a %s", least, most, a.Ask))
	}
	if a.Ask == Covariance && (a.Column != "" || len(a.Where) > 0) {
		ps.Add(at, "a covariance with a column or conditions", "one of columns, of all rows")
	}
	if name, twice := repeated(a.Columns); twice || slices.Contains(a.Columns, "") {
		ps.Add(at+".columns", fmt.Sprintf("%q, empty or a second time", name), "each column once")
	}
}

// judgeFacts judges what was public of the table.
func (a Asked) judgeFacts(ps *pipeline.Problems, at string) {
	bounds, cells := 0, 0
	switch a.Ask {
	case Mean, Quantile:
		bounds = 1
	case Covariance:
		bounds, cells = len(a.Columns), len(a.Columns)
	case Histogram:
		cells = max(len(a.Cells), 1)
		if len(a.Edges) > 0 {
			cells = len(a.Edges) - 1
		}
		if a.Missing && len(a.Edges) > 0 {
			cells++
		}
	}
	if len(a.Bounds) != bounds || slices.ContainsFunc(a.Bounds, func(b [2]float64) bool { return !wide(b) }) {
		ps.Add(at+".bounds", fmt.Sprint(a.Bounds), fmt.Sprintf("%d pairs of numbers, the lower one below the upper one", bounds))
	} else if a.Ask == Quantile && !(a.Step > 0 && a.values() <= mostPicked+1) || a.Ask != Quantile && a.Step != 0 {
		ps.Add(at+".step", fmt.Sprintf("%g for a %s", a.Step, a.Ask), "a step between the bounds for a quantile, left out elsewhere")
	}
	if name, twice := repeated(a.Cells); len(a.Cells) != cells || twice && a.Ask == Histogram {
		ps.Add(at+".cells", fmt.Sprintf("%d, of which %q may be there twice", len(a.Cells), name), fmt.Sprintf("%d, each once", cells))
	}
	if a.Missing && a.Ask != Histogram {
		ps.Add(at+".missing", "given for a "+a.Ask, "left out but for a histogram")
	}
	if whole := a.Ask == Covariance || a.Ask == Mean && len(a.Where) == 0; a.Rows < 0 || a.Rows > 0 && !whole {
		ps.Add(at+".rows", fmt.Sprint(a.Rows), "a number of rows, of a mean or a covariance of all of them, else left out")
	}
}

// repeated is a name that is there twice.
func repeated(names []string) (name string, twice bool) {
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return name, true
		}
		seen[name] = true
	}
	return "", false
}

func (c Condition) judge(ps *pipeline.Problems, at string) {
	if c.Column == "" || (len(c.In) > 0) == (c.From != nil || c.To != nil) || c.From != nil && c.To != nil && *c.From > *c.To {
		ps.Add(at, "no condition on a column", "in: for categories; from:, to: or both, in this order, for a number")
	}
	if name, twice := repeated(c.In); twice {
		ps.Add(at+".in", fmt.Sprintf("%q a second time", name), "each category once")
	}
}
