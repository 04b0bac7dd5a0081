package listing

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func onDay(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }

func epsilonOf(x float64) *float64 { return &x }

// three returns runs of two specs, one of which cannot be read.
func three() []Run {
	return []Run{
		{Path: "runs/a/20261101-x", Name: "a", ID: "20261101-120000-0123456789abcdef", Status: "done", Proven: epsilonOf(1),
			Published: epsilonOf(0.5), Started: onDay(1), Bytes: 1500,
			Metrics: map[string]float64{"u.auroc": 0.5, "u.accuracy": 0.25}, Main: []string{"u.auroc", "u.accuracy"},
			Report: "internal/report.html"},
		{Path: "runs/a/20261103-x", Name: "a", ID: "20261103-x", Status: "failed", Started: onDay(3), Test: true,
			Metrics: map[string]float64{"u.auroc": 0.75}, Main: []string{"u.auroc"}},
		{Path: "runs/b/20261102-x", Name: "b", ID: "20261102-x", Status: Unreadable, Why: "has no run.json",
			Started: onDay(2)},
	}
}

func names(runs []Run) (ids []string) {
	for _, r := range runs {
		ids = append(ids, r.ID[:8])
	}
	return ids
}

// TestSelect: newest first, by name or pattern, status and time.
func TestSelect(t *testing.T) {
	for name, c := range map[string]struct {
		f    Filter
		want []string
	}{
		"all":     {Filter{}, []string{"20261103", "20261102", "20261101"}},
		"name":    {Filter{Name: "a"}, []string{"20261103", "20261101"}},
		"pattern": {Filter{Name: "[ab]*"}, []string{"20261103", "20261102", "20261101"}},
		"status":  {Filter{Status: Unreadable}, []string{"20261102"}},
		"since":   {Filter{Since: onDay(2)}, []string{"20261103", "20261102"}},
		"none":    {Filter{Name: "c", Since: onDay(2)}, nil},
	} {
		if got := names(c.f.Select(three())); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, must be %v", name, got, c.want)
		}
	}
}

// TestText is a line a run, with what makes it different marked.
func TestText(t *testing.T) {
	want := `SPEC  RUN                     STATUS               EPSILON  AGE  SIZE    MAIN FIGURES (PRIVATE)
a     20261103-x              failed, NOT PRIVATE  none     24h  0 B     u.auroc 0.7500
b     20261102-x              unreadable                    2d   0 B     has no run.json
a     20261101-120000-012345  done                 1 (0.5)  3d   1.5 kB  u.auroc 0.5000  u.accuracy 0.2500
`
	if got := Text(Filter{}.Select(three()), onDay(4), 0, whole); got != want {
		t.Errorf("got\n%s, must be\n%s", got, want)
	}
}

// whole breaks no line.
func whole(s string) string { return s }

// TestTextFitsATerminal: on a terminal without room for a line, what differs, figures and remarks of a run stand below
// it and are folded; where there is room nothing changes.
func TestTextFitsATerminal(t *testing.T) {
	runs := Filter{Name: "a"}.Select(three())[1:]
	runs[0].Differs, runs[0].Note = []Setting{{"seed", "3"}}, "good"
	const want = `SPEC  RUN                     STATUS  EPSILON  AGE  SIZE
a     20261101-120000-012345  done    1 (0.5)  3d   1.5 kB
      seed 3|
      u.auroc 0.5000  u.accuracy 0.2500|
      good|
`
	fold := func(s string) string { return strings.TrimSuffix(s, "\n") + "|\n" }
	if got := Text(runs, onDay(4), 80, fold); got != want {
		t.Errorf("got\n%s, must be\n%s", got, want)
	}
	if got := Text(runs, onDay(4), 200, whole); got != Text(runs, onDay(4), 0, whole) {
		t.Errorf("where there is room it is\n%s", got)
	}
}

// TestTextSaysWhatDiffers: settings in a column of their own, of long lists the first, and the owner's words below.
func TestTextSaysWhatDiffers(t *testing.T) {
	runs := Filter{Name: "a"}.Select(three())
	runs[0].Differs = []Setting{{"seed", "4"}, {"train.bins", "8"}, {"train.columns", "[a, b, c, d, e, f, g, h, i]"},
		{"x", "1"}}
	runs[1].Differs = []Setting{{"seed", "3"}, {"train.bins", "-"}}
	runs[1].Tags, runs[1].Note = []string{"good", "paper"}, "tails are\x1b[2J right"
	want := `SPEC  RUN                     STATUS               EPSILON  AGE  SIZE    DIFFERS IN                                                        MAIN FIGURES (PRIVATE)
a     20261103-x              failed, NOT PRIVATE  none     24h  0 B     seed 4  train.bins 8  train.columns [a, b, c, d, e, f, g,...  +1  u.auroc 0.7500
a     20261101-120000-012345  done                 1 (0.5)  3d   1.5 kB  seed 3  train.bins -                                              u.auroc 0.5000  u.accuracy 0.2500
      #good #paper tails are\x1b[2J right
`
	if got := Text(runs, onDay(4), 0, whole); got != want {
		t.Errorf("got\n%s, must be\n%s", got, want)
	}
	if got := (Filter{Tag: "paper"}).Select(runs); len(got) != 1 || got[0].ID != runs[1].ID {
		t.Errorf("the tag paper selects %v", names(got))
	}
	page, err := Page(runs, onDay(4), func(Run) string { return "" })
	for _, want := range []string{"Differs in", "train.<wbr>bins <strong>8</strong>", "#good #paper tails are",
		`<th scope="col" class="n">Published</th>`} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%v: the page lacks %q", err, want)
		}
	}
	wellFormed(t, string(page))
	if page, _ := Page(runs[:1], onDay(4), func(Run) string { return "" }); strings.Contains(string(page), "Published") {
		t.Error("a page without published epsilons has a column for them")
	}
	if page, _ := Page(three(), onDay(4), func(Run) string { return "" }); strings.Contains(string(page), "Differs in") {
		t.Error("a page of runs that do not differ has a column for it")
	}
}

// TestWords: sizes in powers of 1000, ages in the largest unit that counts at least 2.
func TestWords(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9951: "10 kB",
		999499: "999 kB", 999500: "1.0 MB", 5693198: "5.7 MB", math.MaxInt64: "9.2 EB"} {
		if got := Size(bytes); got != want {
			t.Errorf("%d bytes are %s, must be %s", bytes, got, want)
		}
	}
	for d, want := range map[time.Duration]string{-time.Hour: "0s", 119 * time.Second: "119s", 2 * time.Minute: "2m",
		47 * time.Hour: "47h", 48 * time.Hour: "2d", 800 * 24 * time.Hour: "2y"} {
		if got := Age(d); got != want {
			t.Errorf("%s is %s, must be %s", d, got, want)
		}
	}
}

// TestSparkline: from the oldest on the left to the newest, which has the dot; the lowest
// at the bottom and the highest on top, even where their range is no float.
func TestSparkline(t *testing.T) {
	for name, c := range map[string]struct {
		values []float64
		want   string
	}{
		"one":   {[]float64{3}, `points="80.0,16.0"/><circle cx="80.0" cy="16.0"`},
		"equal": {[]float64{3, 3}, `points="4.0,16.0 156.0,16.0"/><circle cx="156.0" cy="16.0"`},
		"rises": {[]float64{1, 2, 3}, `points="4.0,28.0 80.0,16.0 156.0,4.0"/><circle cx="156.0" cy="4.0"`},
		"huge":  {[]float64{-math.MaxFloat64, math.MaxFloat64}, `points="4.0,28.0 156.0,4.0"`},
	} {
		if got := string(line(c.values, slices.Min(c.values), slices.Max(c.values))); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, must hold %s", name, got, c.want)
		}
	}
	if g := groups(Filter{}.Select(three())); len(g) != 2 || g[0].Name != "a" || g[0].Sparks[0].Name != "u.auroc" ||
		g[0].Sparks[0].Last != 0.75 || g[0].Bytes != 1500 {
		t.Errorf("groups are %+v", g)
	}
}

// escape is what a terminal would obey and XML cannot hold, with what HTML would.
const escape = "\x1b[2J\x00\u0085\u202e\n\t<script>&\"'javascript:"

// TestHostileNames: names, figures and reasons with markup and control characters leave a
// page that is well formed without any of them, and lines of a terminal that stay lines.
func TestHostileNames(t *testing.T) {
	runs := three()
	for i := range runs {
		r := &runs[i]
		r.Differs, r.Tags, r.Note = []Setting{{escape, escape}}, []string{escape}, escape
		r.Name, r.ID, r.Status, r.Why, r.Report = r.Name+escape, r.ID+escape, r.Status+escape, r.Why+escape, r.Report+escape
		r.Metrics, r.Main = map[string]float64{"u." + escape: 1}, []string{"u." + escape}
	}
	text := Text(runs, onDay(4), 0, whole)
	if strings.Count(text, "\n") != 7 || strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsControl(c) &&
			c != '\n' || c == '\u202e'
	}) {
		t.Errorf("a terminal obeys %q", text)
	}
	page, err := Page(runs, onDay(4), func(r Run) string { return "javascript:alert(1)/" + r.ID })
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(page), func(c rune) bool {
		return unicode.IsControl(c) && c != '\n' && c != '\t' ||
			c == '\u202e'
	}) {
		t.Error("the page holds a control character")
	}
	if n := strings.Count(string(page), "<script>"); n != 1 {
		t.Errorf("the page has %d scripts, must have its own", n)
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(string(page), -1) {
		if !strings.HasPrefix(m[1], "./") && !strings.HasPrefix(m[1], "#") {
			t.Errorf("a link leads to %s, must be relative", m[1])
		}
	}
	wellFormed(t, string(page))
}

// wellFormed closes the elements that HTML leaves open, and reads the page as XML.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	page = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAllString(page, "")
	page = regexp.MustCompile(`<(meta [^>]*|wbr|br)>`).ReplaceAllString(page, "")
	d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(page, "<!DOCTYPE html>")))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPage: each run has its line and its link, figures without a value are empty and sort
// last, no run leads off the page, and nothing is fetched.
func TestPage(t *testing.T) {
	page, err := Page(Filter{}.Select(three()), onDay(4), func(r Run) string { return r.Name + "/ü #1" })
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	wellFormed(t, text)
	for _, want := range []string{`<a href="./a/%C3%BC%20%231/internal/report.html">20261101-120000-012345</a>`,
		`3 runs of 2 specs`, `1 NOT PRIVATE`,
		`<td class="n" data-v=""></td>`, `has no run.json`, `data-v="0.75">0.7500`, `color-scheme:light dark`} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if regexp.MustCompile(`https?://|@import|url\(|src=`).MatchString(text) {
		t.Error("the page fetches something")
	}
	runs := []Run{{Main: []string{"a.x", "a.y", "b.z"}}, {Main: []string{"a.x", "a.y"}}}
	if got := figures(runs); !slices.Equal(got, []string{"a.x", "a.y", "b.z"}) || !slices.Equal(figures(runs[:1]),
		[]string{"a.x", "b.z", "a.y"}) {
		t.Errorf("columns are %v: those of most runs come first, then one of each stage", got)
	}
	if rows, links := strings.Count(text, "<tr>")-1, strings.Count(text, `<a href="./`); rows != 3 || links != 1 {
		t.Errorf("%d rows and %d links, must be 3 and 1", rows, links)
	}
}

// TestEmptyPage and one of many figures are pages.
func TestEmptyPage(t *testing.T) {
	many := Run{Name: "m", ID: "m", Status: "done", Metrics: map[string]float64{}}
	for i := range 30 {
		many.Main = append(many.Main, fmt.Sprintf("s.f%02d", i))
		many.Metrics[many.Main[i]] = float64(i)
	}
	for _, runs := range [][]Run{nil, {many}} {
		page, err := Page(runs, onDay(4), func(Run) string { return "" })
		if err != nil {
			t.Fatal(err)
		}
		wellFormed(t, string(page))
		if columns := strings.Count(string(page), "</th>"); columns > 8+mostColumns {
			t.Errorf("%d columns", columns)
		}
	}
}
