package listing

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"weir/internal/plaintext"
	"weir/record"
	"weir/record/report"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

//go:embed sort.js
var pageScript string

// view is what the page shows.
type view struct {
	Style  template.CSS
	Script template.JS
	At     string
	Runs   []row
	Groups []group
	Names  []string // of the figures that have a column
	Bytes  int64
	Tests  int
	// Some run differs from others of its spec, and some run has an epsilon by published accounting.
	Differ, Published bool
}

// row is a run in the table.
type row struct {
	Run
	Link            template.URL
	Status, Seconds string
	Age             string
	Figures         []cell
}

// cell is a figure of a run; without a value it sorts last.
type cell struct {
	Text string
	Sort string
}

// mostColumns is how many figures have a column; the others are in the reports.
const mostColumns = 6

// Page renders a page of runs, which are newest first, as of now. toRun gives the path of a
// run's folder from the folder of the page, with slashes, or "" where there is none.
func Page(runs []Run, now time.Time, toRun func(Run) string) ([]byte, error) {
	v := view{Style: template.CSS(report.Style() + pageStyle), Script: template.JS(pageScript),
		At: now.Format("2006-01-02 15:04"), Groups: groups(runs), Names: figures(runs)}
	v.Names = v.Names[:min(mostColumns, len(v.Names))]
	for _, r := range runs {
		v.Bytes += r.Bytes
		v.Differ, v.Published = v.Differ || len(r.Differs) > 0, v.Published || r.Published != nil
		if r.Test {
			v.Tests++
		}
		v.Runs = append(v.Runs, rowOf(r, now, v.Names, toRun(r)))
	}
	t, err := template.New("page").Funcs(template.FuncMap{"size": Size, "figure": figure, "epsilon": epsilon,
		"key": sortKey,
		"id":  ShortID, "count": count, "text": plaintext.Text, "breakable": report.Breakable, "remark": remark}).Parse(
		pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, v)
	return b.Bytes(), err
}

// count writes 1 run, 2 runs.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func rowOf(r Run, now time.Time, names []string, folder string) row {
	list := row{Run: r, Status: status(r), Seconds: fmt.Sprint(int64(now.Sub(r.Started).Seconds())),
		Age: Age(now.Sub(r.Started)), Link: link(folder, r.Report)}
	for _, name := range names {
		c := cell{}
		if v, ok := r.Metrics[name]; ok {
			c = cell{figure(v), fmt.Sprint(v)}
		}
		list.Figures = append(list.Figures, c)
	}
	return list
}

// figure returns a main figure as it is shown everywhere.
func figure(v float64) string { return fmt.Sprintf("%.4f", v) }

// link leads to the report of a run. It is relative: no name in it can be taken for a scheme.
func link(folder, file string) template.URL {
	if folder == "" || file == "" {
		return ""
	}
	parts := strings.Split(folder+"/"+file, "/")
	for i, p := range parts {
		parts[i] = escaped(p)
	}
	return template.URL("./" + strings.Join(parts, "/"))
}

// escaped returns a name in a link: all but letters, digits and what RFC 3986 calls unreserved
// is spelled by its bytes.
func escaped(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func epsilon(x *float64) string {
	if x == nil {
		return "none"
	}
	return record.Bound(*x)
}

// sortKey returns what the script sorts an epsilon by: none comes last.
func sortKey(x *float64) string {
	if x == nil || math.IsNaN(*x) {
		return ""
	}
	return fmt.Sprint(*x)
}

// spark is the course of one figure over the runs of a spec.
type spark struct {
	Name        string
	Last        float64
	Low, High   float64
	Count       int
	Description string
	SVG         template.HTML
}

// group is the runs of one spec, with the course of their figures.
type group struct {
	Name   string
	Runs   int
	Bytes  int64
	Sparks []spark
}

// mostSparks is how many figures of a spec are drawn.
const mostSparks = 6

// groups returns the specs of a list that is newest first, by name.
func groups(runs []Run) []group {
	groups := map[string][]Run{}
	var names []string
	for _, r := range runs {
		if groups[r.Name] == nil {
			names = append(names, r.Name)
		}
		groups[r.Name] = append(groups[r.Name], r)
	}
	slices.Sort(names)
	list := make([]group, len(names))
	for i, name := range names {
		list[i] = groupOf(name, groups[name])
	}
	return list
}

func groupOf(name string, runs []Run) group {
	g := group{Name: name, Runs: len(runs)}
	for _, r := range runs {
		g.Bytes += r.Bytes
	}
	for _, figure := range figures(runs) {
		if len(g.Sparks) == mostSparks {
			break
		}
		g.Sparks = append(g.Sparks, sparkOf(figure, runs))
	}
	return g
}

// sparkOf draws a figure from the oldest run to the newest.
func sparkOf(figure string, runs []Run) spark {
	var values []float64
	for _, r := range slices.Backward(runs) {
		if v, ok := r.Metrics[figure]; ok {
			values = append(values, v)
		}
	}
	s := spark{Name: figure, Last: values[len(values)-1], Low: slices.Min(values), High: slices.Max(values),
		Count: len(values)}
	s.Description = fmt.Sprintf("%d runs, oldest first, from %.4f to %.4f", s.Count, values[0], s.Last)
	s.SVG = line(values, s.Low, s.High)
	return s
}

// Size of a sparkline, in pixels.
const (
	sparkWidth  = 160
	sparkHeight = 32
	sparkMargin = 4
)

// line draws values as a line with a dot at its end. It holds numbers alone, so that
// nothing has to be escaped.
func line(values []float64, low, high float64) template.HTML {
	var points []string
	var x, y float64
	for i, v := range values {
		x, y = sparkWidth/2, sparkHeight/2
		if len(values) > 1 {
			x = sparkMargin + float64(i)*(sparkWidth-2*sparkMargin)/float64(len(values)-1)
		}
		if high > low {
			// halves: the range of two floats may be none
			y = sparkMargin + float64((sparkHeight-2*sparkMargin)*(1-(float64(v/2)-float64(low/2))/
				(float64(high/2)-float64(low/2))))
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
	}
	return template.HTML(
		fmt.Sprintf(
			`<svg class="spark" viewBox="0 0 %d %d" aria-hidden="true"><polyline points="%s"/><circle cx="%.1f" cy="%.1f" r="2.6"/></svg>`,
			sparkWidth, sparkHeight, strings.Join(points, " "), x, y))
}
