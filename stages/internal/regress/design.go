package regress

import "math"

// Design says what a row of a regression is: an intercept of 1, for each number its place
// between the bounds, from -1 to 1, and for each category but the first an indicator less
// centre. The centre moves what a coefficient means into the intercept alone, and keeps
// rows short: an indicator that is 1/2 or -1/2 is half as long as one that is 1 or 0, and
// noise is as long as the longest row.
type Design struct {
	terms    []term
	square   float64 // of the norm of the longest row
	diameter float64 // square of the greatest distance of two rows
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

// Design is that of the model's columns.
func (m *Model) Design() *Design {
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
			out.terms = append(out.terms, term{Column: c.Name, Category: c.Categories[code], column: i, code: code, centre: centre})
		}
		out.square += square
		out.diameter += float64(min(k-1, 2))
	}
	return out
}

// Terms is the number of coefficients, the intercept being one.
func (d *Design) Terms() int { return len(d.terms) }

// centred is the centre of k-1 indicators, of which at most one is 1, that makes the longest
// of their vectors shortest, and its square. With the centre c they are 1-2c+(k-1)c² where
// one is 1 and (k-1)c² where none is; the first falls to c = 1/(k-1), and they meet at 1/2.
func centred(k int) (centre, square float64) {
	rest := float64(k - 1)
	centre = math.Min(0.5, 1/rest)
	none := float64(rest * float64(centre*centre))
	return centre, math.Max(none, 1-float64(2*centre)+none)
}

// plain is the matrix that leads from the coefficients of the design to those of plain
// columns: of a number by its own unit, of indicators that are 0 or 1.
func (d *Design) plain() [][]float64 {
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
