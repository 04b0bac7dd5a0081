package report

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostRelated is the most columns of a heat map; those whose associations change
// most are drawn.
const mostRelated = 40

// heatPictures draws the association matrices and their difference.
func heatPictures(h text.Handler, r *Relations) []*Picture {
	if r == nil || len(r.Names) < 2 {
		return nil
	}
	s := r.narrow(mostRelated)
	difference := s.difference()
	return []*Picture{
		heatPicture(h, "associations-real", "Real rows", s.Names, s.Real, s.Measure),
		heatPicture(h, "associations-synthetic", "Synthetic rows", s.Names, s.Synthetic, s.Measure),
		heatPicture(h, "associations-difference", "Synthetic minus real", s.Names, difference, "difference of "+s.Measure),
	}
}

func heatPicture(h text.Handler, name, title string, names []string, m [][]float64, measure string) *Picture {
	longest := 0
	for _, n := range names {
		longest = max(longest, min(30, len([]rune(n))))
	}
	side := math.Min(10, 0.5+float64(0.08*float64(longest))+float64(0.36*float64(len(names))))
	return &Picture{name: name, title: title, text: h, w: side, h: side, dense: true,
		alt:  fmt.Sprintf("Heat map, %s: %s of each pair of %d columns. %s", title, measure, len(names), extreme(names, m)),
		draw: func(c draw.Canvas) { heat(h, names, m, c) }}
}

// extreme names the pair with the largest value.
func extreme(names []string, m [][]float64) string {
	a, b := -1, -1
	for i := range m {
		for j := range i {
			if v := m[i][j]; !math.IsNaN(v) && (a < 0 || math.Abs(v) > math.Abs(m[a][b])) {
				a, b = i, j
			}
		}
	}
	if a < 0 {
		return "No pair is defined."
	}
	return fmt.Sprintf("Largest: %s and %s, %s.", names[b], names[a], Number(m[a][b]))
}

// heat draws a square a pair, the diagonal left out, with its value where there
// is room.
func heat(h text.Handler, names []string, m [][]float64, c draw.Canvas) {
	n := len(names)
	sty := style(h, 10, draw.XRight, draw.YCenter)
	margin := vg.Points(4)
	for _, s := range names {
		margin = max(margin, sty.Width(shorten(s, 30))+vg.Points(6))
	}
	cell := (c.Max.X - c.Min.X - margin) / vg.Length(n)
	top := c.Max.Y - margin
	value := style(h, 9, draw.XCenter, draw.YCenter)
	value.Color = color.NRGBA{0x11, 0x11, 0x11, 0xFF} // on cells that are light in either scheme
	turned := sty
	turned.XAlign, turned.Rotation = draw.XLeft, math.Pi/2
	for i := range n {
		y := top - vg.Length(vg.Length(i)*cell) - vg.Length(cell/2)
		c.FillText(sty, vg.Point{X: c.Min.X + margin - vg.Points(4), Y: y}, shorten(names[i], 30))
		c.FillText(turned, vg.Point{X: c.Min.X + margin + vg.Length(vg.Length(i)*cell) + vg.Length(cell/2),
			Y: top + vg.Points(4)}, shorten(names[i], 30))
		for j := range n {
			if i == j {
				continue
			}
			x := c.Min.X + margin + vg.Length(vg.Length(j)*cell)
			square(c, shade(m[i][j]), x, y-vg.Length(cell/2), cell)
			if cell >= vg.Points(22) {
				c.FillText(value, vg.Point{X: x + vg.Length(cell/2), Y: y}, short(m[i][j]))
			}
		}
	}
}

func square(c draw.Canvas, clr color.Color, x, y, side vg.Length) {
	gap := vg.Length(side * 0.03)
	c.FillPolygon(clr, []vg.Point{{X: x + gap, Y: y + gap}, {X: x + side - gap, Y: y + gap},
		{X: x + side - gap, Y: y + side - gap}, {X: x + gap, Y: y + side - gap}})
}

// short returns .12 or -.3, and a cross where undefined.
func short(v float64) string {
	if math.IsNaN(v) {
		return "×"
	}
	text := strconv.FormatFloat(v, 'f', 2, 64)
	switch text {
	case "-0.00", "0.00":
		return "0"
	case "1.00", "-1.00":
		return text[:len(text)-3]
	}
	if text[0] == '-' {
		return "-" + text[2:]
	}
	return text[1:]
}

// shade runs from violet (-1) over near white (0) to orange (1); dark text has a
// contrast above 4.5 on each. Undefined is grey.
func shade(v float64) color.NRGBA {
	if math.IsNaN(v) {
		return color.NRGBA{0xB8, 0xBE, 0xC4, 0xFF}
	}
	end := [3]float64{0xE0, 0x82, 0x14}
	if v < 0 {
		end = [3]float64{0x8F, 0x84, 0xBC}
	}
	t := math.Sqrt(math.Min(1, math.Abs(v))) // differences near zero are what matters
	mix := func(k int) uint8 { return uint8(math.Round(0xF4 + float64(t*(end[k]-0xF4)))) }
	return color.NRGBA{mix(0), mix(1), mix(2), 0xFF}
}

func (r *Relations) difference() [][]float64 {
	d := make([][]float64, len(r.Names))
	for i := range d {
		d[i] = make([]float64, len(r.Names))
		for j := range d[i] {
			d[i][j] = r.Synthetic[i][j] - r.Real[i][j]
		}
	}
	return d
}

// narrow keeps the n columns whose associations change most, in their order.
func (r *Relations) narrow(n int) *Relations {
	if len(r.Names) <= n {
		return r
	}
	d := r.difference()
	change := make([]float64, len(d))
	for i := range d {
		for _, v := range d[i] {
			if !math.IsNaN(v) {
				change[i] += math.Abs(v)
			}
		}
	}
	out := &Relations{Measure: r.Measure}
	places := largest(change, n)
	for _, i := range places {
		out.Names = append(out.Names, r.Names[i])
		out.Real, out.Synthetic = append(out.Real, pick(r.Real[i], places)),
			append(out.Synthetic, pick(r.Synthetic[i], places))
	}
	return out
}

func pick(x []float64, places []int) []float64 {
	out := make([]float64, len(places))
	for k, i := range places {
		out[k] = x[i]
	}
	return out
}
