package auditreport

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"weir/internal/plaintext"
	"weir/record/report"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// Page returns the report as one page, to read and to print.
func (r Report) Page() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"text": plaintext.Text, "breakable": report.Breakable,
		"course": picture, "narrow": func(cell string) bool { return len(cell) <= mostNarrow }}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{"Style": template.CSS(report.Style() + pageStyle),
		"AsOf": r.asOf(), "Sections": r.sections(), "Faults": r.Disagrees()})
	return b.Bytes(), err
}

// mostNarrow is how long the text of a cell is at most that no browser should break.
const mostNarrow = 20

// Size of the picture and of its margins, in pixels.
const (
	width  = 760
	height = 276
	left   = 56
	right  = 16
	top    = 30
	bottom = 30
)

// axes places points of a course: from first to last, and from 0 to most.
type axes struct {
	first, last time.Time
	most, step  float64
}

func (x axes) across(t time.Time) float64 {
	whole := x.last.Sub(x.first).Seconds()
	if whole <= 0 {
		return left
	}
	return left + float64((width-left-right)*(t.Sub(x.first).Seconds()/whole))
}

func (x axes) up(epsilon float64) float64 {
	return top + float64((height-top-bottom)*(1-epsilon/x.most))
}

// picture draws how epsilon grew. It holds numbers and dates alone, so that nothing has to be escaped; nothing where
// there is no bound to draw.
func picture(a *Account) template.HTML {
	x, known := axesOf(a)
	if !known {
		return ""
	}
	var b strings.Builder
	const open = `<svg class="course" viewBox="0 0 %d %d" role="img" aria-label="Composed epsilon after each run">`
	fmt.Fprintf(&b, open+`<text x="0" y="14">composed epsilon at delta %g</text>`, width, height, a.Delta)
	for i := 0; float64(i)*x.step <= x.most; i++ {
		y := x.up(float64(i) * x.step)
		fmt.Fprintf(&b, `<line class="rule" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`, left, width-right, y, y)
		fmt.Fprintf(&b, `<text class="end" x="%d" y="%.1f">%.4g</text>`, left-8, y+4, float64(i)*x.step)
	}
	if a.Budget != nil {
		y := x.up(a.Budget.Epsilon)
		fmt.Fprintf(&b, `<line class="budget" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text x="%d" y="%.1f">budget</text>`,
			left, width-right, y, y, left+4, y-5)
	}
	b.WriteString(steps(x, a.Course, "fixed", func(p Point) *float64 { return p.Fixed }))
	b.WriteString(steps(x, a.Course, "capped", func(p Point) *float64 { return p.Filter }))
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><text class="end" x="%d" y="%d">%s</text></svg>`, left, height-8,
		x.first.UTC().Format("2 Jan 2006 15:04"), width-right, height-8, x.last.UTC().Format("2 Jan 2006 15:04 UTC"))
	return template.HTML(b.String())
}

// axesOf finds what is drawn; known is false where no point has a bound.
func axesOf(a *Account) (x axes, known bool) {
	if a == nil || len(a.Course) == 0 {
		return x, false
	}
	x.first, x.last = a.Course[0].Time, a.Course[len(a.Course)-1].Time
	for _, p := range a.Course {
		for _, e := range []*float64{p.Fixed, p.Filter} {
			if e != nil {
				x.most, known = max(x.most, *e), true
			}
		}
	}
	if a.Budget != nil {
		x.most = max(x.most, a.Budget.Epsilon)
	}
	if x.most = x.most * 1.08; !(x.most > 0) || math.IsInf(x.most, 1) {
		return x, false
	}
	x.step = 1e-9
	for i := 0; x.most/x.step > 8; i++ {
		x.step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10
	}
	return x, known
}

// steps draws a line that stays where it is until the next run, with a dot at each run.
func steps(x axes, course []Point, class string, epsilon func(Point) *float64) string {
	var path, dots strings.Builder
	for _, p := range course {
		e := epsilon(p)
		if e == nil {
			continue
		}
		place, y := x.across(p.Time), x.up(*e)
		if path.Len() == 0 {
			fmt.Fprintf(&path, "M%.1f,%.1fV%.1f", place, x.up(0), y)
		} else {
			fmt.Fprintf(&path, "H%.1fV%.1f", place, y)
		}
		fmt.Fprintf(&dots, `<circle class="%s" cx="%.1f" cy="%.1f" r="3"/>`, class, place, y)
	}
	if path.Len() == 0 {
		return ""
	}
	return fmt.Sprintf(`<path class="%s" d="%s"/>`, class, path.String()) + dots.String()
}
