package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"weir/internal/portable"
	"weir/record/sweep"
)

// sweepCurves are the curves of an experiment: one line for the rows that differ in epsilon alone.
type sweepCurves struct {
	t     *sweep.Table
	h     text.Handler
	lines []string
	x     map[float64]float64 // of each epsilon its place on the axis
	log   bool
	axis  string // which epsilon: proven, or published where nothing is proven
	step  string // the setting that the axis is of instead, where checkpoints of one training differ
	why   string // why there are none
}

// wide is the span of epsilons from which the axis is logarithmic.
const wide = 4

func curvesOf(t *sweep.Table) *sweepCurves {
	c := &sweepCurves{t: t, h: handler(), x: map[float64]float64{}}
	low, high := math.Inf(1), 0.0
	c.axis = "published"
	if slices.ContainsFunc(t.Rows, func(r sweep.Row) bool { return r.Proven != nil }) {
		c.axis = "proven"
	}
	if c.epsilons() < 2 {
		c.step = t.StepPath()
	}
	for _, r := range t.Rows {
		if line := t.Line(r, c.step); !slices.Contains(c.lines, line) {
			c.lines = append(c.lines, line)
		}
		if e, known := c.placeOf(r); known {
			c.x[e], low, high = e, min(low, e), max(high, e)
		}
	}
	if len(c.x) < 2 {
		c.why = "No curves: the runs do not have two " + c.axis + " epsilons to draw a figure over."
		return c
	}
	c.log = high >= wide*low
	for e := range c.x {
		if c.log {
			c.x[e] = portable.Log10(e)
		}
	}
	return c
}

// epsilons is how many there are to draw a figure over.
func (c *sweepCurves) epsilons() int {
	found := map[float64]bool{}
	for _, r := range c.t.Rows {
		if e, known := c.epsilonOf(r); known {
			found[e] = true
		}
	}
	return len(found)
}

// placeOf is what of a row the axis is of, if it can be shown there.
func (c *sweepCurves) placeOf(r sweep.Row) (float64, bool) {
	if c.step == "" {
		return c.epsilonOf(r)
	}
	step, err := strconv.ParseFloat(r.Settings[c.step], 64)
	return step, err == nil && step > 0 && !math.IsInf(step, 0)
}

// over words the axis.
func (c *sweepCurves) over() string {
	if c.step != "" {
		return "step"
	}
	return c.axis + " epsilon"
}

// epsilonOf is the epsilon of a row that the axis is of, if it can be shown there. The two
// never mix on one axis.
func (c *sweepCurves) epsilonOf(r sweep.Row) (float64, bool) {
	e := r.Proven
	if c.axis == "published" {
		e = r.Published
	}
	if e == nil || !(*e > 0) || math.IsInf(*e, 0) {
		return 0, false
	}
	return *e, true
}

func (c *sweepCurves) legend() []legendLine {
	var list []legendLine
	for i, name := range c.lines {
		list = append(list, legendLine{name, sampleOf(i)})
	}
	return list
}

// spot is a mean on a line, with the ends of its interval.
type spot struct{ x, mean, low, high float64 }

// marks are those of one line, by epsilon.
func (c *sweepCurves) marks(metric, line string) []spot {
	var list []spot
	for _, r := range c.t.Rows {
		e, known := c.placeOf(r)
		s := r.Metrics[metric]
		if !known || s.Mean == nil || c.t.Line(r, c.step) != line {
			continue
		}
		m := spot{c.x[e], *s.Mean, *s.Mean, *s.Mean}
		if s.High != nil {
			m.low, m.high = *s.Low, *s.High
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b spot) int { return int(math.Copysign(1, a.x-b.x)) })
	return list
}

// picture of a metric; nil where fewer than two epsilons have it.
func (c *sweepCurves) picture(metric string) *picture {
	var all [][]spot
	var alt []string
	for _, line := range c.lines {
		marks := c.marks(metric, line)
		all = append(all, marks)
		if len(marks) > 0 {
			alt = append(alt, fmt.Sprintf("%s from %s to %s", line, number(marks[0].mean), number(marks[len(marks)-1].mean)))
		}
	}
	if c.count(metric) < 2 {
		return nil
	}
	p := &picture{title: metric, w: 4, h: 3, text: c.h, alt: metric + " over " + c.over() + ", least to largest: " + strings.Join(alt, "; ") + ".",
		draw: func(canvas draw.Canvas) { c.draw(canvas, all, c.reference(metric)) }}
	if !math.IsNaN(c.reference(metric)) {
		p.caption = "Dashed: " + realRows(metric) + ", " + number(c.reference(metric)) + "."
	}
	return p
}

// realRows says what the reference of a metric is: a score is what a learner of real rows reaches.
func realRows(metric string) string {
	_, name, _ := strings.Cut(metric, ".")
	if measures()[name].better == higher {
		return "learnt from real rows"
	}
	return "other real rows"
}

// count is at how many epsilons the metric has a value.
func (c *sweepCurves) count(metric string) int {
	at := map[float64]bool{}
	for _, line := range c.lines {
		for _, m := range c.marks(metric, line) {
			at[m.x] = true
		}
	}
	return len(at)
}

// reference is what other real rows reach, over all runs; NaN where none say.
func (c *sweepCurves) reference(metric string) float64 {
	var values []float64
	for _, r := range c.t.Runs {
		if x, has := r.Metrics[metric+"_real_train"]; has {
			values = append(values, x)
		}
	}
	if s := sweep.Summarize(values); s.Mean != nil {
		return *s.Mean
	}
	return math.NaN()
}

func (c *sweepCurves) draw(canvas draw.Canvas, lines [][]spot, reference float64) {
	axis := "epsilon (" + c.axis + ")"
	if c.step != "" {
		axis = "step, under the epsilon of all steps"
	}
	if c.log {
		axis += ", logarithmic"
	}
	p := newPlot(c.h, axis, "")
	p.X.Tick.Marker = c.ticks()
	p.Add(cross())
	first, last := c.span()
	if !math.IsNaN(reference) {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: first, Y: reference}, {X: last, Y: reference}}, LineStyle: dashed(slate(), 1)})
	}
	for i, marks := range lines {
		beside := 0.012 * (last - first) * (float64(i) - float64(float64(len(lines)-1)/2)) // so that intervals do not hide each other
		c.add(p, i, marks, max(-0.05*(last-first), min(beside, 0.05*(last-first))))
	}
	p.X.Padding, p.Y.Padding = vg.Points(6), vg.Points(5)
	air := float64(0.06 * (p.Y.Max - p.Y.Min))
	p.Y.Min, p.Y.Max = p.Y.Min-air, p.Y.Max+air
	p.Draw(canvas)
}

// add draws one line with its intervals.
func (c *sweepCurves) add(p *plot.Plot, n int, marks []spot, beside float64) {
	colour, _, dashes := ink(n)
	stroke := line(colour, 1.75)
	if dashes {
		stroke = dashed(colour, 1.75)
	}
	xys := plotter.XYs{}
	for _, m := range marks {
		xys = append(xys, plotter.XY{X: m.x + beside, Y: m.mean})
		if m.high > m.low {
			p.Add(&plotter.Line{XYs: plotter.XYs{{X: m.x + beside, Y: m.low}, {X: m.x + beside, Y: m.high}}, LineStyle: line(colour, 1)})
		}
	}
	if len(xys) > 0 {
		p.Add(&plotter.Line{XYs: xys, LineStyle: stroke},
			&plotter.Scatter{XYs: xys, GlyphStyle: draw.GlyphStyle{Color: colour, Radius: vg.Points(2.8), Shape: draw.CircleGlyph{}}})
	}
}

func (c *sweepCurves) span() (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, x := range c.x {
		first, last = min(first, x), max(last, x)
	}
	return first, last
}

// ticks marks the epsilons that there are, where they leave room for their names.
func (c *sweepCurves) ticks() plot.ConstantTicks {
	first, last := c.span()
	epsilons := make([]float64, 0, len(c.x))
	for e := range c.x {
		epsilons = append(epsilons, e)
	}
	slices.Sort(epsilons)
	var marks plot.ConstantTicks
	free := math.Inf(-1)
	for _, e := range epsilons {
		if x := c.x[e]; x >= free {
			marks, free = append(marks, plot.Tick{Value: x, Label: c.tick(e)}), x+float64(0.11*(last-first))
		}
	}
	return marks
}

func (c *sweepCurves) tick(at float64) string {
	if c.step != "" {
		return strconv.FormatFloat(at, 'f', -1, 64)
	}
	return upward(at)
}

// upward is an epsilon with three digits, rounded up.
func upward(e float64) string {
	unit := portable.Pow(10, math.Floor(portable.Log10(e))-2)
	return fmt.Sprintf("%.3g", math.Ceil(e/unit*(1-1e-9))*unit)
}
