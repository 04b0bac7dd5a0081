package prep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
)

// valueCounts counts the values of a column of text: private, as the rows are.
type valueCounts struct {
	rows    map[string]int64 // rows that have a value which could be a category
	present int64            // rows that have any value
}

func (c *valueCounts) add(a *array.String, other string) {
	for i := range a.Len() {
		if a.IsNull(i) {
			continue
		}
		c.present++
		if v := a.Value(i); v != other && nameable(v) {
			if _, known := c.rows[v]; !known {
				v = strings.Clone(v) // else it holds its batch
			}
			c.rows[v]++
		}
	}
}

// kept says what is left of the values of a column.
type kept struct {
	column       string
	values, left int
	other        float64 // share of the rows with a value whose value is not left; NaN without such rows
}

// kept compares the values of a column with the names that are released.
func (c *valueCounts) kept(column string, names []string) kept {
	rows := int64(0)
	for _, name := range names {
		rows += c.rows[name]
	}
	k := kept{column: column, values: len(c.rows), left: len(names), other: math.NaN()}
	if c.present > 0 {
		k.other = 1 - float64(rows)/float64(c.present)
	}
	return k
}

// Names of what a column is told to have kept.
const (
	otherShare = "other_share"
	valuesHad  = "values"
	valuesLeft = "values_left"
)

func keptFigures() pipeline.Figures {
	return pipeline.Figures{
		{Name: otherShare, Parts: "column", Better: pipeline.BetterLow, Headline: true, Few: true,
			Doc: "share of rows whose value became the category of all others, of the column where it is greatest"},
		{Name: valuesHad, Parts: "column", Better: pipeline.BetterPlain, Doc: "values that the rows of the column have"},
		{Name: valuesLeft, Parts: "column", Better: pipeline.BetterPlain, Doc: "values of the column that became categories"},
	}
}

// keptHeader is the header of what is told of kept values: private, since it is counted from real rows without noise.
func keptHeader(like pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private,
		Stability: pipeline.Unbounded(), Terms: like.Terms}
}

// mostKept is how many columns the note of the whole table names.
const mostKept = 3

// keptMetrics lists what is left of each column; the whole table has the greatest share that is not.
func keptMetrics(list []kept, other string) []pipeline.Metric {
	worst := slices.Clone(list)
	slices.SortStableFunc(worst, func(a, b kept) int { return cmp.Compare(b.other, a.other) })
	var words []string
	for _, k := range worst[:min(mostKept, len(worst))] {
		if !math.IsNaN(k.other) {
			words = append(words, fmt.Sprintf("%s: %s of %s values are left; %.0f %% of rows are %s", k.column, grouped(k.left),
				grouped(k.values), 100*k.other, other))
		}
	}
	note := cmp.Or(strings.Join(words, "; "), "no row has a value")
	out := []pipeline.Metric{{Name: otherShare, Value: worst[0].other, Note: note}}
	for _, k := range list {
		out = append(out, pipeline.Metric{Name: otherShare, Column: k.column, Value: k.other},
			pipeline.Metric{Name: valuesHad, Column: k.column, Value: float64(k.values)},
			pipeline.Metric{Name: valuesLeft, Column: k.column, Value: float64(k.left)})
		if math.IsNaN(k.other) {
			out[len(out)-3].Note = "no row has a value"
		}
	}
	return out
}

// grouped writes a whole number with commas between thousands.
func grouped(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
