package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"weir/record"
)

// mostBars is the most categories drawn one by one; the rest are one bar.
const mostBars = 15

// columnPicture draws real against synthetic shares of one column: bins as an
// area and a line, categories as pairs of bars.
func columnPicture(h text.Handler, c Column) *Picture {
	p := &Picture{title: c.Name, w: 4, h: 2.4, text: h, alt: c.alt(), caption: c.caption(),
		keys: []key{{"real", sky(), "area"}, {"synthetic", orange(), "line"}}}
	switch {
	case len(c.Real) == 0 && len(c.Synthetic) == 0:
		return nil
	case len(c.Labels) == 0:
		lo, hi := c.ends()
		p.draw = func(dc draw.Canvas) { histogram(h, c, lo, hi).Draw(dc) }
		if c.Distribution != nil {
			p.h, p.draw = 4, func(dc draw.Canvas) { histogramAndDistribution(h, c, dc) }
		}
	default:
		labels, real, synthetic := merge(c)
		p.keys[0].color, p.keys[1].mark = blue(), "area"
		p.h = 0.9 + float64(0.24*float64(len(labels)))
		p.draw = func(dc draw.Canvas) { bars(h, "share of rows", labels, real, synthetic, dc) }
	}
	return p
}

// histogramAndDistribution draws bins with the distribution functions below them.
func histogramAndDistribution(h text.Handler, c Column, dc draw.Canvas) {
	half := vg.Length((dc.Max.Y - dc.Min.Y) / 2) // rounded, so that Crop adds to it alike on every processor
	lo, hi := c.ends()
	bins, shares := histogram(h, c, lo, hi), distribution(h, c, lo, hi)
	upper, lower := draw.Crop(dc, 0, 0, half, 0), draw.Crop(dc, 0, 0, 0, -half)
	// One axis below the other: the numbers at their sides are not equally wide.
	right := bins.DataCanvas(upper).Min.X - shares.DataCanvas(lower).Min.X
	bins.Draw(draw.Crop(upper, max(0, -right), 0, 0, 0))
	shares.Draw(draw.Crop(lower, max(0, right), 0, 0, 0))
}

// ends returns the ends of the axis: of the bins, and of the value that they leave out.
func (c Column) ends() (lo, hi float64) {
	lo, hi = c.place(c.Edges[0]), c.place(c.Edges[len(c.Edges)-1])
	if c.Spike != nil {
		lo, hi = min(lo, c.place(c.Spike.Value)), max(hi, c.place(c.Spike.Value))
	}
	return lo, hi
}

// marks puts the ticks of the column onto the lower axis.
func (c Column) marks(p *plot.Plot) {
	if _, calendar := record.Calendar(c.Type, 0); calendar {
		p.X.Tick.Marker = calendarTicks{ticks{3}, c}
	}
	if c.Linear != 0 {
		p.X.Tick.Marker = tailTicks{c}
	}
}

// histogram returns the plot of bins on an axis from lo to hi.
func histogram(h text.Handler, c Column, lo, hi float64) *plot.Plot {
	p := NewPlot(h, "", "share of rows")
	p.Y.Min, p.X.Min, p.X.Max = 0, lo, hi
	c.marks(p)
	p.Y.Max = 1.05 * math.Max(greatest(c.Real), greatest(c.Synthetic))
	grid := plotter.NewGrid()
	grid.Vertical.Width, grid.Horizontal = 0, Line(grey(), 0.75)
	p.Add(grid)
	edges := c.places(c.Edges)
	if len(c.Real) > 0 {
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{steps(edges, c.Real)}, Color: sky(), LineStyle: Line(blue(), 0.75)})
	}
	if len(c.Synthetic) > 0 {
		p.Add(&plotter.Line{XYs: steps(edges, c.Synthetic), LineStyle: Line(orange(), 1.75)})
	}
	return p
}

func greatest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		m = math.Max(m, v)
	}
	return m
}

// steps returns the outline of bins that stand on zero.
func steps(edges, shares []float64) plotter.XYs {
	xys := plotter.XYs{{X: edges[0]}}
	for i, v := range shares {
		xys = append(xys, plotter.XY{X: edges[i], Y: v}, plotter.XY{X: edges[i+1], Y: v})
	}
	return append(xys, plotter.XY{X: edges[len(edges)-1]})
}

// merge keeps the categories with the greatest real or synthetic share, in their
// own order, and adds up the rest.
func merge(c Column) (labels []string, real, synthetic []float64) {
	if len(c.Labels) <= mostBars {
		return c.Labels, fill(c.Real, len(c.Labels)), fill(c.Synthetic, len(c.Labels))
	}
	stored := map[int]bool{}
	for len(stored) < mostBars-1 {
		best := -1
		for i := range c.Labels {
			if !stored[i] && (best < 0 || c.height(i) > c.height(best)) {
				best = i
			}
		}
		stored[best] = true
	}
	rest, restReal, restSynthetic := 0, 0.0, 0.0
	for i, l := range c.Labels {
		if !stored[i] {
			rest, restReal, restSynthetic = rest+1, restReal+valueAt(c.Real, i), restSynthetic+valueAt(c.Synthetic, i)
			continue
		}
		labels, real, synthetic = append(labels, l), append(real, valueAt(c.Real, i)),
			append(synthetic, valueAt(c.Synthetic, i))
	}
	return append(labels, fmt.Sprintf("%d others", rest)), append(real, restReal), append(synthetic, restSynthetic)
}

func (c Column) height(i int) float64 { return math.Max(valueAt(c.Real, i), valueAt(c.Synthetic, i)) }

func fill(x []float64, n int) []float64 {
	out := make([]float64, n)
	copy(out, x)
	return out
}

// bars draws a pair of bars of x a label, the first label on top.
func bars(h text.Handler, x string, labels []string, real, synthetic []float64, dc draw.Canvas) {
	p := NewPlot(h, x, "")
	n := len(labels)
	p.X.Min, p.X.Max = 0, math.Max(1e-9, 1.05*math.Max(greatest(real), greatest(synthetic)))
	p.Y.Min, p.Y.Max = -0.6, float64(n)-0.4
	names := make([]string, n)
	for i := range labels {
		names[n-1-i] = shorten(labels[i], 30)
	}
	p.NominalY(names...)
	p.Y.Tick.Label = style(h, 10, draw.XRight, draw.YCenter)
	p.Y.Tick.Length, p.Y.LineStyle.Width, p.Y.Padding = vg.Points(2), 0, 0
	grid := plotter.NewGrid()
	grid.Horizontal.Width, grid.Vertical = 0, Line(grey(), 0.75)
	p.Add(grid)
	for i := range labels {
		y := float64(n - 1 - i)
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{bar(real[i], y, y+0.36)}, Color: blue()},
			&plotter.Polygon{XYs: []plotter.XYs{bar(synthetic[i], y-0.36, y)}, Color: orange()})
	}
	p.Draw(dc)
}

func bar(x, lo, hi float64) plotter.XYs {
	return plotter.XYs{{X: 0, Y: lo}, {X: x, Y: lo}, {X: x, Y: hi}, {X: 0, Y: hi}}
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

func (c Column) alt() string {
	what := "Histogram"
	if c.Distribution != nil {
		what = "Histogram and distribution functions"
	}
	if len(c.Labels) > 0 {
		what = "Bars"
	}
	return fmt.Sprintf("%s of %s, real against synthetic rows; total variation of the column %s.", what, c.Name,
		Number(c.TotalVariation))
}

// caption says what the drawing does not show.
func (c Column) caption() string {
	text := c.Doc
	if text != "" {
		text += " "
	}
	text += "Total variation " + Number(c.TotalVariation) + "."
	if c.RealMissing > 0 || c.SyntheticMissing > 0 {
		text += fmt.Sprintf(" Missing: real %s, synthetic %s.", percent(c.RealMissing), percent(c.SyntheticMissing))
	}
	text += c.spikeWords()
	if c.Beyond > 0 {
		text += fmt.Sprintf(" %d values lie beyond the axis and are in the end bins.", c.Beyond)
	}
	if len(c.Real) == 0 {
		text += " No real row has a value."
	}
	if len(c.Synthetic) == 0 {
		text += " No synthetic row has a value."
	}
	return text
}

func valueAt(x []float64, i int) float64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}
