package prep

import (
	"encoding/json"
	"fmt"
	"slices"

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
		Doc: "Turns columns into the numbers that a model learns: indicators of declared categories, and numbers scaled by declared bounds " +
			"or moments. Use it right before a model; missing values have to be dealt with before, or be a category. Nothing is read from " +
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
		if i, to, ok := u.find(e.Name); ok {
			if err := e.check(&u.h.Domain.Columns[i], &to); err != nil {
				return fmt.Errorf("column %s: %w", e.Name, err)
			}
			to.OfUnit = ofUnit(u.h.Domain.Columns[i], u.h)
			u.set(i, to, e.MissingCategory, func(randomness) maker { return e.decode(i, to) })
		}
	}
	return nil
}

// checkNames: every name is a column, and has one encoding.
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
			ps.Add("", fmt.Sprintf("given more than one encoding for the column %s", name), "given one of one_hot, ordinal and standard for each column")
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
			"given declared categories, or those that an earlier run with the line `"+domain.ReleaseOf([]string{c.Name})+"` has released as release/categories.domain.yaml, named as dataset.domain")
		return e
	}
	if c.Encoding != nil || c.Type == domain.Text {
		ps.Add("", "given the column "+c.Name+", which is "+describe(c), "given columns that are neither encoded nor text (drop it, or declare its categories)")
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
		ps.Add("one_hot", "given the column "+c.Name+", which is "+describe(c), "given columns with categories (discretize makes them of numbers)")
	} else if len(c.Categories) == 0 {
		ps.Refuse("W02", "one_hot", "given the column "+c.Name+", which has no declared categories", "given declared categories (never read from the data; dp_categories finds some for a charge)")
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
		ps.Refuse("W02", "", "given the column "+c.Name+", which has no declared categories", "given declared categories (never read from the data; dp_categories finds some for a charge)")
	case c.Type.Coded():
		e.Upper = float64(len(c.Categories) - 1)
	case c.Bounds == nil:
		ps.Refuse("W01", "", "given the number "+c.Name+" without declared bounds", "given bounds in the domain (dp_bounds finds some for a charge) or the stage bounds, or a declared mean and sd under standard")
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
