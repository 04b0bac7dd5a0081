package prep

import (
	"context"
	"encoding/json"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
)

// Decode brings an encoded table back to values.
type Decode struct {
	To string `yaml:"to" json:"to" enum:"source|encoded" doc:"source undoes every invertible step; encoded undoes only the last one, usually encode."`
}

func decodeKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "decode", Version: 1, In: tableIn(), Out: tableOut("the table in terms of the source, or before its last step"),
		Doc: "Undoes the invertible steps encode, discretize, not_available and missing_indicator. Use it to look at encoded rows in plain " +
			"values; the stage sample does the same for generated rows. Works row by row, so stability stays as it is.",
		New: func() pipeline.Stage { return &Decode{To: "source"} },
	}
}

// Plan implements pipeline.Stage.
func (s *Decode) Plan(in pipeline.Headers) (pipeline.Outline, error) {
	h := in["in"]
	if len(h.Domain.History) == 0 {
		var ps pipeline.Problems
		ps.Add("", "given a table that no step changed in an invertible way", "given one after encode, discretize, not_available or missing_indicator")
		return pipeline.Outline{}, ps
	}
	out, err := s.header(h)
	return pipeline.Outline{Out: pipeline.Headers{"out": out}, Lazy: true}, err
}

func (s *Decode) header(h pipeline.Header) (pipeline.Header, error) {
	if s.To == "source" {
		return InvertHeader(h)
	}
	w, err := undoLast(h, nil)
	return w.out, err
}

// Run implements pipeline.Stage.
func (s *Decode) Run(_ context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	random := func() *rand.Rand { return env.Rand("decode") }
	if s.To == "source" {
		t, err := Invert(in["in"], random)
		return pipeline.Tables{"out": t}, err
	}
	w, err := undoLast(in["in"].Header, random)
	if err != nil {
		return nil, err
	}
	return pipeline.Tables{"out": w.apply(in["in"])}, nil
}

// encode undoes the step encode.
func (u *undoing) encode() error {
	var scales []scaling
	if err := json.Unmarshal(u.step.Params, &scales); err != nil {
		return err
	}
	for _, e := range scales {
		if i, before, ok := u.find(e.Name); ok {
			u.set(i, before, e.MissingCategory, func() maker { return e.decode(i, *before) })
		}
	}
	return nil
}

// decode makes column i of a batch as it was before the encoding; nulls stay.
func (e scaling) decode(i int, to pipeline.Column) maker {
	if e.Form == pipeline.OneHot {
		return e.decodeCodes(i)
	}
	values := restoring(to)
	return func(r arrow.Record) (arrow.Array, error) {
		z, err := floats(r.Column(i))
		if err != nil {
			return nil, err
		}
		x := make([]float64, len(z))
		for j, v := range z {
			x[j] = values.value(e.backward(v))
		}
		return store(to.ArrowType(), x, present(r.Column(i))), nil
	}
}

// decodeCodes turns the code of the category "missing" into a null.
func (e scaling) decodeCodes(i int) maker {
	return func(r arrow.Record) (arrow.Array, error) {
		a := r.Column(i)
		if !e.MissingCategory {
			return a, nil
		}
		from, err := codes(a)
		if err != nil {
			return nil, err
		}
		return column(arrow.PrimitiveTypes.Int32, from, missingCodes(from, present(a), int32(e.Categories))), nil
	}
}

// missingCodes marks the values that are the code `missing` as absent.
func missingCodes(from []int32, b bits, missing int32) bits {
	for i, c := range from {
		if c == missing && b.has(i) {
			b = b.without(i, len(from))
		}
	}
	return b
}
