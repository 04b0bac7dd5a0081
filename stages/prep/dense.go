package prep

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
)

// Draw says how a category comes out of a block of real numbers.
type Draw struct {
	Argmax      bool    // the greatest number, the first of equals; no randomness
	Logits      bool    // the block is no probabilities yet: softmax(z/Temperature) is
	Temperature float64 // 0 is 1
}

// denseWidth is the number of real numbers that an encoded row of domain d is:
// the sum of the widths of its encodings, in column order.
func denseWidth(d *domain.Domain) (int, error) {
	width := 0
	for _, c := range d.Columns {
		if c.Encoding == nil {
			return 0, fmt.Errorf("column %s is %s, must be encoded", c.Name, describe(&c))
		}
		width += c.Encoding.Width
	}
	return width, nil
}

// DecodedHeader is the header of the records of DecodeRows, for an encoded table
// of header h: as before its encoding.
func DecodedHeader(h pipeline.Header) (pipeline.Header, error) {
	if _, err := encodingStep(h.Domain); err != nil {
		return h, err
	}
	w, err := undoLast(h)
	if err != nil {
		return h, err
	}
	for i := range w.out.Domain.Columns {
		if c := &w.out.Domain.Columns[i]; c.Encoding != nil {
			return h, fmt.Errorf("column %s is %s, must have an encoding that the step encode knows", c.Name, describe(c))
		}
	}
	return w.out, nil
}

// encodingStep returns the parameters of the last step, which must be encode.
func encodingStep(d *domain.Domain) (map[string]scaling, error) {
	if len(d.History) == 0 || d.History[len(d.History)-1].Kind != encodeName {
		return nil, errors.New("the last invertible step is not encode, so rows of real numbers have no meaning")
	}
	var list []scaling
	if err := json.Unmarshal(d.History[len(d.History)-1].Params, &list); err != nil {
		return nil, err
	}
	scales := map[string]scaling{}
	for _, e := range list {
		scales[e.Name] = e
	}
	return scales, nil
}

// DecodeRows is RowDecoder.Decode for who decodes once.
func DecodeRows(h pipeline.Header, dense []float32, draw Draw, rng *rand.Rand) (arrow.Record, error) {
	d, err := NewRowDecoder(h)
	if err != nil {
		return nil, err
	}
	return d.Decode(dense, draw, rng)
}

// RowDecoder turns rows of real numbers back into what they were before encode. It is safe for
// concurrent use.
type RowDecoder struct {
	Out    pipeline.Header // of the records that it gives
	scales []scaling       // of each column
	places []int           // where its numbers begin
	width  int
	schema *arrow.Schema
}

// NewRowDecoder takes the header of an encoded table; the decoded one is DecodedHeader(h).
func NewRowDecoder(h pipeline.Header) (*RowDecoder, error) {
	out, err := DecodedHeader(h)
	if err != nil {
		return nil, err
	}
	scales, err := encodingStep(h.Domain)
	if err != nil {
		return nil, err
	}
	d := &RowDecoder{Out: out, schema: out.Domain.ArrowSchema()}
	if d.width, err = denseWidth(h.Domain); err != nil {
		return nil, err
	}
	at := 0
	for _, c := range h.Domain.Columns {
		d.scales, d.places = append(d.scales, scales[c.Name]), append(d.places, at)
		at += c.Encoding.Width
	}
	return d, nil
}

// Decode turns rows of real numbers, row-major, as wide as an encoded row, into a record of
// header Out: each one_hot block becomes a category, and so does
// the number of a column of two categories, the probability of the second; each other
// number a value restored to step and bounds. rng may be nil for
// draw.Argmax. A table of such records is what Invert takes on to the source.
func (d *RowDecoder) Decode(dense []float32, draw Draw, rng *rand.Rand) (arrow.Record, error) {
	if d.width == 0 || len(dense)%d.width != 0 {
		return nil, fmt.Errorf("%d numbers are no rows of %d", len(dense), d.width)
	}
	m := matrix{dense: dense, width: d.width, rows: len(dense) / d.width, draw: draw, rng: rng}
	columns := make([]arrow.Array, len(d.scales))
	for i, scale := range d.scales {
		columns[i] = m.column(d.places[i], scale, d.Out.Domain.Columns[i])
	}
	return array.NewRecord(d.schema, columns, int64(m.rows)), nil
}

// matrix is a row-major block of rows of real numbers.
type matrix struct {
	dense       []float32
	width, rows int
	draw        Draw
	rng         *rand.Rand
}

// column decodes the numbers from place `at` of each row.
func (m matrix) column(at int, e scaling, to domain.Column) arrow.Array {
	if e.Form == domain.OneHot {
		picked := m.categories(at, e.encoding().Width)
		var b bits
		if e.MissingCategory {
			b = missingCodes(picked, nil, int32(e.Categories))
		}
		return column(arrow.PrimitiveTypes.Int32, picked, b)
	}
	values, x := restoring(to), make([]float64, m.rows)
	drawn := !m.draw.Argmax && !m.draw.Logits && e.Form == domain.MinMax && len(to.Categories) == 2
	for r := range x {
		v := e.backward(float64(m.dense[r*m.width+at]))
		if drawn { // of two categories in one number it is the probability of the second
			v = chance(v, m.rng)
		}
		x[r] = values.value(v)
	}
	return store(to.ArrowType(), x, nil)
}

// chance is 1 with probability p, else 0.
func chance(p float64, rng *rand.Rand) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

// categories picks one category of each row's block.
func (m matrix) categories(at, width int) []int32 {
	picked, p := make([]int32, m.rows), make([]float64, width)
	for r := range picked {
		block := m.dense[r*m.width+at : r*m.width+at+width]
		if m.draw.Argmax {
			picked[r] = argmax(block)
			continue
		}
		for i, z := range block {
			p[i] = float64(z)
		}
		if m.draw.Logits {
			softmax(p, m.draw.Temperature)
		}
		picked[r] = pick(p, m.rng.Float64())
	}
	return picked
}

// argmax is the place of the greatest number, the first of equals; NaN is never
// the greatest.
func argmax(p []float32) int32 {
	best, at := float32(math.Inf(-1)), 0
	for i, v := range p {
		if v > best {
			best, at = v, i
		}
	}
	return int32(at)
}

// softmax replaces z by exp(z/temperature) over their sum, after subtracting the
// greatest. Temperature 0 is 1.
func softmax(z []float64, temperature float64) {
	if temperature == 0 {
		temperature = 1
	}
	greatest, sum := math.Inf(-1), 0.0
	for _, v := range z {
		greatest = max(greatest, v)
	}
	for i, v := range z {
		z[i] = bitmath.Exp((v - greatest) / temperature)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
}

// pick is the category whose share of the block holds the uniform number u.
// Numbers that are negative or not numbers have no share; a block without any
// share is drawn evenly.
func pick(p []float64, u float64) int32 {
	sum := 0.0
	for i, v := range p {
		if !(v > 0) || math.IsInf(v, 1) {
			p[i] = 0
		}
		sum += p[i]
	}
	if !(sum > 0) {
		return int32(u * float64(len(p)))
	}
	last := 0
	for i, v := range p {
		if v > 0 {
			last = i
		}
		if u -= v / sum; u < 0 && v > 0 {
			return int32(i)
		}
	}
	return int32(last)
}
