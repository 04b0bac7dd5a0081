package question

import (
	"fmt"
	"math"
	"slices"

	"weir/stages/internal/columns"
)

// Regression is a regression as public facts. Logistic: the odds of Positive among the
// categories of Target. Poisson: the rate of Target, which is an event (Positive) or a
// number up to Most, for each unit of Offset, a number up to Longest; the mean of a row counts as at most
// MostExpected. Coefficients have normal priors around 0 of PriorDeviation, in the design's
// units (Design), the intercept of 10 or more.
type Regression struct {
	Kind           string             `json:"kind"` // logistic or poisson
	Target         string             `json:"target"`
	Positive       string             `json:"positive,omitempty"`
	Most           float64            `json:"most,omitempty"`
	Offset         string             `json:"offset,omitempty"`
	Shortest       float64            `json:"shortest,omitempty"`
	Longest        float64            `json:"longest,omitempty"`
	MostExpected   float64            `json:"most_expected,omitempty"`
	Columns        []RegressionColumn `json:"columns"`
	PriorDeviation float64            `json:"prior_deviation"`
}

// A row expects from a millionth to a million times the greatest count at most: sums are of
// whole numbers of what a row can move, and a float divides by that.
const (
	LeastExpected = 1e-6
	MostExpected  = 1e6
)

// RegressionColumn is a number between bounds, or one of several categories.
type RegressionColumn struct {
	Name       string     `json:"name"`
	Bounds     [2]float64 `json:"bounds"`
	Categories []string   `json:"categories,omitempty"`
}

// What a Regression can be.
const (
	Logistic = "logistic"
	Poisson  = "poisson"
)

// RegressionRows are the rows of a table as a model takes them.
type RegressionRows struct {
	*Design
	likelihood
	columns []placed
	n       int
}

// placed is a column of a table: the codes of the model's categories in the place of its own.
type placed struct {
	numbers []float64
	codes   []int32
	to      []int
}

// Lacks says why the model cannot be fitted to a table: "" where it can.
func (m *Regression) Lacks(f *columns.Frame) string {
	coded := map[string]bool{m.Target: m.Positive != ""}
	if m.Offset != "" {
		coded[m.Offset] = false
	}
	names := []string{m.Target}
	for _, c := range m.Columns {
		coded[c.Name] = len(c.Categories) > 0
		names = append(names, c.Name)
	}
	if m.Offset != "" {
		names = append(names, m.Offset)
	}
	for _, name := range names {
		switch c := f.Column(name); {
		case c == nil:
			return "the table has no column " + name
		case c.Coded() != coded[name]:
			return fmt.Sprintf("column %s is %s", name, c.Type)
		}
	}
	return ""
}

// Rows takes the rows of a table that lacks nothing. A value that is missing, or outside
// what the model says, counts as one that is inside, so that no row is longer than the longest.
func (m *Regression) Rows(f *columns.Frame) RegressionRows {
	r := RegressionRows{Design: m.Design(), likelihood: m.likelihood(), n: f.Rows}
	r.outcome = m.outcomes(f.Column(m.Target))
	if m.Offset != "" {
		r.exposed = make([]float64, f.Rows)
		for i, v := range f.Column(m.Offset).Numbers {
			r.exposed[i] = clampMiddle(v, m.Shortest, m.Longest)
		}
	}
	for _, c := range m.Columns {
		from := f.Column(c.Name)
		p := placed{numbers: from.Numbers, codes: from.Codes}
		for _, category := range from.Categories {
			p.to = append(p.to, slices.Index(c.Categories, category))
		}
		r.columns = append(r.columns, p)
	}
	return r
}

// outcomes returns the numbers of the target inside its bounds, or 1 for an event.
func (m *Regression) outcomes(c *columns.Column) []float64 {
	if m.Positive == "" {
		out := make([]float64, len(c.Numbers))
		for i, v := range c.Numbers {
			out[i] = clampMiddle(v, 0, m.Most)
		}
		return out
	}
	out, event := make([]float64, len(c.Codes)), int32(slices.Index(c.Categories, m.Positive))
	for i, code := range c.Codes {
		if code == event && event >= 0 {
			out[i] = 1
		}
	}
	return out
}

// Len returns the number of rows.
func (r *RegressionRows) Len() int { return r.n }

// Row writes the terms of row i and returns its outcome.
func (r *RegressionRows) Row(i int, x []float64) (outcome float64) {
	r.row(i, x)
	return r.outcome[i]
}

// row writes the terms of row i.
func (r *RegressionRows) row(i int, x []float64) {
	x[0] = 1
	for j, t := range r.terms[1:] {
		switch c := &r.columns[t.column]; {
		case t.half > 0:
			x[1+j] = clampMiddle((c.numbers[i]-t.middle)/t.half, -1, 1)
		case c.codes[i] >= 0 && c.to[c.codes[i]] == t.code:
			x[1+j] = 1 - t.centre
		default:
			x[1+j] = -t.centre
		}
	}
}

// clampMiddle returns v within bounds; their middle where it is not a number.
func clampMiddle(v, low, high float64) float64 {
	if math.IsNaN(v) {
		return (low + high) / 2
	}
	return math.Min(math.Max(v, low), high)
}

// Prior returns the precision of each coefficient.
func (m *Regression) Prior() []float64 {
	p := make([]float64, m.Design().Terms())
	for j := range p {
		p[j] = 1 / (m.PriorDeviation * m.PriorDeviation)
	}
	p[0] = math.Min(p[0], 0.01)
	return p
}

// Design says what a row of a regression is: an intercept of 1, for each number its place
// between the bounds, from -1 to 1, and for each category but the first an indicator less
// centre. The centre moves what a coefficient means into the intercept alone, and keeps
// rows short: an indicator that is 1/2 or -1/2 is half as long as one that is 1 or 0, and
// noise is as long as the longest row.
type Design struct {
	terms    []term
	square   float64 // of the norm of the longest row
	diameter float64 // squared of the greatest distance of two rows
}

// term is what a coefficient multiplies.
type term struct {
	Column   string `json:"column,omitempty"`   // "": the intercept
	Category string `json:"category,omitempty"` // of a category: against the first one
	column   int    // place in the list of columns
	middle   float64
	half     float64 // of a number: a unit of it is 1/half of the term
	code     int     // of a category
	centre   float64
}

// Design returns the design of the model's columns.
func (m *Regression) Design() *Design {
	out := &Design{terms: []term{{}}, square: 1}
	for i, c := range m.Columns {
		if len(c.Categories) == 0 {
			half := float64((c.Bounds[1] - c.Bounds[0]) / 2)
			out.terms = append(out.terms, term{Column: c.Name, column: i, middle: c.Bounds[0] + half, half: half})
			out.square, out.diameter = out.square+1, out.diameter+4
			continue
		}
		k := len(c.Categories)
		centre, square := centred(k)
		for code := 1; code < k; code++ {
			out.terms = append(out.terms, term{Column: c.Name, Category: c.Categories[code], column: i, code: code,
				centre: centre})
		}
		out.square += square
		out.diameter += float64(min(k-1, 2))
	}
	return out
}

// Terms returns the number of coefficients, the intercept being one.
func (d *Design) Terms() int { return len(d.terms) }

// centred returns the centre of k-1 indicators, of which at most one is 1, that makes the longest
// of their vectors shortest, and its square. With the centre c they are 1-2c+(k-1)c² where
// one is 1 and (k-1)c² where none is; the first falls to c = 1/(k-1), and they meet at 1/2.
func centred(k int) (centre, square float64) {
	rest := float64(k - 1)
	centre = math.Min(0.5, 1/rest)
	none := float64(rest * float64(centre*centre))
	return centre, math.Max(none, 1-float64(2*centre)+none)
}

// toOwnUnits returns the matrix that leads from the coefficients of the design to the coefficients of plain
// columns: of a number by its own unit, of indicators that are 0 or 1.
func (d *Design) toOwnUnits() [][]float64 {
	m := make([][]float64, len(d.terms))
	for j, t := range d.terms {
		m[j] = make([]float64, len(d.terms))
		switch {
		case j == 0:
			m[0][0] = 1
		case t.half > 0:
			m[j][j] = 1 / t.half
			m[0][j] = -t.middle / t.half
		default:
			m[j][j] = 1
			m[0][j] = -t.centre
		}
	}
	return m
}
