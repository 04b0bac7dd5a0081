package listing

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
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
