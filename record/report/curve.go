package report

import (
	"image/color"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"
)

// curvePictures draws ROC and precision-recall curves, synthetic first.
func curvePictures(h text.Handler, list []Classifier) []*Picture {
	if len(list) == 0 {
		return nil
	}
	var keys []key
	var areas, averages []string
	for i, c := range list {
		keys = append(keys, key{c.Name, hue(i), "line"})
		area := c.Name + " " + Number(c.AUROC)
		if c.High > 0 {
			area += " (" + Number(c.Low) + " to " + Number(c.High) + ")"
		}
		areas = append(areas, area)
		averages = append(averages, c.Name+" "+Number(c.Average))
	}
	roc := &Picture{name: "roc", title: "ROC", w: 4, h: 4, text: h, keys: keys, caption: "Area under the curve: " +
		strings.Join(areas, "; ") + ".",
		alt:  "ROC curves on real rows; area under the curve: " + strings.Join(areas, "; ") + ".",
		draw: func(c draw.Canvas) { curves(h, "false positive rate", "true positive rate", list, true, c) }}
	pr := &Picture{name: "precision-recall", title: "Precision and recall", w: 4, h: 4, text: h, keys: keys,
		caption: "Average precision: " + strings.Join(averages, "; ") + ".",
		alt:     "Precision-recall curves on real rows; average precision: " + strings.Join(averages, "; ") + ".",
		draw:    func(c draw.Canvas) { curves(h, "recall", "precision", list, false, c) }}
	return []*Picture{roc, pr}
}

func curves(h text.Handler, x, y string, list []Classifier, roc bool, c draw.Canvas) {
	p := NewPlot(h, x, y)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Y.Tick.Marker = ticks{6}
	p.Add(Cross())
	if roc {
		p.Add(&plotter.Line{XYs: plotter.XYs{{}, {X: 1, Y: 1}}, LineStyle: Dashed(Slate(), 1)})
	}
	for i := len(list) - 1; i >= 0; i-- {
		xys := thin(list[i].Recall, list[i].Precision)
		if roc {
			xys = append(plotter.XYs{{}}, thin(list[i].FPR, list[i].TPR)...)
		}
		p.Add(&plotter.Line{XYs: xys, LineStyle: Line(hue(i), 1.75)})
	}
	p.Draw(c)
}

// hue returns orange for what was learnt from synthetic rows, blue for the others.
func hue(i int) color.NRGBA {
	if i == 0 {
		return orange()
	}
	return blue()
}

// mostPoints of a curve are drawn: more than a screen can show.
const mostPoints = 300

// thin keeps evenly spaced points and the last.
func thin(x, y []float64) plotter.XYs {
	var xys plotter.XYs
	last := -1
	for k := range mostPoints + 1 {
		i := k * (len(x) - 1) / mostPoints
		if len(x) > 0 && i != last {
			xys, last = append(xys, plotter.XY{X: x[i], Y: y[i]}), i
		}
	}
	return xys
}
