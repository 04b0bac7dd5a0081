package experiment

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"weir/record/report"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"weir/internal/bitmath"
)

// curves are the curves of an experiment: one line for the rows that differ along the axis alone.
type curves struct {
	t     *Table
	h     text.Handler
	lines []string
	axis  axis
	x     map[float64]float64 // of each value of the axis its place on it
	log   bool
	why   string // why there are none
}

// wide is the span of values from which the axis is logarithmic.
const wide = 4

func curvesOf(t *Table) *curves {
	c := &curves{t: t, h: report.Handler(), axis: axisOf(t), x: map[float64]float64{}}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range t.Rows {
		if line := t.Line(r, c.axis.path); !slices.Contains(c.lines, line) {
			c.lines = append(c.lines, line)
		}
		if x, known := c.axis.of(r); known {
			c.x[x], low, high = x, min(low, x), max(high, x)
		}
	}
	if len(c.x) < 2 || !c.axis.worthwhile(low, high) {
		c.why = "No curves: the runs do not have two " + c.axis.over() +
			"s to draw a figure over, nor two numbers of a setting of the grid."
		return c
	}
	c.log = low > 0 && high >= wide*low
	for x := range c.x {
		if c.log {
			c.x[x] = bitmath.Log10(x)
		}
	}
	return c
}

func (c *curves) legend() []legendLine {
	var list []legendLine
	for i, name := range c.lines {
		list = append(list, legendLine{name, sampleOf(i)})
	}
	return list
}

// spot is a mean on a line, with the ends of its interval.
type spot struct{ x, mean, low, high float64 }

// marks returns the marks of one line, along the axis.
func (c *curves) marks(metric, line string) []spot {
	var list []spot
	for _, r := range c.t.Rows {
		x, known := c.axis.of(r)
		s := r.Metrics[metric]
		if !known || s.Mean == nil || c.t.Line(r, c.axis.path) != line {
			continue
		}
		m := spot{c.x[x], *s.Mean, *s.Mean, *s.Mean}
		if s.High != nil {
			m.low, m.high = *s.Low, *s.High
		}
		list = append(list, m)
	}
	slices.SortStableFunc(list, func(a, b spot) int { return int(math.Copysign(1, a.x-b.x)) })
	return list
}

// picture returns the drawing of a metric; nil where fewer than two places of the axis have it.
func (c *curves) picture(metric string) *panel {
	var all [][]spot
	var alt []string
	for _, line := range c.lines {
		marks := c.marks(metric, line)
		all = append(all, marks)
		if len(marks) > 0 {
			alt = append(alt, fmt.Sprintf("%s from %s to %s", line, report.Number(marks[0].mean),
				report.Number(marks[len(marks)-1].mean)))
		}
	}
	if c.why != "" || c.count(metric) < 2 {
		return nil
	}
	reference := c.reference(metric)
	all, cut := fitted(all, reference)
	caption := ""
	if !math.IsNaN(reference) {
		caption = "Dashed: " + c.t.References[metric].Words + ", " + report.Number(reference) + "."
	}
	if cut {
		caption = strings.TrimSpace(caption + " Intervals that reach the border go on beyond it.")
	}
	words := metric + " over " + c.axis.over() + ", least to largest: " + strings.Join(alt, "; ") + "."
	return &panel{metric, caption, report.NewPicture(metric, words, caption, 4, 3,
		func(canvas draw.Canvas) { c.draw(canvas, all, reference) })}
}

// mostBeside is how far intervals may reach beyond all means and the reference, in the distance of the least and
// greatest of these. The interval of two repeats is 25 times as wide as their distance, and would leave the curves
// flat.
const mostBeside = 3

// fitted cuts intervals that would leave the curves flat, and reports whether it did. Where all means are equal none
// are cut.
func fitted(lines [][]spot, reference float64) (out [][]spot, cut bool) {
	low, high := reference, reference
	for _, marks := range lines {
		for _, m := range marks {
			low, high = least(low, m.mean), -least(-high, -m.mean)
		}
	}
	room := float64(mostBeside * (high - low))
	for _, marks := range lines {
		var list []spot
		for _, m := range marks {
			if shown := (spot{m.x, m.mean, max(m.low, low-room), min(m.high, high+room)}); room > 0 && shown != m {
				m, cut = shown, true
			}
			list = append(list, m)
		}
		out = append(out, list)
	}
	return out, cut
}

// least returns the lesser of two numbers; NaN is not a number.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

// count returns at how many places of the axis the metric has a value.
func (c *curves) count(metric string) int {
	places := map[float64]bool{}
	for _, line := range c.lines {
		for _, m := range c.marks(metric, line) {
			places[m.x] = true
		}
	}
	return len(places)
}

// reference returns what other real rows reach, over all runs; NaN where none say.
func (c *curves) reference(metric string) float64 {
	var values []float64
	for _, r := range c.t.Runs {
		if x, has := r.Metrics[c.t.References[metric].Metric]; has {
			values = append(values, x)
		}
	}
	if s := Summarize(values); s.Mean != nil {
		return *s.Mean
	}
	return math.NaN()
}

func (c *curves) draw(canvas draw.Canvas, lines [][]spot, reference float64) {
	label := c.axis.label()
	if c.log {
		label += ", logarithmic"
	}
	p := report.NewPlot(c.h, label, "")
	p.X.Tick.Marker = c.ticks()
	p.Add(report.Cross())
	first, last := c.span()
	if !math.IsNaN(reference) {
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: first, Y: reference}, {X: last, Y: reference}},
			LineStyle: report.Dashed(report.Slate(), 1)})
	}
	for i, marks := range lines {
		// so that intervals do not hide each other
		beside := 0.012 * (last - first) * (float64(i) - float64(float64(len(lines)-1)/2))
		c.add(p, i, marks, max(-0.05*(last-first), min(beside, 0.05*(last-first))))
	}
	p.X.Padding, p.Y.Padding = vg.Points(6), vg.Points(5)
	air := float64(0.06 * (p.Y.Max - p.Y.Min))
	p.Y.Min, p.Y.Max = p.Y.Min-air, p.Y.Max+air
	p.Draw(canvas)
}

// add draws one line with its intervals.
func (c *curves) add(p *plot.Plot, n int, marks []spot, neighbour float64) {
	colour, _, dashes := report.Ink(n)
	stroke := report.Line(colour, 1.75)
	if dashes {
		stroke = report.Dashed(colour, 1.75)
	}
	xys := plotter.XYs{}
	for _, m := range marks {
		xys = append(xys, plotter.XY{X: m.x + neighbour, Y: m.mean})
		if m.high > m.low {
			p.Add(&plotter.Line{XYs: plotter.XYs{{X: m.x + neighbour, Y: m.low}, {X: m.x + neighbour, Y: m.high}},
				LineStyle: report.Line(colour, 1)})
		}
	}
	if len(xys) > 0 {
		p.Add(&plotter.Line{XYs: xys, LineStyle: stroke},
			&plotter.Scatter{XYs: xys, GlyphStyle: draw.GlyphStyle{Color: colour, Radius: vg.Points(2.8),
				Shape: draw.CircleGlyph{}}})
	}
}

func (c *curves) span() (first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for _, x := range c.x {
		first, last = min(first, x), max(last, x)
	}
	return first, last
}

// ticks marks the values that there are, where they leave room for their names.
func (c *curves) ticks() plot.ConstantTicks {
	first, last := c.span()
	var marks plot.ConstantTicks
	free := math.Inf(-1)
	for _, value := range slices.Sorted(maps.Keys(c.x)) {
		if x := c.x[value]; x >= free {
			marks, free = append(marks, plot.Tick{Value: x, Label: c.axis.tick(value)}), x+float64(0.11*(last-first))
		}
	}
	return marks
}
