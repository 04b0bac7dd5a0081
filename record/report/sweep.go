package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"image/color"
	"strings"

	"weir/internal/plaintext"
	"weir/record/sweep"
)

//go:embed sweep.html
var sweepText string

// sweepView is the data of the page of an experiment.
type sweepView struct {
	*sweep.Table
	Style  template.CSS
	Legend []legendLine
	Panels []drawn
	Head   []string // names of the columns that say which combination a row is
	Lines  []sweepLine
	Times  []sweepLine // seconds of the longest stages
	Pairs  []sweep.Difference
	Each   []sweepRun
	Why    string // why there are no curves

	Published bool // some row has an epsilon by published accounting

	MatrixHead []string // of the table of figures that the experiment is about; nil: it names none
	Matrix     [][]string
	Verdict    []string // its sentences
}

type legendLine struct {
	Name   string
	Sample template.HTML
}

// sweepLine is a row of the table, as text.
type sweepLine struct{ Lead, Values []string }

// sweepRun is a row of the list of runs.
type sweepRun struct {
	sweep.Run
	Lead, Values []string
}

// Sweep is the page of an experiment: curves of the headline metrics over epsilon or a number of the
// grid, and the table below. It needs nothing but itself and, for its links, the runs where they were made.
func Sweep(t *sweep.Table) ([]byte, error) {
	v := sweepView{Table: t, Style: template.CSS(pageStyle), Pairs: t.HeadlineDifferences()}
	c := curvesOf(t)
	v.Why = c.why
	for _, metric := range t.Headline {
		p := c.picture(metric)
		if p == nil {
			continue
		}
		svg, err := p.inline()
		if err != nil {
			return nil, err
		}
		v.Panels = append(v.Panels, drawn{p.title, p.caption, template.HTML(svg)})
	}
	if len(v.Panels) > 0 {
		v.Legend = c.legend()
	}
	v.tables(t)
	if v.MatrixHead, v.Matrix = t.Matrix(); v.MatrixHead != nil {
		v.Verdict = strings.Split(strings.TrimSpace(sweep.Judge([]*sweep.Table{t}).Text()), "\n")
	}
	page, err := template.New("sweep").Funcs(functions()).Funcs(template.FuncMap{"label": func(d sweep.Difference) string {
		return t.Label(sweep.Row{Cell: d.Cell, Settings: d.Settings})
	}, "short": sweep.Short}).Parse(sweepText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, v)
	return []byte(plaintext.Text(b.String())), err
}

// Curve draws one metric, over what Sweep would, as an SVG of its own; an error where it has a value
// at fewer than two places.
func Curve(t *sweep.Table, metric string) ([]byte, error) {
	c := curvesOf(t)
	p := c.picture(metric)
	if p == nil {
		return nil, fmt.Errorf("%d of the %ss of the runs have %s, must be at least 2 to draw one over the other", c.count(metric), c.axis.over(), metric)
	}
	return p.svg()
}

// tables words the rows and the runs.
func (v *sweepView) tables(t *sweep.Table) {
	if len(t.Cells) > 0 {
		v.Head = append(v.Head, "Cell")
	}
	v.Head = append(v.Head, t.Grid...)
	for _, r := range t.Rows {
		v.Published = v.Published || r.Published != nil
		line := sweepLine{Lead: leading(t, r.Cell, r.Settings)}
		for _, m := range t.Headline {
			line.Values = append(line.Values, r.Metrics[m].Words(r.Runs))
		}
		v.Lines = append(v.Lines, line)
		times := sweepLine{Lead: line.Lead}
		for _, stage := range t.Longest() {
			times.Values = append(times.Values, r.SecondsOf(stage))
		}
		v.Times = append(v.Times, times)
	}
	for _, r := range t.Runs {
		run := sweepRun{Run: r, Lead: leading(t, r.Cell, r.Settings)}
		for _, m := range t.Headline {
			text := "–"
			if x, has := r.Metrics[m]; has {
				text = fmt.Sprintf("%.4f", x)
			}
			run.Values = append(run.Values, text)
		}
		v.Each = append(v.Each, run)
	}
}

func leading(t *sweep.Table, cell string, settings map[string]string) []string {
	var list []string
	if len(t.Cells) > 0 {
		list = append(list, cell)
	}
	for _, p := range t.Grid {
		list = append(list, settings[p])
	}
	return list
}

// ink is how the n-th line is drawn: five colours that keep apart in the common forms of colour
// blindness beside each other, then the same with dashes.
func ink(n int) (c color.NRGBA, variable string, dashes bool) {
	inks := []struct {
		color.NRGBA
		variable string
	}{{blue(), "real"}, {orange(), "synthetic"}, {teal(), "teal"}, {plum(), "plum"}, {slate(), "slate"}}
	return inks[n%len(inks)].NRGBA, inks[n%len(inks)].variable, n/len(inks)%2 == 1
}

// sample draws a line of the legend.
func sampleOf(n int) template.HTML {
	_, variable, dashes := ink(n)
	style := "stroke:var(--" + variable + ");stroke-width:2.5"
	if dashes {
		style += ";stroke-dasharray:5 3"
	}
	return template.HTML(strings.Join([]string{`<svg viewBox="0 0 28 12" aria-hidden="true"><path d="M1 6H27" style="`, style,
		`"/><circle cx="14" cy="6" r="4" style="fill:var(--`, variable, `)"/></svg>`}, ""))
}
