package prep

import (
	"context"
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
)

// DPBounds releases bounds of numbers that have no public ones.
//
// Input: a table of stability rows(c). Mechanism: one histogram of each column, whose
// bins are signs and powers of two, with discrete Laplace noise (mechanism.Bounds).
// Sensitivity: a changed row moves one count of a column by 1 (add_remove) or two
// (replace_one). Adjacency: either. Guarantee: as for discrete Laplace noise used once
// a column. Bounds are a function of the noisy counts and of public settings, and rows
// are held to them one by one. Reference: Wilson et al. 2020 (approximate bounds).
type DPBounds struct {
	Columns         []string `yaml:"columns,omitempty" json:"columns,omitempty" format:"columns" doc:"Numbers and dates to find bounds of; by default all without bounds, but for the privacy unit's."`
	LowExponent     int      `yaml:"low_exponent" json:"low_exponent" min:"-200" max:"200" doc:"Sizes below two to this power are told apart no further."`
	HighExponent    int      `yaml:"high_exponent" json:"high_exponent" min:"-200" max:"200" doc:"Sizes are held to two to this power: no bound is found beyond it."`
	Failure         float64  `yaml:"failure" json:"failure" exclusiveMin:"0" exclusiveMax:"1" doc:"Chance, for each column, that noise alone makes its bounds too wide. Less of it asks for more rows at each end."`
	NoiseMultiplier float64  `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Scale of the noise on each count of rows; found from the budget where it is not given."`
}

func dpBoundsKind() pipeline.Kind {
	return pipeline.Kind{
		Name: "dp_bounds", Version: 2, In: tableIn(), Late: true,
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "the table, held to the released bounds"},
			{Name: "domain", Form: pipeline.FormFiles, Doc: "the released domain of the table",
				Files: []string{domainFile}}},
		Doc: "Finds bounds of numbers from private rows, for a charge, and clips the numbers to them. Use it where no " +
			"bounds are publicly known; " +
			"bounds that somebody can declare cost nothing and are tighter. They are powers of two, or zero: the outermost " +
			"ones between which at least a " +
			"noisy threshold of rows lies, so single rows far out are clipped. Where too few rows reach it the range is as " +
			"wide as high_exponent says. " +
			"The plan knows that there will be bounds, not which; release/ gets STAGE.domain.yaml. Stability stays as it is.",
		New: func() pipeline.Stage { return &DPBounds{LowExponent: -10, HighExponent: 40, Failure: 0.001} },
	}
}

// Plan implements pipeline.Stage.
func (s *DPBounds) Plan(in pipeline.Headers) (pipeline.Work, error) {
	var ps schema.Problems
	h := in["in"]
	places := s.places(&ps, h.Domain)
	d := h.Domain.Clone()
	for _, i := range places {
		c := &d.Columns[i]
		c.Late, c.Source, c.OfUnit = true, "", ofUnit(*c, h)
	}
	b := &boundsFinding{settings: *s, places: places, out: rowHeader(h, d)}
	return pipeline.Work{Out: pipeline.Headers{"out": b.out, "domain": filesHeader(h)}, Run: b.run, Elsewhere: releases(),
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "bounds", Doc: "a noisy histogram of signs and powers of two, of " +
			counted(len(places), "column"),
			Mechanism: func(scale float64) privacy.Mechanism { return s.mechanism(scale, len(places)) }}},
	}, ps.Err()
}

func (s *DPBounds) mechanism(scale float64, columns int) mechanism.Bounds {
	return mechanism.Bounds{NoiseMultiplier: max(scale, noNoise), LowExponent: s.LowExponent, HighExponent: s.HighExponent,
		Failure: s.Failure, Releases: int64(columns)}
}

// noNoise is the least scale that a discrete Laplace law takes: that its noise is not 0
// has a probability of exp(-2^20). Runs without privacy draw it.
const noNoise = 0x1p-20

func (s *DPBounds) places(ps *schema.Problems, d *domain.Domain) []int {
	places := d.Pick(ps, "columns", s.Columns)
	for i, c := range d.Columns {
		if len(s.Columns) == 0 && isNumber(&c) && c.Bounds == nil && !c.Late && !c.TellsUnit() {
			places = append(places, i)
		}
	}
	for _, i := range places {
		s.check(ps, &d.Columns[i])
	}
	if len(places) == 0 && len(*ps) == 0 {
		ps.Add("columns", "absent, and every number of the table has bounds already",
			"given with columns that have no bounds; else leave the stage out")
	}
	if s.LowExponent >= s.HighExponent {
		ps.Add("high_exponent", fmt.Sprint(s.HighExponent), fmt.Sprintf("above low_exponent, which is %d", s.LowExponent))
	}
	return places
}

func (s *DPBounds) check(ps *schema.Problems, c *domain.Column) {
	switch {
	case c.RefuseUnit(ps, "columns"):
	case !isNumber(c):
		ps.Add("columns", c.Name+", which is "+describe(c), "numbers and dates")
	case c.Late:
		ps.Add("columns", c.Name+", whose bounds another stage releases",
			"columns without bounds: a second charge buys nothing")
	case c.Bounds != nil:
		ps.Add("columns", c.Name+", which has bounds", "columns without bounds: what is publicly known costs nothing")
	case s.HighExponent > highest(c):
		ps.Add("high_exponent", fmt.Sprint(s.HighExponent),
			fmt.Sprintf("at most %d, so that the values of %s can be numbered", highest(c), c.Name))
	}
}

// highest returns the exponent up to which the multiples of a column's step can be numbered
// by a float64 from end to end. Numbers without a step have the range of the settings.
func highest(c *domain.Column) int {
	step := spacing(c)
	if step == 0 {
		return 200
	}
	return 51 + int(math.Floor(bitmath.Log2(step)))
}

// spacing returns the step of a column, 1 for whole numbers; 0 where there is none.
func spacing(c *domain.Column) float64 {
	if c.Type == domain.Numeric {
		return c.Step
	}
	return max(1, math.Trunc(c.Step))
}

// boundsFinding is the planned stage.
type boundsFinding struct {
	settings DPBounds
	places   []int
	out      pipeline.Header
}

func (b *boundsFinding) run(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
	counts, err := b.count(ctx, in["in"])
	if err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open("bounds")
	if err != nil {
		return nil, err
	}
	d, makers := b.out.Domain.Clone(), keepAll(b.out.Domain)
	for j, i := range b.places {
		low, high, err := mechanism.ReleaseBounds(paid, counts[j])
		if none := errors.Is(err, mechanism.ErrNoBounds); err != nil && !none {
			return nil, err
		}
		b.settings.fill(&d.Columns[i], low, high, err == nil)
		makers[i] = (&Bounds{Outside: "clip"}).maker(i, d.Columns[i], d.Columns[i].Bounds[0], d.Columns[i].Bounds[1])
	}
	return released(env, b.out, d, makers, in["in"])
}

// count tells how many numbers of each column lie in each bin; missing ones lie in none.
func (b *boundsFinding) count(ctx context.Context, t pipeline.Table) ([][]int64, error) {
	m := b.settings.mechanism(1, len(b.places))
	counts := make([][]int64, len(b.places))
	for j := range counts {
		counts[j] = m.Count(nil, nil)
	}
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for j, i := range b.places {
			values, err := floats(r.Column(i))
			if err != nil {
				return nil, err
			}
			m.Count(counts[j], where(values, present(r.Column(i))))
		}
	}
	return counts, nil
}

// where lists the values that are present.
func where(values []float64, b bits) []float64 {
	if b == nil {
		return values
	}
	var there []float64
	for i, v := range values {
		if b.has(i) {
			there = append(there, v)
		}
	}
	return there
}

// fill puts released bounds on a column: whole multiples of its step, which is counted
// from the lower one, and never empty. Where none were found they are as wide as they
// can be.
func (s *DPBounds) fill(c *domain.Column, low, high float64, found bool) {
	widest := math.Ldexp(1, s.HighExponent)
	if !found {
		low, high = -widest, widest
		c.Doc = joined(c.Doc, "no bin of dp_bounds reached its threshold, so these bounds are its widest")
	}
	if low == high { // beyond the highest exponent, on one side
		low, high = min(low, low/2), max(high, high/2)
	}
	least, greatest := c.Type.Span()
	one := 1.0
	if c.Type.Moment() { // of which a day has whole steps
		one, greatest = c.Step, math.Floor(greatest/c.Step)*c.Step
	}
	if c.Type.Calendar() {
		low, high = min(max(low, least), greatest-one), max(min(high, greatest), least+one)
	}
	if step := spacing(c); step > 0 {
		low, high = math.Floor(low/step)*step, math.Ceil(high/step)*step
	}
	if c.Type.Calendar() { // whose step may not divide the ends
		low, high = max(low, least), min(high, greatest)
	}
	c.Bounds = &[2]float64{low, high}
}

func joined(doc, more string) string {
	if doc == "" {
		return more
	}
	return doc + " (" + more + ")"
}
