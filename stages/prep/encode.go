package prep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
)

// Encode turns every column into numbers that a model can learn.
type Encode struct {
	OneHot   []string           `yaml:"one_hot,omitempty" json:"one_hot,omitempty" format:"columns" doc:"Columns to encode as one indicator per category; categorical columns are included without being named."`
	Ordinal  []string           `yaml:"ordinal,omitempty" json:"ordinal,omitempty" format:"columns" doc:"Columns to encode as one number, by the order of their categories; ordinal and boolean columns are included without being named."`
	MinMax   [2]float64         `yaml:"min_max" json:"min_max" doc:"Range that all other numbers are scaled to: [-1, 1] for tanh, [0, 1] for sigmoid outputs. The declared bounds map to its ends."`
	Standard map[string]Moments `yaml:"standard,omitempty" json:"standard,omitempty" format:"columns" doc:"Columns to standardise by a publicly known mean and standard deviation instead."`
	Separate bool               `yaml:"separate_cells,omitempty" json:"separate_cells,omitempty" doc:"Whether a model puts out each indicator of a column as a number of its own, a sigmoid as tanh is on [0, 1], in place of one softmax over them. The most probable category is then that of the greatest, and a draw goes by their sizes."`
	Missing  string             `yaml:"missing" json:"missing" enum:"error|category" doc:"How a column that may have missing values is handled: an error, or (one_hot only) a category of its own."`
}

// Moments are the declared, never computed, mean and standard deviation.
type Moments struct {
	Mean float64 `yaml:"mean" json:"mean" doc:"Publicly known mean."`
	SD   float64 `yaml:"sd" json:"sd" required:"true" exclusiveMin:"0" doc:"Publicly known standard deviation."`
}

const encodeName = "encode"

func encodeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: encodeName, Version: 2, In: tableIn(), Out: tableOut("the encoded table"),
		Doc: "Turns columns into the numbers that a model learns. They are indicators of declared categories, and numbers " +
			"scaled by " +
			"declared bounds " +
			"or moments. Use it right before a model; missing values have to be dealt with before, or be a category. Nothing " +
			"is read from " +
			"the data, so it works row by row and stability stays as it is.",
		New: func() pipeline.Stage { return &Encode{MinMax: [2]float64{-1, 1}, Missing: "error"} },
	}
}

// Plan implements pipeline.Stage.
func (s *Encode) Plan(in pipeline.Headers) (pipeline.Work, error) { return planRows(in, s.plan) }

func (s *Encode) plan(h pipeline.Header) (rewrite, error) {
	var ps schema.Problems
	s.checkNames(&ps, h.Domain)
	if !(s.MinMax[0] < s.MinMax[1]) {
		ps.Add("min_max", fmt.Sprintf("[%g, %g]", s.MinMax[0], s.MinMax[1]), "two numbers in ascending order")
	}
	d, makers := h.Domain.Clone(), make([]maker, len(h.Domain.Columns))
	scales := make([]scaling, len(d.Columns))
	for i := range d.Columns {
		scales[i] = s.scaling(&ps, &d.Columns[i])
		d.Columns[i].Encoding, d.Columns[i].OfUnit = scales[i].encoding(), ofUnit(d.Columns[i], h)
		makers[i] = scales[i].encode(i)
	}
	if err := ps.Err(); err != nil {
		return rewrite{}, err
	}
	params, err := json.Marshal(scales)
	if err != nil {
		return rewrite{}, err
	}
	remember(d, h.Domain, encodeName, params)
	return rewrite{out: rowHeader(h, d), makers: fixed(makers), rows: "makes the numbers that a net learns from"}, nil
}

// undoEncode brings back the values of every column that was encoded.
func undoEncode(u *undoing) error {
	var scales []scaling
	if err := json.Unmarshal(u.step.Params, &scales); err != nil {
		return err
	}
	for _, e := range scales {
		if i, target, ok := u.find(e.Name); ok {
			if err := e.check(&u.h.Domain.Columns[i], &target); err != nil {
				return fmt.Errorf("column %s: %w", e.Name, err)
			}
			target.OfUnit = ofUnit(u.h.Domain.Columns[i], u.h)
			u.set(i, target, e.MissingCategory, func(randomness) maker { return e.decode(i, target) })
		}
	}
	return nil
}

// checkNames checks that every name is a column, and has one encoding.
func (s *Encode) checkNames(ps *schema.Problems, d *domain.Domain) {
	times := map[string]int{}
	for _, name := range append(slices.Clone(s.OneHot), s.Ordinal...) {
		times[name]++
	}
	d.Pick(ps, "one_hot", s.OneHot)
	d.Pick(ps, "ordinal", s.Ordinal)
	for _, name := range sorted(s.Standard) {
		if times[name]++; d.Index(name) < 0 {
			ps.Unknown("standard."+name, "column of the table", name, d.Names())
		}
	}
	for _, name := range sorted(times) {
		if times[name] > 1 && !slices.Contains(duplicates(s.OneHot), name) && !slices.Contains(duplicates(s.Ordinal), name) {
			ps.Add("", fmt.Sprintf("given more than one encoding for the column %s", name),
				"given one of one_hot, ordinal and standard for each column")
		}
	}
}

func duplicates(names []string) []string {
	var twice []string
	for i, n := range names {
		if slices.Contains(names[:i], n) {
			twice = append(twice, n)
		}
	}
	return twice
}

// scaling chooses the encoding of one column.
func (s *Encode) scaling(ps *schema.Problems, c *domain.Column) scaling {
	e := scaling{Name: c.Name, Form: domain.MinMax, Range: s.MinMax, Categories: len(c.Categories)}
	if c.Private() {
		ps.Refuse("W02", "", "given the column "+c.Name+", whose categories are private",
			"given declared categories, or those that an earlier run with the line `"+domain.ReleaseOf([]string{c.Name})+
				"` has released as release/categories.domain.yaml, named as dataset.domain")
		return e
	}
	if c.Encoding != nil || c.Type == domain.Text {
		ps.Add("", "given the column "+c.Name+", which is "+describe(c),
			"given columns that are neither encoded nor text (drop it, or declare its categories)")
		return e
	}
	moments, standard := s.Standard[c.Name]
	coded := slices.Contains(s.OneHot, c.Name) || c.Type == domain.Categorical && !slices.Contains(s.Ordinal, c.Name)
	switch {
	case coded && !standard:
		s.oneHot(ps, c, &e)
	case standard:
		s.standard(ps, c, moments, &e)
	default:
		s.minMax(ps, c, &e)
	}
	s.checkMissing(ps, c, &e)
	return e
}

func (s *Encode) oneHot(ps *schema.Problems, c *domain.Column, e *scaling) {
	e.Form, e.Range = domain.OneHot, [2]float64{}
	if s.Separate {
		e.Range = domain.SeparateCells()
	}
	if !c.Type.Coded() {
		ps.Add("one_hot", "given the column "+c.Name+", which is "+describe(c),
			"given columns with categories (discretize makes them of numbers)")
	} else if len(c.Categories) == 0 {
		ps.Refuse("W02", "one_hot", "given the column "+c.Name+", which has no declared categories",
			"given declared categories (never read from the data; dp_categories finds some for a charge)")
	}
	e.MissingCategory = c.Nullable && s.Missing == "category"
}

func (s *Encode) standard(ps *schema.Problems, c *domain.Column, m Moments, e *scaling) {
	e.Form, e.Range, e.Mean, e.SD = domain.Standard, [2]float64{}, m.Mean, m.SD
	if !isNumber(c) {
		ps.Add("standard."+c.Name, "given for a column that is "+describe(c), "given for a number, a date or a time")
	}
	if !(m.SD > 0) {
		ps.Add("standard."+c.Name+".sd", fmt.Sprint(m.SD), "above 0")
	}
}

func (s *Encode) minMax(ps *schema.Problems, c *domain.Column, e *scaling) {
	switch {
	case slices.Contains(s.Ordinal, c.Name) && !c.Type.Coded():
		ps.Add("ordinal", "given the column "+c.Name+", which is "+describe(c), "given columns with categories")
	case c.Type.Coded() && len(c.Categories) == 0:
		ps.Refuse("W02", "", "given the column "+c.Name+", which has no declared categories",
			"given declared categories (never read from the data; dp_categories finds some for a charge)")
	case c.Type.Coded():
		e.Upper = float64(len(c.Categories) - 1)
	case c.Bounds == nil:
		ps.Refuse("W01", "", "given the number "+c.Name+" without declared bounds", "given bounds in the domain (dp_bounds "+
			"finds some for a charge) or the stage bounds, or a declared mean and sd under standard")
	default:
		e.Lower, e.Upper = c.Bounds[0], c.Bounds[1]
	}
}

func (s *Encode) checkMissing(ps *schema.Problems, c *domain.Column, e *scaling) {
	if !c.Nullable || e.MissingCategory {
		return
	}
	fix := "imputed before (impute_knn, impute_constant)"
	if e.Form == domain.OneHot {
		fix += ", or a category of its own by missing: category"
	} else {
		fix += "; missing_indicator keeps what was missing"
	}
	ps.Add("", "given the column "+c.Name+", which may have missing values", fix)
}

// Decode brings an encoded table back to values.
type Decode struct {
	To string `yaml:"to" json:"to" enum:"source|encoded" doc:"source undoes every invertible step; encoded undoes only the last one, usually encode."`
}

func decodeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "decode", Version: 3, In: tableIn(), Out: tableOut("the table in terms of the source, or before its last step"),
		Doc: "Undoes the invertible steps encode, discretize, not_available and missing_indicator. Use it to look at " +
			"encoded rows in plain " +
			"values; the stage sample does the same for generated rows. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Decode{To: "source"} },
	}
}

// Plan implements pipeline.Stage.
//
// Why stability is kept where values are drawn inside their bins: couple the draws
// of all rows but those that change. Public draws, which are fixed, do so where each
// row keeps its place. Elsewhere one row more would give all rows after it other
// values, so there they are secret: a sequence whose law is the same with and
// without the row.
func (s *Decode) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	steps := len(h.Domain.History)
	if steps == 0 {
		var ps schema.Problems
		ps.Add("", "given a table without an invertible step",
			"given a table after encode, discretize, not_available or missing_indicator")
		return pipeline.Work{}, ps
	}
	if s.To != "source" {
		steps = 1
	}
	back, err := planInverse(h, steps)
	secret := back.draws && h.Class == pipeline.Private && !publicPositions(h)
	return pipeline.Work{Out: pipeline.Headers{"out": back.out}, Lazy: true, Secret: secret,
		Elsewhere: needsRows("undoes steps that brought rows into a model"),
		Run: func(_ context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			draws := publicDraws(func() *rand.Rand { return env.Rand("decode") })
			if secret {
				draws = secretDraws(keyFrom(env.Secret("decode")))
			}
			return pipeline.Tables{"out": back.apply(in["in"], draws)}, nil
		}}, err
}

// Draw says how a category comes out of a block of real numbers.
type Draw struct {
	Argmax      bool    // the greatest number, the first of equals; no randomness
	Logits      bool    // the block is not probabilities yet: softmax(z/Temperature) is
	Temperature float64 // 0 is 1
}

// denseWidth returns the number of real numbers that an encoded row of domain d is:
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

// DecodedHeader returns the header of the records of DecodeRows, for an encoded table
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

// DecodeRows decodes, as RowDecoder.Decode does, for who decodes once.
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
	pos := 0
	for _, c := range h.Domain.Columns {
		d.scales, d.places = append(d.scales, scales[c.Name]), append(d.places, pos)
		pos += c.Encoding.Width
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
		return nil, fmt.Errorf("%d numbers are not rows of %d", len(dense), d.width)
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
func (m matrix) column(pos int, e scaling, target domain.Column) arrow.Array {
	if e.Form == domain.OneHot {
		picked := m.categories(pos, e.encoding().Width)
		var b bits
		if e.MissingCategory {
			b = missingCodes(picked, nil, int32(e.Categories))
		}
		return column(arrow.PrimitiveTypes.Int32, picked, b)
	}
	values, x := restoring(target), make([]float64, m.rows)
	random := !m.draw.Argmax && !m.draw.Logits && e.Form == domain.MinMax && len(target.Categories) == 2
	for r := range x {
		v := e.backward(float64(m.dense[r*m.width+pos]))
		if random { // of two categories in one number it is the probability of the second
			v = chance(v, m.rng)
		}
		x[r] = values.value(v)
	}
	return store(target.ArrowType(), x, nil)
}

// chance returns 1 with probability p, else 0.
func chance(p float64, rng *rand.Rand) float64 {
	if rng.Float64() < p {
		return 1
	}
	return 0
}

// categories picks one category of each row's block.
func (m matrix) categories(pos, width int) []int32 {
	picked, p := make([]int32, m.rows), make([]float64, width)
	for r := range picked {
		block := m.dense[r*m.width+pos : r*m.width+pos+width]
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

// argmax returns the place of the greatest number, the first of equals; NaN is never
// the greatest.
func argmax(p []float32) int32 {
	best, pos := float32(math.Inf(-1)), 0
	for i, v := range p {
		if v > best {
			best, pos = v, i
		}
	}
	return int32(pos)
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

// pick returns the category whose share of the block holds the uniform number u.
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
