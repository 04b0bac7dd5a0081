package report

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"weir/record"
)

// budgetPictures draws how the stages share the budget, and how epsilon grows
// from stage to stage. One stage alone has nothing to share.
func budgetPictures(h text.Handler, p Privacy) []*Picture {
	if len(p.Spends) < 2 {
		return nil
	}
	var list []*Picture
	if pie := piePicture(h, p.Spends); pie != nil {
		list = append(list, pie)
	}
	if grown := cumulativePicture(h, p); grown != nil {
		list = append(list, grown)
	}
	return list
}

// sectors returns colours of the pie, each apart from its neighbours.
func sectors() []color.NRGBA {
	return []color.NRGBA{{0x4E, 0x79, 0xA7, 0xFF}, {0xE1, 0x8B, 0x2C, 0xFF}, {0x3F, 0x97, 0x8D, 0xFF},
		{0xB6, 0x6D, 0x9E, 0xFF}, {0x8C, 0x7B, 0x5E, 0xFF}, {0x7F, 0x86, 0x8E, 0xFF}}
}

func piePicture(h text.Handler, spends []Spend) *Picture {
	sum, message := 0.0, ""
	for _, s := range spends {
		if s.Alone == nil || !(*s.Alone > 0) || math.IsInf(*s.Alone, 0) {
			return nil
		}
		sum += *s.Alone
	}
	var keys []key
	for i, s := range spends {
		share := percent(*s.Alone / sum)
		keys = append(keys, key{s.Stage + " " + share, sectors()[i%len(sectors())], "area"})
		message += fmt.Sprintf(" %s %s.", s.Stage, share)
	}
	return &Picture{name: "budget", title: "Who spends the budget", w: 4.4, h: 2.6, text: h,
		alt: "Pie of the stages' own epsilons." + message, caption: "Each stage's epsilon alone, as a share of their sum.",
		draw: func(c draw.Canvas) { pie(h, spends, sum, keys, c) }}
}

func pie(h text.Handler, spends []Spend, sum float64, keys []key, c draw.Canvas) {
	r := vg.Length(min(c.Max.Y-c.Min.Y, c.Max.X-c.Min.X)/2) - vg.Points(4)
	centre := vg.Point{X: c.Min.X + r + vg.Points(4), Y: (c.Min.Y + c.Max.Y) / 2}
	start := math.Pi / 2
	for i, s := range spends {
		angle := -2 * math.Pi * *s.Alone / sum
		var path vg.Path
		path.Move(centre)
		path.Arc(centre, r, start, angle)
		path.Close()
		c.SetColor(sectors()[i%len(sectors())])
		c.Fill(path)
		start += angle
	}
	sty := style(h, 10, draw.XLeft, draw.YCenter)
	for i, k := range keys {
		x, y := centre.X+r+vg.Points(16), c.Max.Y-vg.Points(float64(16+18*i))
		k.thumbnail(c, x, y)
		c.FillText(sty, vg.Point{X: x + vg.Points(20), Y: y}, k.label)
	}
}

func cumulativePicture(h text.Handler, p Privacy) *Picture {
	var xys plotter.XYs
	var names []string
	for i, s := range p.Spends {
		if s.Cumulative == nil || math.IsInf(*s.Cumulative, 0) {
			return nil
		}
		xys, names = append(xys, plotter.XY{X: float64(i), Y: *s.Cumulative}), append(names, shorten(s.Stage, 14))
	}
	last := xys[len(xys)-1].Y
	return &Picture{name: "spend", title: "Epsilon from stage to stage", w: 4.4, h: 2.6, text: h,
		alt:     fmt.Sprintf("Cumulative epsilon over %d stages, ending at %s.", len(xys), record.Bound(last)),
		caption: "Composed by the accountant " + p.Accountant + "; the dashed line is the budget.",
		draw:    func(c draw.Canvas) { cumulative(h, p, names, xys, c) }}
}

func cumulative(h text.Handler, p Privacy, names []string, xys plotter.XYs, c draw.Canvas) {
	g := NewPlot(h, "", "epsilon")
	g.NominalX(names...)
	g.X.Tick.Label = style(h, 10, draw.XCenter, draw.YTop)
	g.X.Min, g.X.Max, g.Y.Min = -0.4, float64(len(xys))-0.6, 0
	g.Add(Cross())
	if !math.IsInf(p.Budget, 0) && p.Budget > 0 {
		g.Add(&plotter.Line{XYs: plotter.XYs{{X: -0.4, Y: p.Budget}, {X: float64(len(xys)) - 0.6, Y: p.Budget}},
			LineStyle: Dashed(Slate(), 1)})
	}
	g.Add(&plotter.Line{XYs: xys, LineStyle: Line(orange(), 1.75), StepStyle: plotter.NoStep}, dotsAt(xys))
	g.Y.Max *= 1.05
	g.Draw(c)
}

func dotsAt(xys plotter.XYs) plot.Plotter {
	points := make([]Point, len(xys))
	for i, p := range xys {
		points[i] = Point{X: p.X, Y: p.Y}
	}
	return dots(points)
}

// Unproven tells whether what is released was made by mechanisms of which nothing is proven:
// then nothing on the page may pass for a bound.
func (p Privacy) Unproven() bool { return p.Proven == nil && p.Claims == "published" }

// withoutBaseline returns a text about independent columns at the same epsilon. Where no epsilon is proven
// the epsilon of the baseline is the one of the spec, and the table has none to be equal to it.
func (p Privacy) withoutBaseline(text string) string {
	if !p.Unproven() {
		return text
	}
	return strings.ReplaceAll(text, "at the same epsilon", "at the epsilon of the spec (the table has no proven one)")
}
