package report

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of the plots on white. In the page each stands for a CSS variable
// that has another value on a dark screen (see inks). Blue and orange keep apart
// in every common form of colour blindness; lines have a contrast of at least 3
// to 1 with their background.
func blue() color.NRGBA   { return color.NRGBA{0x2B, 0x5C, 0x8A, 0xFF} } // real
func sky() color.NRGBA    { return color.NRGBA{0xB7, 0xCD, 0xE2, 0xFF} } // area of real rows
func orange() color.NRGBA { return color.NRGBA{0xC2, 0x5B, 0x0A, 0xFF} } // synthetic
func grey() color.NRGBA   { return color.NRGBA{0xDF, 0xE3, 0xE8, 0xFF} } // grid
func Slate() color.NRGBA  { return color.NRGBA{0x6A, 0x73, 0x7D, 0xFF} } // helping lines

// teal and plum are further lines of an experiment.
func teal() color.NRGBA { return color.NRGBA{0x0B, 0x7A, 0x6B, 0xFF} }
func plum() color.NRGBA { return color.NRGBA{0x8A, 0x3F, 0x8F, 0xFF} }

// inks maps the colours and the font, as vgsvg writes them, to variables of the
// page.
func inks() []string {
	pairs := []string{"font-family:Liberation Sans", "font-family:var(--sans)", "\n\tstyle", " style"}
	for _, i := range []struct {
		color.Color
		variable string
	}{{blue(), "real"}, {sky(), "area"}, {orange(), "synthetic"}, {grey(), "grid"}, {Slate(), "slate"}, {teal(), "teal"},
		{plum(), "plum"}, {color.Black, "ink"}} {
		pairs = append(pairs, hex(i.Color), "var(--"+i.variable+")")
	}
	return pairs
}

// hex returns a colour with the rounding of vgsvg.
func hex(c color.Color) string {
	r, g, b, a := c.RGBA()
	f := 255 / float64(a)
	return fmt.Sprintf("#%02X%02X%02X", int(float64(r)*f), int(float64(g)*f), int(float64(b)*f))
}

// Handler returns what sets plain text in the Liberation fonts that come with gonum/plot, so
// that sizes do not depend on the machine.
func Handler() text.Handler {
	return text.Plain{Fonts: font.NewCache(liberation.Collection())}
}

func style(h text.Handler, size float64, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: color.Black, Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)},
		XAlign: x, YAlign: y, Handler: h}
}

// NewPlot returns an empty plot in the style of the report.
func NewPlot(h text.Handler, x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.TextHandler = h
	p.X.Label.Text, p.Y.Label.Text = x, y
	p.X.Label.TextStyle, p.Y.Label.TextStyle = style(h, 10, draw.XCenter, draw.YBottom), style(h, 10, draw.XCenter,
		draw.YBottom)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(3), vg.Points(3)
	p.X.Tick.Label, p.Y.Tick.Label = style(h, 10, draw.XCenter, draw.YTop), style(h, 10, draw.XRight, draw.YCenter)
	p.Title.TextStyle = style(h, 11, draw.XCenter, draw.YTop)
	p.X.Tick.Length, p.Y.Tick.Length = vg.Points(4), vg.Points(4)
	p.X.Tick.Marker, p.Y.Tick.Marker = ticks{6}, ticks{5}
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.LineStyle.Color, p.Y.LineStyle.Color = Slate(), Slate()
	p.X.Tick.LineStyle.Color, p.Y.Tick.LineStyle.Color = Slate(), Slate()
	return p
}

// Line returns the style of a line of the given number of points.
func Line(c color.Color, width float64) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width)}
}

// Dashed returns the style of a dashed line of the given number of points.
func Dashed(c color.Color, width float64) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(width), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
}

// Ink returns how the n-th line of several is drawn, as a colour on white and as a variable of the page: five colours
// that keep apart in the common forms of colour blindness beside each other, then the same with dashes.
func Ink(n int) (c color.NRGBA, variable string, dashes bool) {
	inks := []struct {
		color.NRGBA
		variable string
	}{{blue(), "real"}, {orange(), "synthetic"}, {teal(), "teal"}, {plum(), "plum"}, {Slate(), "slate"}}
	return inks[n%len(inks)].NRGBA, inks[n%len(inks)].variable, n/len(inks)%2 == 1
}
