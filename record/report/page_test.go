package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"weir/privacy"
)

// rendered returns the page alone, which is quick.
func rendered(t *testing.T, r *Report) string {
	t.Helper()
	page, err := r.page(r.drawings(40))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// filesOf renders everything; the page comes first.
func filesOf(t *testing.T, r *Report, plots int) (page string, files []File) {
	t.Helper()
	files, err := r.Files(plots)
	if err != nil {
		t.Fatal(err)
	}
	if files[0].Name != "report.html" {
		t.Fatalf("the first file is %s, must be report.html", files[0].Name)
	}
	return string(files[0].Data), files
}

// ownScript takes the page's script and the policy that names it by its hash out of a page, and reports whether both
// are there and agree, so that a browser runs it and nothing else.
func ownScript(page string) (rest string, agrees bool) {
	policy := regexp.MustCompile(
		`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-([^']*)'">`)
	script := regexp.MustCompile(`(?s)<script>(.*)</script>\n</body>`)
	p, s := policy.FindStringSubmatch(page), script.FindStringSubmatch(page)
	if p == nil || s == nil {
		return page, false
	}
	hash := sha256.Sum256([]byte(s[1]))
	rest = strings.Replace(strings.Replace(page, p[0], "", 1), s[0], "</body>", 1)
	return rest, html.UnescapeString(p[1]) == base64.StdEncoding.EncodeToString(hash[:])
}

// network lists what in a page would make a browser fetch or run something.
func network(page string) []string {
	var found []string
	for _, pattern := range []string{
		`(?i)https?:`, `(?i)\bsrc(set)?\s*=\s*["']?[^"'d]`, `(?i)href\s*=\s*["']?[^"'#]`, `(?i)@import`, `(?i)url\(`,
		`(?i)<(script|link|iframe|object|embed|base|form|img|audio|video)\b`,
		`(?i)\son[a-z]+\s*=`, `(?i)http-equiv`, `(?i)javascript:`, `["'(=]//`,
	} {
		found = append(found, regexp.MustCompile(pattern).FindAllString(page, -1)...)
	}
	return found
}

func TestPageLoadsNothing(t *testing.T) {
	page, agrees := ownScript(rendered(t, full()))
	if !agrees {
		t.Error("the policy of the page does not name its script")
	}
	if _, agrees := ownScript(strings.Replace(rendered(t, full()), `"use strict"`, `"use sloppy"`, 1)); agrees {
		t.Error("the check does not see another script")
	}
	if found := network(page); len(found) > 0 {
		t.Errorf("the page would load or run %q", found)
	}
	for _, bad := range []string{`<img src="https://a.example/x.png">`, `<script>1</script>`, `<a href="page2.html">`,
		`<style>@import "x.css";</style>`,
		`<div style="background:url(x.png)">`, `<link rel=stylesheet>`, `<p onclick="x()">`,
		`<image href="//cdn.example/a">`} {
		if len(network(page+bad)) == 0 {
			t.Errorf("the check does not see %s", bad)
		}
	}
}

// balanced reads a text as XML.
func balanced(page string) error {
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestPageIsWellFormed(t *testing.T) {
	page, files := filesOf(t, full(), 40)
	doc := strings.Replace(page, "<!DOCTYPE html>", "", 1)
	doc = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(doc, "")
	doc = regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(strings.NewReplacer("<details open>", "<details>", "<wbr>",
		"").Replace(doc), "")
	if err := balanced(doc); err != nil {
		t.Errorf("the page: %v", err)
	}
	names := map[string]bool{}
	for _, f := range files {
		if f.Name != filepath.Base(f.Name) || names[f.Name] || strings.ContainsAny(f.Name, " /\\") {
			t.Errorf("%q is not a plain name of its own", f.Name)
		}
		names[f.Name] = true
		switch {
		case strings.HasSuffix(f.Name, ".svg"):
			if err := balanced(string(f.Data)); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		case strings.HasSuffix(f.Name, ".png"):
			if _, err := png.Decode(bytes.NewReader(f.Data)); err != nil {
				t.Errorf("%s: %v", f.Name, err)
			}
		}
	}
	for _, want := range []string{"plots-budget.svg", "plots-spend.png", "plots-column-001-age.png",
		"plots-column-002-region.svg", "plots-associations-real.svg",
		"plots-associations-difference.png", "plots-dimension-wise-probability.svg", "plots-pairs-utility-auroc.svg",
		"plots-projection.svg", "plots-roc.svg", "plots-precision-recall.png"} {
		if !names[want] {
			t.Errorf("no file %s among %v", want, names)
		}
	}
}

func TestPageIsAccessible(t *testing.T) {
	page := rendered(t, full())
	svgs := regexp.MustCompile(`<svg [^>]*>`).FindAllString(page, -1)
	if len(svgs) < 10 {
		t.Errorf("%d drawings, must be at least 10", len(svgs))
	}
	for _, s := range svgs {
		if !regexp.MustCompile(`role="img" aria-label="[^"]{20,}"`).MatchString(s) {
			t.Errorf("a drawing without a text of its own: %s", s)
		}
	}
	if tables, boxes := strings.Count(page, "<table"),
		strings.Count(page, `<div class="box" tabindex="0" role="region" aria-label`); tables != boxes || tables == 0 {
		t.Errorf("%d tables in %d boxes that scroll and take focus", tables, boxes)
	}
	level := 0
	for _, h := range regexp.MustCompile(`<h([1-6])[ >]`).FindAllStringSubmatch(page, -1) {
		current := int(h[1][0] - '0')
		if current > level+1 {
			t.Errorf("a heading of level %d follows one of level %d", current, level)
		}
		level = current
	}
	ids := map[string]bool{}
	for _, id := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[id[1]] {
			t.Errorf("the id %s stands twice", id[1])
		}
		ids[id[1]] = true
	}
	for _, a := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !ids[a[1]] {
			t.Errorf("a link to #%s, which is not there", a[1])
		}
	}
	if strings.Count(page, "<th") != strings.Count(page, `<th scope=`)+strings.Count(page, "<thead") {
		t.Error("a header cell without scope")
	}
}

func TestFirstScreen(t *testing.T) {
	page, _ := ownScript(rendered(t, full()))
	for _, want := range []string{
		"Internal: computed from real rows.", "Epsilon (proven)", `<p class="big">0.99952</p>`,
		"Epsilon (published accounting)", `<p class="big">0.5</p>`,
		"63\u202f000 rows × 2 columns", "partly kept", "80 % of the way from chance to what real rows teach",
		`0.74 <span class="dim ends">0.725 to 0.775</span>`, "W07 warning", "Column note: is text.",
		"infinite: a value occurs in one table only", "south &amp; &lt;west&gt;",
		"Age in years. Total variation 0.1. 2 values lie beyond the axis",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "NaN") {
		t.Error("the page shows NaN")
	}
}

// TestSampledRows: a page of a sample says so on top, and one of all rows does not.
func TestSampledRows(t *testing.T) {
	const words = "Real rows are a sample of at most 10\u202f000; the others stay in their database."
	r := full()
	if page, _ := ownScript(rendered(t, r)); strings.Contains(page, "are a sample") {
		t.Error("a page of all rows says that they are a sample")
	}
	r.Sample = 10000
	if page, _ := ownScript(rendered(t, r)); !strings.Contains(page, words) {
		t.Errorf("the page lacks %q", words)
	}
}

func TestSameBytes(t *testing.T) {
	_, first := filesOf(t, full(), 1)
	_, second := filesOf(t, full(), 1)
	for i, f := range first {
		if !bytes.Equal(f.Data, second[i].Data) {
			t.Errorf("%s differs from one rendering to the next", f.Name)
		}
	}
}

// TestNothingToShow: every part may be absent, and says so.
func TestNothingToShow(t *testing.T) {
	page, files := filesOf(t, &Report{Name: "empty", Privacy: Privacy{Budget: math.Inf(1), Claims: "none",
		Reason: "no privacy is claimed"}}, 40)
	if len(files) != 1 {
		t.Errorf("%d files, must be the page alone", len(files))
	}
	for _, want := range []string{"No privacy is claimed", `<p class="big">none</p>`, "no output of this plan is released",
		"No figure that this page can judge", "No figures came in", "No columns to compare"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPublishedWithoutProven(t *testing.T) {
	r := full()
	r.Privacy.Proven, r.Privacy.Reason = nil, "stage train: the rule that failed"
	r.Privacy.Spends[1].Alone, r.Privacy.Spends[1].Cumulative, r.Privacy.Spends[1].Unproven = nil, nil,
		privacy.Unproven{Rule: "W13", Why: "the rule that failed"}
	page := rendered(t, r)
	for _, want := range []string{`<p class="big">none</p>`, "stage train: the rule that failed", `<p class="big">0.5</p>`,
		"no proven bound: W13: the rule that failed"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if d := r.drawings(40); len(d.budget) > 0 {
		t.Errorf("%s is drawn though an epsilon is unknown", d.budget[0].title)
	}
}

// TestHostileNames: what a domain or a note says is text.
func TestHostileNames(t *testing.T) {
	r := full()
	const evil = `</svg><script>alert(1)</script>"'`
	r.Name, r.Columns[0].Name, r.Columns[1].Labels[0], r.Relations.Names[0] = evil, evil, evil, evil
	r.Groups[0].Figures[0].Note, r.Groups[0].Stage, r.Curves[0].Name = evil, "../"+evil, evil
	page, _ := ownScript(rendered(t, r))
	if found := network(page); len(found) > 0 {
		t.Errorf("a name becomes part of the page: %q", found)
	}
}

// TestManyColumns: of many columns the worst are drawn, and the page says so.
func TestManyColumns(t *testing.T) {
	n := 50
	r := &Report{Name: "wide", Relations: &Relations{Measure: "Pearson correlation"}}
	for i := range n {
		r.Relations.Names = append(r.Relations.Names, fmt.Sprint("x", i))
		r.Columns = append(r.Columns, Column{Name: fmt.Sprint("x", i), Edges: []float64{0, 1}, Real: []float64{1},
			Synthetic: []float64{1}, TotalVariation: float64(i) / 100})
		real, synthetic := make([]float64, n), make([]float64, n)
		for j := range n {
			synthetic[j] = float64(i+j) / 100 // the last columns change most
		}
		r.Relations.Real, r.Relations.Synthetic = append(r.Relations.Real, real), append(r.Relations.Synthetic, synthetic)
	}
	if s := r.Relations.narrow(mostRelated); len(s.Names) != mostRelated || s.Names[0] != "x10" || s.Real[0] == nil ||
		len(s.Synthetic[3]) != mostRelated || s.Synthetic[0][1] != 0.21 {
		t.Errorf("narrowed to %v", s.Names)
	}
	page, files := filesOf(t, r, 2)
	for _, want := range []string{"Of 50 columns the 40 are drawn", "48 columns have no plot",
		"of each pair of 40 columns"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if len(files) != 1+2*(2+3) { // 2 columns, 3 heat maps
		t.Errorf("%d files", len(files))
	}
}

// TestEmptyParts: a run with one charge and no published accounting has no sum of one, no column without a value and no
// word of a pie; a run with several has them.
func TestEmptyParts(t *testing.T) {
	parts := []string{"By naive addition", `<th scope="col" class="n">Published</th>`, "no pie is drawn"}
	r := full()
	for i := range r.Privacy.Spends { // so that there is no pie
		r.Privacy.Spends[i].Alone, r.Privacy.Spends[i].Cumulative = nil, nil
	}
	for _, part := range parts {
		if !strings.Contains(rendered(t, r), part) {
			t.Errorf("the page of two charges lacks %q", part)
		}
	}
	r.Privacy.Spends, r.Privacy.Published = r.Privacy.Spends[:1], nil
	for _, part := range parts {
		if strings.Contains(rendered(t, r), part) {
			t.Errorf("the page of one charge has %q", part)
		}
	}
}

// TestLongTableLeadsToDrawings: only a table of columns that fills more than a screen has a way past it.
func TestLongTableLeadsToDrawings(t *testing.T) {
	const way = `<a href="#drawings">`
	r := full()
	if strings.Contains(rendered(t, r), way) {
		t.Error("a table of two columns is said to be long")
	}
	for len(r.Columns) <= mostOpen {
		r.Columns = append(r.Columns, r.Columns[0])
	}
	if page := rendered(t, r); !strings.Contains(page, way) || !strings.Contains(page, `id="drawings"`) {
		t.Error("no way leads past a long table")
	}
}

// TestBreakable: a name may break behind separators, and is text whatever it holds.
func TestBreakable(t *testing.T) {
	if got := string(Breakable("STDs:HPV_of.a/b <i>&")); got != "STDs:<wbr>HPV_<wbr>of.<wbr>a/<wbr>b &lt;i&gt;&amp;" {
		t.Errorf("%s", got)
	}
}

// landmarks lists the names of the parts of a page that a screen reader leaps to.
func landmarks(page string) (names []string) {
	title := regexp.MustCompile(`(?s)<section id="[^"]*" aria-labelledby="([^"]*)">.*?id="([^"]*)"[^>]*>([^<]*)<`)
	for _, m := range title.FindAllStringSubmatch(page, -1) {
		names = append(names, m[3])
	}
	for _, m := range regexp.MustCompile(`<(?:aside|nav|div)[^>]* aria-label="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestLandmarksAreTold: no two parts of a page have one name, or a reader cannot tell where a leap leads.
func TestLandmarksAreTold(t *testing.T) {
	seen := map[string]bool{}
	list := landmarks(rendered(t, full()))
	for _, l := range list {
		if seen[l] {
			t.Errorf("two parts are called %q", l)
		}
		seen[l] = true
	}
	if len(list) < 8 {
		t.Errorf("only %q were read", list)
	}
}

// TestManyFigures: figures of a thousand columns do not make a page that no browser opens; it keeps what is said of
// whole tables and says where the others are.
func TestManyFigures(t *testing.T) {
	r := full()
	g := &r.Groups[0]
	for len(g.Figures) <= mostListed {
		g.Figures = append(g.Figures, Figure{Name: "total_variation", Column: fmt.Sprint("column ", len(g.Figures)),
			Value: 0.1})
	}
	page := rendered(t, r)
	listed := g.table(0, r.Privacy)
	if len(listed.Rows)+listed.Unlisted != len(g.Figures) || len(listed.Rows) < 3 || len(page) > 1<<20 {
		t.Errorf("%d of %d figures are listed, %d are said to be left out, and the page has %d bytes", len(listed.Rows),
			len(g.Figures), listed.Unlisted, len(page))
	}
	if want := "9\u202f998 figures of columns, pairs and other parts are too many for this page: <code>metrics.json</code>"; !strings.Contains(page, want) {
		t.Errorf("the page lacks %q", want)
	}
	g.Figures = g.Figures[:mostListed]
	if page := rendered(t, r); strings.Contains(page, "too many for this page") || !strings.Contains(page,
		"column 9999<") {
		t.Error("a page of 10,000 figures does not list all")
	}
}
