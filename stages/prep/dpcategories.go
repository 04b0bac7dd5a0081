package prep

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
)

// DPCategories releases the frequent values of columns of text, which become categories.
//
// Input: a table of stability rows(c). Mechanism: partition selection of each column on
// the number of rows that have a value (mechanism.Partitions, one value a row).
// Sensitivity: a changed row moves one count by 1 (add_remove), or two (replace_one).
// Adjacency: either. Guarantee: (epsilon, delta)-DP for each column, delta the stage's
// share divided by columns and by c, since a group of c rows has c of it and more. Rows
// are matched to the released values one by one. Reference: Korolova et al. 2009.
type DPCategories struct {
	Columns         []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Columns of text to find categories of; by default all but the privacy unit's."`
	Other           string   `yaml:"other" json:"other" minLength:"1" doc:"Category of every value that is not released; it is always there."`
	Most            int      `yaml:"most" json:"most" min:"1" max:"60000" doc:"Most categories of a column beside that one; of more the ones with the greatest noisy counts are kept."`
	Delta           float64  `yaml:"delta,omitempty" json:"delta,omitempty" exclusiveMin:"0" exclusiveMax:"1" doc:"Part of the plan's delta that pays for the selection, over all columns; a tenth of it where this is not given."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"One over the epsilon of each column, for one row; found from the budget where it is not given."`
}

func dpCategoriesKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_categories", Version: 3, In: tableIn(), Late: true,
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "the table, its text turned into categories"},
			{Name: "domain", Form: pipeline.FormFiles, Doc: "the released domain of the table",
				Files: []string{domainFile}},
			{Name: "kept", Form: pipeline.FormMetrics, Doc: "how many values are left, and which share of rows: private, " +
				"counted from real rows"}},
		Figures: keptFigures(),
		Doc: "Finds the categories of text columns from private rows, for a charge. They are values that many rows have, " +
			"by a noisy " +
			"threshold. Use it where the list " +
			"of values is not publicly known; one that somebody can declare costs nothing. Every other value becomes one " +
			"category, which is always there. " +
			"It takes a part of delta. Never use it on identifiers: what is released is released as it is spelled. " +
			"The plan knows that there will be categories, not which; release/ gets STAGE.domain.yaml. Stability stays as it is.",
		New: func() pipeline.Stage { return &DPCategories{Other: "other", Most: 10000} },
	}
}

// Plan implements pipeline.Stage.
func (s *DPCategories) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	h := in["in"]
	places := s.places(&ps, h.Domain)
	delta := s.share(&ps, h) / float64(max(1, len(places))*rowsOf(h))
	d := h.Domain.Clone()
	for _, i := range places {
		c := &d.Columns[i]
		c.Type, c.Categories, c.Late, c.Source, c.OfUnit = domain.Categorical, nil, true, "", false
		forget(d, c.Name) // the text of before cannot be found again
	}
	f := &categoriesFinding{other: s.Other, most: s.Most, places: places, out: rowHeader(h, d)}
	return pipeline.Work{Out: pipeline.Headers{"out": f.out, "domain": filesHeader(h), "kept": keptHeader(h)}, Run: f.run,
		Elsewhere: releases(),
		Pricing:   pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "categories", Doc: fmt.Sprintf("partition selection of %s, delta %.3g each",
			counted(len(places), "column"), delta),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.Partitions{Epsilon: 1 / max(scale, noNoise), Delta: delta, PerUnit: 1,
					Adjacency: h.Terms.Adjacency, Releases: int64(len(places))}
			}}},
	}, ps.Err()
}

func (s *DPCategories) places(ps *schema.Problems, d *domain.Domain) []int {
	places := d.Pick(ps, "columns", s.Columns)
	for i, c := range d.Columns {
		if len(s.Columns) == 0 && c.Type == domain.Text && !c.TellsUnit() {
			places = append(places, i)
		}
	}
	for _, i := range places {
		switch c := &d.Columns[i]; {
		case c.Type != domain.Text:
			ps.Add("columns", c.Name+", which is "+describe(c), "columns of type text")
		case c.TellsUnit():
			ps.Refuse("W02", "columns", domain.UnitWords(*c)+", which names the privacy unit",
				"columns of values that many units share")
		case slices.Contains(c.Missing, s.Other):
			ps.Add("other", fmt.Sprintf("%q, which stands for a missing value in %s", s.Other, c.Name), "another name")
		}
	}
	if len(places) == 0 && len(*ps) == 0 {
		ps.Add("columns", "absent, and the table has no column of text",
			"given with columns of type text; else leave the stage out")
	}
	if !nameable(s.Other) {
		ps.Add("other", fmt.Sprintf("%q", s.Other), plaintext.Accepted+fmt.Sprintf(", of at most %d bytes", longest))
	}
	return places
}

// share returns the part of delta that the stage spends, over all columns.
func (s *DPCategories) share(ps *schema.Problems, h pipeline.Header) float64 {
	value := h.Terms.Delta
	switch {
	case s.Delta > 0 && (value == 0 || s.Delta < value || h.Terms.NoPrivacy):
		return s.Delta
	case s.Delta > 0:
		ps.Add("delta", fmt.Sprint(s.Delta), fmt.Sprintf("below the plan's delta, which is %g", value))
	case value > 0:
		return value / 10
	case h.Terms.NoPrivacy:
		return 1e-9 // nothing is drawn with it
	default:
		ps.Add("delta", "absent, and the plan's delta is 0", "a positive delta: no selection of an open set does without")
	}
	return 0.5 // there is a problem
}

// rowsOf returns how many rows one unit changes; a table of which that is not said is
// refused by the compiler.
func rowsOf(h pipeline.Header) int {
	if h.Stability.Spread == pipeline.SpreadRows {
		return max(1, h.Stability.N)
	}
	return 1
}

// longest is the greatest length of a category in bytes: longer texts are not categories.
const longest = 200

// nameable reports whether a value can be a category: a rule about the value alone.
func nameable(v string) bool { return v != "" && len(v) <= longest && plaintext.Printable(v) }

// categoriesFinding is the planned stage.
type categoriesFinding struct {
	other  string
	most   int
	places []int
	out    pipeline.Header
}

func (f *categoriesFinding) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	counts, err := f.count(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open("categories")
	if err != nil {
		return nil, err
	}
	d, makers := f.out.Domain.Clone(), keepAll(f.out.Domain)
	left := make([]keptValues, len(f.places))
	for j, i := range f.places {
		parts, err := mechanism.ReleasePartitions(paid, counts[j].rows)
		if err != nil {
			return nil, err
		}
		names := f.frequent(parts)
		left[j] = counts[j].keptValues(d.Columns[i].Name, names)
		d.Columns[i].Categories = append(names, f.other)
		makers[i] = matching(i, d.Columns[i].Categories)
	}
	out, err := released(env, f.out, d, makers, in["in"])
	if err == nil {
		out["kept"] = pipeline.WriteMetrics(keptHeader(f.out), keptMetrics(left, f.other))
	}
	return out, err
}

// frequent returns the names of the released values with the greatest noisy counts, in the
// order of the alphabet.
func (f *categoriesFinding) frequent(parts []mechanism.Partition) []string {
	slices.SortStableFunc(parts, func(a, b mechanism.Partition) int { return cmp.Compare(b.Count, a.Count) })
	var names []string
	for _, p := range parts[:min(len(parts), f.most)] {
		names = append(names, p.Name)
	}
	slices.Sort(names)
	return names
}

// count tells how many rows have each value that could be a category; the one for all
// others is released anyhow.
func (f *categoriesFinding) count(ctx context.Context, t pipeline.Table) ([]valueCounts, error) {
	counts := make([]valueCounts, len(f.places))
	for j := range counts {
		counts[j].rows = map[string]int64{}
	}
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for j, i := range f.places {
			a, ok := r.Column(i).(*array.String)
			if !ok {
				return nil, notText(r.Column(i))
			}
			counts[j].add(a, f.other)
		}
	}
	return counts, nil
}

func notText(a arrow.Array) error {
	return fmt.Errorf("has the Arrow type %s, must be text", a.DataType())
}

// matching codes a column of text; what is not listed becomes the last category.
func matching(i int, categories []string) maker {
	code := map[string]int32{}
	for at, name := range categories {
		code[name] = int32(at)
	}
	return func(r arrow.Record) (arrow.Array, error) {
		a, ok := r.Column(i).(*array.String)
		if !ok {
			return nil, notText(r.Column(i))
		}
		b, dst := present(a), make([]int32, a.Len())
		for j := range dst {
			if !b.has(j) {
				continue
			}
			pos, known := code[a.Value(j)]
			if !known {
				pos = int32(len(categories) - 1)
			}
			dst[j] = pos
		}
		return column(arrow.PrimitiveTypes.Int32, dst, b), nil
	}
}

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

// keptValues says what is left of the values of a column.
type keptValues struct {
	column       string
	values, left int
	other        float64 // share of the rows with a value whose value is not left; NaN without such rows
}

// keptValues compares the values of a column with the names that are released.
func (c *valueCounts) keptValues(column string, names []string) keptValues {
	rows := int64(0)
	for _, name := range names {
		rows += c.rows[name]
	}
	k := keptValues{column: column, values: len(c.rows), left: len(names), other: math.NaN()}
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

// keptHeader returns the header of what is told of kept values: private, since it is counted from real rows without
// noise.
func keptHeader(like pipeline.Header) pipeline.Header {
	return pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: pipeline.Private,
		Stability: pipeline.Unbounded(), Terms: like.Terms}
}

// mostKept is how many columns the note of the whole table names.
const mostKept = 3

// keptMetrics lists what is left of each column; the whole table has the greatest share that is not.
func keptMetrics(list []keptValues, other string) []pipeline.Metric {
	worst := slices.Clone(list)
	slices.SortStableFunc(worst, func(a, b keptValues) int { return cmp.Compare(b.other, a.other) })
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
