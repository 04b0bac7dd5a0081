package report

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"regexp"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"weir/internal/plaintext"
)

// Picture is one drawing with what is said of it.
type Picture struct {
	name    string // of its files: plots-NAME.svg and plots-NAME.png
	title   string // heading in the page
	alt     string // what a person sees who cannot see it
	caption string
	w, h    float64 // inches
	dense   bool    // unreadable when shrunk: scrolls in its box instead
	keys    []key
	draw    func(draw.Canvas)
	text    text.Handler
}

// key is an entry of the legend above a drawing.
type key struct {
	label string
	color color.Color
	mark  string // area, line, dot
}

// NewPicture returns a drawing of w by h inches without a legend. alt says what it shows to who cannot see it, caption
// what stands below it.
func NewPicture(title, alt, caption string, w, h float64, shape func(draw.Canvas)) *Picture {
	return &Picture{title: title, alt: alt, caption: caption, w: w, h: h, text: Handler(), draw: shape}
}

// render draws legend and plot on the canvas.
func (p *Picture) render(c draw.Canvas) {
	top := vg.Length(0)
	if len(p.keys) > 0 {
		top = vg.Points(16)
		p.legend(c)
	}
	p.draw(draw.Crop(c, vg.Points(2), -vg.Points(6), vg.Points(2), -top-vg.Points(4)))
}

func (p *Picture) legend(c draw.Canvas) {
	sty := style(p.text, 10, draw.XLeft, draw.YCenter)
	x, y := c.Min.X+vg.Points(6), c.Max.Y-vg.Points(8)
	for _, k := range p.keys {
		k.thumbnail(c, x, y)
		c.FillText(sty, vg.Point{X: x + vg.Points(18), Y: y}, k.label)
		x += vg.Points(32) + sty.Width(k.label)
	}
}

func (k key) thumbnail(c draw.Canvas, x, y vg.Length) {
	right, up := x+vg.Points(14), vg.Points(4)
	switch k.mark {
	case "line":
		c.StrokeLine2(Line(k.color, 2), x, y, right, y)
	case "dot":
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: k.color, Radius: vg.Points(3), Shape: draw.CircleGlyph{}},
			vg.Point{X: x + vg.Points(7), Y: y})
	default:
		c.FillPolygon(k.color, []vg.Point{{X: x, Y: y - up}, {X: right, Y: y - up}, {X: right, Y: y + up}, {X: x, Y: y + up}})
	}
}

func (p *Picture) size() (w, h vg.Length) {
	return vg.Length(p.w) * vg.Inch, vg.Length(p.h) * vg.Inch
}

// SVG returns the drawing as a file of its own, on white.
func (p *Picture) SVG() ([]byte, error) {
	w, h := p.size()
	c := vgsvg.New(w, h)
	full := draw.New(c)
	full.FillPolygon(color.White, []vg.Point{{}, {X: w}, {X: w, Y: h}, {Y: h}})
	p.render(full)
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	return []byte(plaintext.Text(string(withTitle(b.Bytes(), p.alt)))), err
}

// withTitle gives a drawing its text for screen readers.
func withTitle(svg []byte, alt string) []byte {
	return bytes.Replace(svg, []byte("<g "), []byte("<title>"+html.EscapeString(alt)+"</title>\n<g "), 1)
}

// png returns the drawing at 192 dots an inch, on white. It is packed fast, which makes flat
// colours 4 % longer.
func (p *Picture) png() ([]byte, error) {
	w, h := p.size()
	c := vgimg.NewWith(vgimg.UseWH(w, h), vgimg.UseDPI(192), vgimg.UseBackgroundColor(color.White))
	p.render(draw.New(c))
	var b bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, c.Image())
	return b.Bytes(), err
}

// Inline returns the drawing as an element of the page: as wide as its box, up to a
// quarter above its own size; without background, in the colours of the page.
func (p *Picture) Inline() (string, error) {
	w, h := p.size()
	c := vgsvg.New(w, h)
	p.render(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	body := svgHead().ReplaceAllString(b.String(), "")
	body = strings.NewReplacer(inks()...).Replace(body)
	size := fmt.Sprintf("max-width:%.0fpx", p.w*120)
	if p.dense {
		size += fmt.Sprintf(";min-width:%.0fpx", p.w*82)
	}
	return fmt.Sprintf(`<svg viewBox="0 0 %.5g %.5g" style="%s" role="img" aria-label="%s">`,
		w.Points(), h.Points(), size, html.EscapeString(plaintext.Text(p.alt))) + plaintext.Text(body), nil
}

// svgHead matches the prelude of vgsvg up to the opening tag's end.
func svgHead() *regexp.Regexp { return regexp.MustCompile(`(?s)^.*?<svg[^>]*>`) }
