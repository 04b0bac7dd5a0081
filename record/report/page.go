package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/record"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed page.js
var pageScript string

// Style returns the style of the report, for other pages of the owner's side.
func Style() string { return pageStyle }

// File is one file of a report.
type File struct {
	Name string
	Data []byte
}

// Files renders the page report.html and each plot as plots-NAME.svg and
// plots-NAME.png; of columns, the plots of the worst `plots` columns.
func (r *Report) Files(plots int) ([]File, error) {
	d := r.drawings(plots)
	page, err := r.page(d)
	if err != nil {
		return nil, err
	}
	files := []File{{"report.html", page}}
	for _, p := range d.all() {
		svg, err := p.SVG()
		if err != nil {
			return nil, err
		}
		png, err := p.png()
		if err != nil {
			return nil, err
		}
		files = append(files, File{"plots-" + p.name + ".svg", svg}, File{"plots-" + p.name + ".png", png})
	}
	return files, nil
}

// drawings are the pictures by section of the page.
type drawings struct {
	budget, columns, groups, heat, scatter, curves []*Picture
}

func (d drawings) all() []*Picture {
	var list []*Picture
	for _, part := range [][]*Picture{d.budget, d.columns, d.groups, d.heat, d.scatter, d.curves} {
		list = append(list, part...)
	}
	return list
}

func (r *Report) drawings(plots int) drawings {
	h := Handler()
	d := drawings{budget: budgetPictures(h, r.Privacy), groups: groupPictures(h, r.Groupings),
		heat: heatPictures(h, r.Relations), curves: curvePictures(h, r.Curves)}
	distances := make([]float64, len(r.Columns))
	for i, c := range r.Columns {
		distances[i] = c.TotalVariation
	}
	for _, i := range largest(distances, plots) {
		if p := columnPicture(h, r.Columns[i]); p != nil {
			p.name = fmt.Sprintf("column-%03d-%s", i+1, fileName(p.title))
			d.columns = append(d.columns, p)
		}
	}
	d.scatter = r.scatters(h)
	return d
}

// fileName keeps letters, digits, dash and underscore of a name, for files.
func fileName(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		}
		return '_'
	}, shortName(name))
}

func shortName(name string) string {
	if r := []rune(name); len(r) > 40 {
		return string(r[:40])
	}
	return name
}

// view is the page's data: text, and drawings as elements.
type view struct {
	*Report
	Style               template.CSS
	Script              template.JS
	ScriptHash          string // SHA-256, by which the page's policy knows its own script
	NoPrivacy           bool
	Verdicts            []verdict
	Losses              []loss
	LossesBy            string
	Pairs               []pair
	Marginals, Broken   []part
	Tried               int // rules
	Budget, Bars, Heats []drawn
	Scatters, Lines     []drawn
	Served              []drawn // errors within groups
	Omitted             int     // columns without a plot
	Long, Several       bool    // the table of columns fills more than a screen; several mechanisms spend
	Tables              []table
}

// drawn is a picture in the page.
type drawn struct {
	Title, Caption string
	SVG            template.HTML
}

// table is the figures of one stage.
type table struct {
	ID, Stage, Kind string
	Open            bool
	Rows            []row
	Unlisted        int // figures of columns and other parts that are not listed
}

type row struct{ Name, Column, Value, Interval, Note string }

func (r *Report) page(d drawings) ([]byte, error) {
	v := view{Report: r, Style: template.CSS(pageStyle), NoPrivacy: math.IsInf(r.Privacy.Budget, 1),
		Verdicts: r.verdicts()}
	hash := sha256.Sum256([]byte(pageScript))
	v.Script, v.ScriptHash = template.JS(pageScript), base64.StdEncoding.EncodeToString(hash[:])
	v.Marginals = r.marginals()
	v.Broken, v.Tried = r.broken()
	v.Losses, v.LossesBy = r.losses(6)
	v.Pairs = r.Relations.worst(6)
	v.Omitted, v.Long, v.Several = len(r.Columns)-len(d.columns), len(r.Columns) > mostOpen, len(r.Privacy.Spends) > 1
	for _, part := range []struct {
		to   *[]drawn
		from []*Picture
	}{{&v.Budget, d.budget}, {&v.Bars, d.columns}, {&v.Served, d.groups}, {&v.Heats, d.heat}, {&v.Scatters, d.scatter},
		{&v.Lines, d.curves}} {
		for _, p := range part.from {
			svg, err := p.Inline()
			if err != nil {
				return nil, err
			}
			*part.to = append(*part.to, drawn{p.title, p.caption, template.HTML(svg)})
		}
	}
	for i, g := range r.Groups {
		v.Tables = append(v.Tables, g.table(i, r.Privacy))
	}
	t, err := template.New("page").Funcs(Functions()).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return []byte(plaintext.Text(b.String())), err
}

// mostOpen rows of a table of figures are shown without a click. Of more than mostListed, figures of whole tables alone
// are on the page: 10,000 rows have 1.4 MB and 90,000 elements, which a browser lays out in a second or two.
const (
	mostOpen   = 60
	mostListed = 10_000
)

// table lists the figures; the ends of an interval stand beside their figure.
func (g Group) table(i int, p Privacy) table {
	t := table{ID: fmt.Sprintf("figures-%d", i+1), Stage: g.Stage, Kind: g.Kind}
	intervals := g.intervals()
	for _, f := range g.Figures {
		if intervals[[2]string{g.endOf(f.Name), f.Column}] != "" {
			continue
		}
		t.Rows = append(t.Rows, row{f.Name, f.Column, Number(f.Value), intervals[[2]string{f.Name, f.Column}],
			p.withoutBaseline(f.Note)})
	}
	if all := len(t.Rows); all > mostListed {
		t.Rows = slices.DeleteFunc(t.Rows, func(r row) bool { return r.Column != "" })
		t.Unlisted = all - len(t.Rows)
	}
	t.Open = len(t.Rows) <= mostOpen
	return t
}

// Functions returns the functions of the pages' templates.
func Functions() template.FuncMap {
	return template.FuncMap{
		"number": Number, "percent": percent, "count": count, "uses": uses,
		"bound": shown("none", record.Bound), "value": shown("none", record.Number),
		"optional": shown("–", Number), "optionalBound": shown("–", record.Bound),
		"words":       func(s string) string { return strings.ReplaceAll(s, "_", " ") },
		"class":       func(word string) string { return strings.ReplaceAll(word, " ", "-") },
		"mark":        mark,
		"breakable":   Breakable,
		"stopped":     stopped,
		"mostRelated": func() int { return mostRelated }, "leastRows": func() int { return leastRows },
	}
}

// Breakable lets a browser break a long name behind its separators, and not within a word.
func Breakable(name string) template.HTML {
	separators := strings.NewReplacer(".", ".<wbr>", "_", "_<wbr>", ":", ":<wbr>", "/", "/<wbr>")
	return template.HTML(separators.Replace(template.HTMLEscapeString(name)))
}

// shown writes a number, or a word where there is none.
func shown(none string, write func(float64) string) func(*float64) string {
	return func(x *float64) string {
		if x == nil {
			return none
		}
		return write(*x)
	}
}

// mark returns a sign that tells verdicts apart without colour.
func mark(word string) string {
	switch word {
	case kept:
		return "●"
	case partly:
		return "◐"
	case lost:
		return "○"
	case hint, leak:
		return "▲"
	}
	return "–"
}

// uses returns how often a mechanism may draw; below zero its noise has a total instead.
func uses(n int64) string {
	if n < 0 {
		return "any"
	}
	return count(n)
}

// count writes whole numbers with narrow spaces between thousands.
func count(n any) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	return digits
}
