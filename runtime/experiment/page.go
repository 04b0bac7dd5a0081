package experiment

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"

	"weir/internal/bitmath"
	"weir/internal/plaintext"
	"weir/record/report"
)

//go:embed page.html
var pageText string

// pageView is the data of the page of an experiment.
type pageView struct {
	*Table
	Style  template.CSS
	Legend []legendLine
	Panels []drawn
	Head   []string // names of the columns that say which combination a row is
	Lines  []pageLine
	Times  []pageLine // seconds of the longest stages
	Pairs  []Difference
	Each   []pageRun
	Why    string // why there are no curves

	Published bool // some row has an epsilon by published accounting

	MatrixHead []string // of the table of figures that the experiment is about; nil: it names none
	Matrix     [][]string
	Verdict    []string // its sentences
}

// panel is a drawing with what stands above and below it.
type panel struct {
	title, caption string
	*report.Picture
}

// drawn is a panel as elements of the page.
type drawn struct {
	Title, Caption string
	SVG            template.HTML
}

type legendLine struct {
	Name   string
	Sample template.HTML
}

// pageLine is a row of the table, as text.
type pageLine struct{ Lead, Values []string }

// pageRun is a row of the list of runs.
type pageRun struct {
	RunRow
	Lead, Values []string
}

// Page returns the page of an experiment: curves of the headline metrics over epsilon or a number of the
// grid, and the table below. It needs nothing but itself and, for its links, the runs where they were made.
func Page(t *Table) ([]byte, error) {
	v := pageView{Table: t, Style: template.CSS(report.Style()), Pairs: t.HeadlineDifferences()}
	c := curvesOf(t)
	v.Why = c.why
	for _, metric := range t.Headline {
		p := c.picture(metric)
		if p == nil {
			continue
		}
		svg, err := p.Inline()
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
		v.Verdict = strings.Split(strings.TrimSpace(Judge([]*Table{t}).Text()), "\n")
	}
	page, err := template.New("sweep").Funcs(report.Functions()).Funcs(template.FuncMap{
		"label": func(d Difference) string {
			return t.Label(Row{Cell: d.Cell, Settings: d.Settings})
		}, "short": Short}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = page.Execute(&b, v)
	return []byte(plaintext.Text(b.String())), err
}

// Curve draws one metric, over what Page would, as an SVG of its own; an error where it has a value
// at fewer than two places.
func Curve(t *Table, metric string) ([]byte, error) {
	c := curvesOf(t)
	p := c.picture(metric)
	if p == nil {
		return nil, fmt.Errorf("%s: has a mean at %d values of %s, must have one at 2 or more for a "+
			"curve", metric, c.count(metric), c.axis.over())
	}
	return p.SVG()
}

// tables words the rows and the runs.
func (v *pageView) tables(t *Table) {
	if len(t.Cells) > 0 {
		v.Head = append(v.Head, "Cell")
	}
	v.Head = append(v.Head, t.Grid...)
	for _, r := range t.Rows {
		v.Published = v.Published || r.Published != nil
		line := pageLine{Lead: leading(t, r.Cell, r.Settings)}
		for _, m := range t.Headline {
			line.Values = append(line.Values, r.Metrics[m].Words(r.Runs))
		}
		v.Lines = append(v.Lines, line)
		times := pageLine{Lead: line.Lead}
		for _, stage := range t.Longest() {
			times.Values = append(times.Values, r.SecondsOf(stage))
		}
		v.Times = append(v.Times, times)
	}
	for _, r := range t.Runs {
		run := pageRun{RunRow: r, Lead: leading(t, r.Cell, r.Settings)}
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

func leading(t *Table, cell string, settings map[string]string) []string {
	var list []string
	if len(t.Cells) > 0 {
		list = append(list, cell)
	}
	for _, p := range t.Grid {
		list = append(list, settings[p])
	}
	return list
}

// sampleOf draws a line of the legend.
func sampleOf(n int) template.HTML {
	_, variable, dashes := report.Ink(n)
	style := "stroke:var(--" + variable + ");stroke-width:2.5"
	if dashes {
		style += ";stroke-dasharray:5 3"
	}
	return template.HTML(strings.Join([]string{`<svg viewBox="0 0 28 12" aria-hidden="true"><path d="M1 6H27" style="`,
		style,
		`"/><circle cx="14" cy="6" r="4" style="fill:var(--`, variable, `)"/></svg>`}, ""))
}

// axis is what the curves of an experiment are drawn over.
type axis struct {
	path  string // a setting of the grid whose values are numbers; "" for epsilon
	claim string // of epsilon: proven, or published where nothing is proven; the two never mix
	steps bool   // the setting is at which step of one training rows were drawn
}

// axisOf returns the axis of the number of queries where a grid has two, for an experiment over them asks from how many
// on a table is the better buy; else over epsilon where the same settings were run at two of them, else over a setting
// of the grid that has two numbers, else over the epsilons that there are.
func axisOf(t *Table) axis {
	for _, p := range t.Grid {
		if queries := (axis{path: p}); strings.HasSuffix(p, ".queries") && queries.drawsLines(t) {
			return queries
		}
	}
	epsilon := axis{claim: "published"}
	for _, r := range t.Rows {
		if r.Proven != nil {
			epsilon.claim = "proven"
		}
	}
	if path := t.NumberPath(); path != "" && !epsilon.drawsLines(t) {
		return axis{path: path, steps: path == t.StepPath()}
	}
	return epsilon
}

// drawsLines tells whether some line has two places on the axis.
func (a axis) drawsLines(t *Table) bool {
	first := map[string]float64{}
	for _, r := range t.Rows {
		x, known := a.of(r)
		if !known {
			continue
		}
		line := t.Line(r, a.path)
		if before, has := first[line]; has && before != x {
			return true
		}
		first[line] = x
	}
	return false
}

// of returns what a row has of it, if that can be shown.
func (a axis) of(r Row) (float64, bool) {
	if a.path != "" {
		return NumberOf(r, a.path)
	}
	e := r.Proven
	if a.claim == "published" {
		e = r.Published
	}
	if e == nil || !(*e > 0) || math.IsInf(*e, 0) {
		return 0, false
	}
	return *e, true
}

// worthwhile tells whether two values are worth an axis. Equal budgets leave epsilons that differ by what
// the search for their noise leaves, less than a percent.
func (a axis) worthwhile(low, high float64) bool { return a.path != "" || high > 1.01*low }

// over words it for a reader of the text.
func (a axis) over() string {
	switch {
	case a.steps:
		return "step"
	case a.path != "":
		return Short(a.path)
	}
	return a.claim + " epsilon"
}

// label stands below the axis.
func (a axis) label() string {
	switch {
	case a.steps:
		return "step, under the epsilon of all steps"
	case a.path != "":
		return Short(a.path)
	}
	return "epsilon (" + a.claim + ")"
}

func (a axis) tick(x float64) string {
	switch {
	case a.steps:
		return strconv.FormatFloat(x, 'f', -1, 64)
	case a.path != "":
		return fmt.Sprint(x)
	}
	return upward(x)
}

// upward returns an epsilon with three digits, rounded up.
func upward(e float64) string {
	unit := bitmath.Pow(10, math.Floor(bitmath.Log10(e))-2)
	return fmt.Sprintf("%.3g", math.Ceil(e/unit*(1-1e-9))*unit)
}
