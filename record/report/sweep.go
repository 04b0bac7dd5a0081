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

	"weir/internal/portable"
)

// SweepPoint is one run of an experiment.
type SweepPoint struct{ Epsilon, Value float64 }

// Sweep draws a score against epsilon over runs, as SVG; an error where fewer
// than two runs have both.
func Sweep(score string, points []SweepPoint) ([]byte, error) {
	list := defined(points)
	if len(list) < 2 {
		return nil, fmt.Errorf("%d of the runs have an epsilon and %s, must be at least 2 to draw one against the other", len(list), score)
	}
	h := handler()
	p := &picture{w: 5, h: 3.6, text: h, alt: fmt.Sprintf("%s against epsilon over %d runs.", score, len(list)),
		draw: func(c draw.Canvas) { sweep(h, score, list, c) }}
	return p.svg()
}

// defined keeps points that a logarithmic axis can show, by epsilon.
func defined(points []SweepPoint) []SweepPoint {
	var list []SweepPoint
	for _, p := range points {
		if p.Epsilon > 0 && !math.IsInf(p.Epsilon, 0) && !math.IsNaN(p.Value) && !math.IsInf(p.Value, 0) {
			list = append(list, p)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Epsilon < list[j].Epsilon })
	return list
}

// sweep draws every run as a dot and the mean at each epsilon as a line.
func sweep(h text.Handler, score string, list []SweepPoint, c draw.Canvas) {
	p := newPlot(h, "epsilon (logarithmic)", score)
	p.X.Tick.Marker = epsilonTicks(list)
	points, means := make([]Point, len(list)), plotter.XYs{}
	for i, r := range list {
		points[i] = Point{X: portable.Log10(r.Epsilon), Y: r.Value}
		if i == 0 || r.Epsilon != list[i-1].Epsilon {
			means = append(means, plotter.XY{X: points[i].X, Y: meanAt(list, r.Epsilon)})
		}
	}
	p.Add(cross(), &plotter.Line{XYs: means, LineStyle: line(blue(), 1.5)}, dots(points))
	p.X.Padding, p.Y.Padding = vg.Points(5), vg.Points(5)
	p.Draw(c)
}

func meanAt(list []SweepPoint, epsilon float64) float64 {
	sum, n := 0.0, 0.0
	for _, r := range list {
		if r.Epsilon == epsilon {
			sum, n = sum+r.Value, n+1
		}
	}
	return sum / n
}

func epsilonTicks(list []SweepPoint) plot.ConstantTicks {
	var marks plot.ConstantTicks
	for i, r := range list {
		if i == 0 || r.Epsilon != list[i-1].Epsilon {
			marks = append(marks, plot.Tick{Value: portable.Log10(r.Epsilon), Label: number(r.Epsilon)})
		}
	}
	return marks
}
