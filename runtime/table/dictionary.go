package table

import (
	"math"

	"weir/pipeline/domain"
)

// mostWords is how many numbers a dictionary of a Parquet column holds: 1 MB, above which
// the library goes on without one.
const mostWords = 1 << 17

// fewValues tells whether the domain leaves a column so few values that one dictionary
// holds them all, so that it pays and cannot overflow: categories, and numbers with bounds
// and a step. No other column has a dictionary. Why: where one overflows, Arrow 15 lists
// the two encodings of the column in the footer in the order of a Go map, and the same
// table would be written as other bytes the next time.
func fewValues(c *domain.Column) bool {
	switch {
	case c.Encoding != nil || c.Type == domain.Text:
		return false
	case c.Type.Coded():
		return true
	case c.Bounds == nil:
		return false
	}
	step := c.Step
	if step == 0 && c.Type != domain.Numeric {
		step = 1
	}
	return step > 0 && math.Floor((c.Bounds[1]-c.Bounds[0])/step) < mostWords
}
