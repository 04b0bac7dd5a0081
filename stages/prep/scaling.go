package prep

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline/domain"
)

// scaling is the encoding of one column, both ways. It is the parameter of the
// step encode in a domain's history; everything in it is public.
//
//	min_max   z = a + (x-lower)/(upper-lower)*(b-a), clipped to [a, b]
//	standard  z = (x-mean)/sd
//	one_hot   the code; where missing is a category, it is the last one
//
// Where lower = upper the divisor is 1, as in sklearn.preprocessing.MinMaxScaler.
type scaling struct {
	Name            string              `json:"name"`
	Form            domain.EncodingForm `json:"form"`
	Range           [2]float64          `json:"range,omitempty"`
	Lower           float64             `json:"lower,omitempty"`
	Upper           float64             `json:"upper,omitempty"`
	Mean            float64             `json:"mean,omitempty"`
	SD              float64             `json:"sd,omitempty"`
	Categories      int                 `json:"categories,omitempty"`
	MissingCategory bool                `json:"missing_category,omitempty"`
}

func (e scaling) encoding() *domain.Encoding {
	if e.Form != domain.OneHot {
		return &domain.Encoding{Form: e.Form, Width: 1, Range: e.Range}
	}
	width := e.Categories
	if e.MissingCategory {
		width++
	}
	return &domain.Encoding{Form: e.Form, Width: width, Range: e.Range}
}

// check compares the encoding of column now with itself and with what the column
// was before: a released model comes back from anyone, and states all three.
func (e scaling) check(current, previous *domain.Column) error {
	if current.Encoding == nil || current.Encoding.Form != e.Form || current.Encoding.Width != e.encoding().Width ||
		current.Encoding.Range != e.Range {
		return fmt.Errorf("is %s, must be encoded as the step says", describe(current))
	}
	switch {
	case e.Form == domain.OneHot && previous.Type.Coded() && e.Categories == len(previous.Categories) &&
		(e.Range == [2]float64{} ||
			e.Range == domain.SeparateCells()):
	case e.Form == domain.MinMax && previous.Type != domain.Text && e.Range[0] < e.Range[1] && e.Lower <= e.Upper:
	case e.Form == domain.Standard && previous.Type != domain.Text && e.SD > 0:
	default:
		return fmt.Errorf("has the encoding %.60q, must be one_hot of its categories, min_max of a range and bounds in "+
			"order, or standard with sd above 0", e.Form)
	}
	return nil
}

// line returns the straight line z = offset + slope*x that the encoding is, and the
// limits of z.
func (e scaling) line() (offset, slope, least, greatest float64) {
	if e.Form == domain.Standard {
		return -e.Mean / e.SD, 1 / e.SD, math.Inf(-1), math.Inf(1)
	}
	slope = (e.Range[1] - e.Range[0]) / e.width()
	return e.Range[0] - float64(e.Lower*slope), slope, e.Range[0], e.Range[1]
}

// width returns the divisor of min_max.
func (e scaling) width() float64 {
	if e.Upper == e.Lower {
		return 1
	}
	return e.Upper - e.Lower
}

// backward returns x of z, unclipped.
func (e scaling) backward(z float64) float64 {
	if e.Form == domain.Standard {
		return float64(z*e.SD) + e.Mean
	}
	return e.Lower + float64((z-e.Range[0])/(e.Range[1]-e.Range[0])*e.width())
}

// errMissing is the run-time form of what Plan checks: the table holds a null
// where its header says that there is none.
var errMissing = errors.New("has missing values, which its domain excludes")

// encode makes column i of a batch.
func (e scaling) encode(i int) maker {
	if e.Form == domain.OneHot {
		return e.encodeCodes(i)
	}
	return func(r arrow.Record) (arrow.Array, error) {
		if r.Column(i).NullN() > 0 {
			return nil, errMissing
		}
		values, err := floats(r.Column(i))
		return column(arrow.PrimitiveTypes.Float32, e.scale(values), nil), err
	}
}

func (e scaling) scale(values []float64) []float32 {
	offset, slope, least, greatest := e.line()
	z := make([]float32, len(values))
	for j, x := range values {
		z[j] = float32(min(max(offset+float64(slope*x), least), greatest))
	}
	return z
}

// encodeCodes passes codes on; a missing value becomes the last category.
func (e scaling) encodeCodes(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		src, err := codes(a)
		if err != nil {
			return nil, err
		}
		if err := e.checkCodes(src, present(a)); err != nil {
			return nil, err
		}
		if a.NullN() == 0 {
			return a, nil
		}
		if !e.MissingCategory {
			return nil, errMissing
		}
		return column(arrow.PrimitiveTypes.Int32, filled(src, present(a), int32(e.Categories)), nil), nil
	}
}

// checkCodes guards the indicators that a batch of these codes becomes.
func (e scaling) checkCodes(from []int32, b bits) error {
	for i, c := range from {
		if uint32(c) >= uint32(e.Categories) && b.has(i) {
			return fmt.Errorf("has a code outside its %d categories", e.Categories)
		}
	}
	return nil
}

// decode makes column i of a batch as it was before the encoding; nulls stay.
func (e scaling) decode(i int, target domain.Column) maker {
	if e.Form == domain.OneHot {
		return e.decodeCodes(i)
	}
	values := restoring(target)
	return func(r arrow.Record) (arrow.Array, error) {
		x := make([]float64, r.NumRows())
		err := look(r.Column(i), func(j int, z float64) { x[j] = values.value(e.backward(z)) })
		return store(target.ArrowType(), x, present(r.Column(i))), err
	}
}

// decodeCodes turns the code of the category "missing" into a null.
func (e scaling) decodeCodes(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		if !e.MissingCategory {
			return a, nil
		}
		src, err := codes(a)
		if err != nil || !slices.Contains(src, int32(e.Categories)) {
			return a, err
		}
		return withBits(a, missingCodes(src, present(a), int32(e.Categories))), nil
	}
}

// missingCodes marks the values that are the code `missing` as absent.
func missingCodes(src []int32, b bits, missing int32) bits {
	for i, c := range src {
		if c == missing && b.has(i) {
			b = b.setMissing(i, len(src))
		}
	}
	return b
}

// filled copies values with v in the place of missing ones.
func filled[T number](values []T, b bits, v T) []T {
	out := make([]T, len(values))
	for i, x := range values {
		if out[i] = x; !b.has(i) {
			out[i] = v
		}
	}
	return out
}
