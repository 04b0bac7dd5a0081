package tailored

import (
	"math"

	"weir/pipeline"
	"weir/stages/internal/columns"
)

// design says what a row of a regression is: an intercept of 1, for each number its place
// between the bounds, from -1 to 1, and for each category but the first an indicator less
// centre. The centre moves what a coefficient means into the intercept alone, and keeps
// rows short: an indicator that is 1/2 or -1/2 is half as long as one that is 1 or 0, and
// noise is as long as the longest row.
type design struct {
	terms    []term
	square   float64 // of the norm of the longest row
	diameter float64 // square of the greatest distance of two rows
}

// term is a coefficient.
type term struct {
	Column   string `json:"column,omitempty"`
	Category string `json:"category,omitempty"` // of a category: against the first one
	column   int    // place in the list of columns; -1: the intercept
	middle   float64
	half     float64 // of a number: a unit of it is 1/half of the term
	code     int     // of a category
	centre   float64
}

// designOf is the design of bounded columns of a domain.
func designOf(d *pipeline.Domain, names []string) *design {
	out := &design{terms: []term{{column: -1}}, square: 1}
	for i, name := range names {
		c := d.Column(name)
		if !c.Type.Coded() {
			half := (c.Bounds[1] - c.Bounds[0]) / 2
			out.terms = append(out.terms, term{Column: name, column: i, middle: c.Bounds[0] + half, half: half})
			out.square, out.diameter = out.square+1, out.diameter+4
			continue
		}
		k := len(c.Categories)
		centre, rest := centred(k)
		for code := 1; code < k; code++ {
			out.terms = append(out.terms, term{Column: name, Category: c.Categories[code], column: i, code: code, centre: centre})
		}
		out.square += rest
		out.diameter += float64(min(k-1, 2))
	}
	return out
}

// centred is the centre of k-1 indicators, of which at most one is 1, that makes the longest
// of their vectors shortest, and its square. With the centre c they are 1-2c+(k-1)c² where
// one is 1 and (k-1)c² where none is; the first falls to c = 1/(k-1), and they meet at 1/2.
func centred(k int) (centre, square float64) {
	rest := float64(k - 1)
	centre = math.Min(0.5, 1/rest)
	none := float64(rest * float64(centre*centre))
	return centre, math.Max(none, 1-float64(2*centre)+none)
}

// rows holds the terms' values of a table, by column.
type rows struct {
	*design
	columns []columns.Column
	n       int
}

func (d *design) of(f *columns.Frame, names []string) rows {
	r := rows{design: d, n: f.Rows}
	for _, name := range names {
		r.columns = append(r.columns, *f.Column(name))
	}
	return r
}

// row writes the terms of row i. A value that is missing, or outside what the domain says,
// is as one that is inside, so that no row is longer than the longest.
func (r rows) row(i int, x []float64) {
	x[0] = 1
	for j, t := range r.terms[1:] {
		switch c := &r.columns[t.column]; {
		case t.half > 0:
			x[1+j] = between((c.Numbers[i]-t.middle)/t.half, -1, 1)
		case int(c.Codes[i]) == t.code:
			x[1+j] = 1 - t.centre
		default:
			x[1+j] = -t.centre
		}
	}
}

// between is v within bounds; their middle where it is no number.
func between(v, low, high float64) float64 {
	if math.IsNaN(v) {
		return (low + high) / 2
	}
	return math.Min(math.Max(v, low), high)
}

// plain is the matrix that leads from the coefficients of the design to those of plain
// columns: of a number by its own unit, of indicators that are 0 or 1.
func (d *design) plain() [][]float64 {
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
