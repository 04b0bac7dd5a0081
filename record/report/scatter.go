package report

import (
	"fmt"
	"math"
	"sort"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// identityPicture draws points against the line y = x.
func identityPicture(h text.Handler, name, title, x, y string, points []Point) *Picture {
	defined := finite(points)
	if len(defined) == 0 {
		return nil
	}
	mean := 0.0
	for _, p := range defined {
		mean += math.Abs(p.Y-p.X) / float64(len(defined))
	}
	return &Picture{name: name, title: title, w: 4, h: 4, text: h,
		alt: fmt.Sprintf("Scatter of %d points, %s against %s; on the line y = x nothing is lost. Mean distance from "+
			"it %s.", len(defined), y, x, Number(mean)),
		caption: fmt.Sprintf("%d points; mean |y - x| = %s.", len(defined), Number(mean)),
		draw: func(c draw.Canvas) {
			p := NewPlot(h, x, y)
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, d := range defined {
				lo, hi = min(lo, d.X, d.Y), max(hi, d.X, d.Y)
			}
			pad := float64(0.04*(hi-lo)) + 1e-9
			lo, hi = lo-pad, hi+pad
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, lo, hi
			p.Y.Tick.Marker = ticks{6}
			p.Add(Cross(), &plotter.Line{XYs: plotter.XYs{{X: lo, Y: lo}, {X: hi, Y: hi}}, LineStyle: Dashed(Slate(), 1)},
				dots(defined))
			p.Draw(c)
		}}
}

func finite(points []Point) []Point {
	var list []Point
	for _, p := range points {
		if s := p.X + p.Y; !math.IsNaN(s) && !math.IsInf(s, 0) {
			list = append(list, p)
		}
	}
	return list
}

func dots(points []Point) plot.Plotter {
	xys := make(plotter.XYs, len(points))
	for i, p := range points {
		xys[i] = plotter.XY{X: p.X, Y: p.Y}
	}
	return &plotter.Scatter{XYs: xys, GlyphStyle: draw.GlyphStyle{Color: orange(), Radius: vg.Points(2.5),
		Shape: draw.CircleGlyph{}}}
}

// Cross returns a grid in both directions.
func Cross() plot.Plotter {
	g := plotter.NewGrid()
	g.Vertical, g.Horizontal = Line(grey(), 0.75), Line(grey(), 0.75)
	return g
}

// projectionPicture draws both tables on the real table's first components.
func projectionPicture(h text.Handler, j *Projection) *Picture {
	if j == nil || len(j.Real)+len(j.Synthetic) == 0 {
		return nil
	}
	axis := func(k int) string { return fmt.Sprintf("component %d (%s of variance)", k+1, percent(j.Explained[k])) }
	return &Picture{name: "projection", title: "Principal components of the real rows", w: 4, h: 4, text: h,
		caption: j.Note,
		keys:    []key{{"real", blue(), "dot"}, {"synthetic", orange(), "dot"}},
		alt: fmt.Sprintf("Scatter of %d real and %d synthetic rows on the first two principal components of the real rows, "+
			"which explain %s and %s of the variance.",
			len(j.Real), len(j.Synthetic), percent(j.Explained[0]), percent(j.Explained[1])),
		draw: func(c draw.Canvas) {
			p := NewPlot(h, axis(0), axis(1))
			p.Add(Cross())
			p.Add(mixed(finite(j.Real), finite(j.Synthetic)))
			p.Draw(c)
		}}
}

// mixed draws two sets of dots in turn, so that neither hides the other.
func mixed(real, synthetic []Point) plot.Plotter {
	both := plotter.XYs{}
	var kind []bool
	for i := range max(len(real), len(synthetic)) {
		if i < len(real) {
			both, kind = append(both, plotter.XY{X: real[i].X, Y: real[i].Y}), append(kind, true)
		}
		if i < len(synthetic) {
			both, kind = append(both, plotter.XY{X: synthetic[i].X, Y: synthetic[i].Y}), append(kind, false)
		}
	}
	return &plotter.Scatter{XYs: both, GlyphStyleFunc: func(i int) draw.GlyphStyle {
		g := draw.GlyphStyle{Color: orange(), Radius: vg.Points(1.3), Shape: draw.CircleGlyph{}}
		if kind[i] {
			g.Color = blue()
		}
		return g
	}}
}

// ranked lists places from the largest value to the least; NaN counts as least.
func ranked(x []float64) []int {
	places := make([]int, len(x))
	for i := range places {
		places[i] = i
	}
	rank := func(v float64) float64 {
		if math.IsNaN(v) {
			return math.Inf(-1)
		}
		return v
	}
	sort.SliceStable(places, func(a, b int) bool { return rank(x[places[a]]) > rank(x[places[b]]) })
	return places
}

// largest returns the places of the n largest values, in ascending order.
func largest(x []float64, n int) []int {
	places := ranked(x)[:min(n, len(x))]
	sort.Ints(places)
	return places
}
