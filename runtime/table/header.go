package table

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"weir/pipeline"
)

// layout says which declared column each column of the file is; -1 is ignored.
type layout []int

// unnamed is how a column without a name in the header is declared: R and
// pandas leave the name of row labels empty.
func unnamed(i int) string { return fmt.Sprintf("column_%d", i+1) }

// byPosition is the layout of a file without a header.
func byPosition(n int, d *pipeline.Domain, p *problems, line int64, ignoreExtra bool) layout {
	want := len(d.Columns)
	if n < want || n > want && !ignoreExtra {
		p.add(line, "", fmt.Sprintf("has %d columns where the domain declares %d", n, want))
		return nil
	}
	l := make(layout, n)
	for i := range l {
		l[i] = i
		if i >= want {
			l[i] = -1
		}
	}
	return l
}

// byName matches the columns of a header, or of a Parquet schema, to the
// declared ones. A name of the file is quoted only where at least half of the
// declared names are found: otherwise the line may be a row of values.
func byName(names []string, d *pipeline.Domain, p *problems, line int64, ignoreExtra bool) layout {
	declared := map[string]int{}
	for i, c := range d.Columns {
		declared[c.Name] = i
	}
	l, found := make(layout, len(names)), map[string]int{}
	var extra []string
	for i, name := range names {
		at, ok := declared[name]
		if name == "" && !ok {
			name = unnamed(i)
			at, ok = declared[name]
		}
		if l[i] = at; !ok {
			l[i] = -1
			extra = append(extra, name)
			continue
		}
		found[name]++
	}
	if 2*len(found) < len(declared) {
		p.add(line, "", fmt.Sprintf("names %d of the %d declared columns; is this line no header (csv.header: false), or the domain that of another file?", len(found), len(declared)))
		return nil
	}
	compare(names, extra, found, d, p, line, ignoreExtra)
	return l
}

func compare(names, extra []string, found map[string]int, d *pipeline.Domain, p *problems, line int64, ignoreExtra bool) {
	for _, c := range d.Columns {
		switch {
		case found[c.Name] > 1:
			p.add(line, c.Name, fmt.Sprintf("stands %d times in the file, must be one column", found[c.Name]))
		case found[c.Name] == 0:
			p.add(line, c.Name, "is declared and not in the file"+nearest(c.Name, extra))
		}
	}
	if ignoreExtra {
		return
	}
	for _, name := range extra {
		p.add(line, name, "is in the file and not declared; declare it, or set csv.extra: ignore")
	}
}

// nearest names the undeclared column of the file that looks most like name.
func nearest(name string, names []string) string {
	best, at := 1+len(name)/3, ""
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return fmt.Sprintf("; did you mean %q?", n)
		}
		if d := levenshtein.ComputeDistance(n, name); d <= best && d < len(name) {
			best, at = d-1, n
		}
	}
	if at == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", at)
}

// delimiters that real files use, in the order in which they are tried.
var delimiters = [...]byte{',', ';', '\t', '|', ':', ' '}

// suggest finds a delimiter that cuts the first record into want values.
func suggest(d *dialect, record []byte, want int) (byte, bool) {
	for _, c := range delimiters {
		if c == d.delim || c == d.quote {
			continue
		}
		other := *d
		other.delim = c
		if values, _, rule := firstRecord(&other, record); rule == "" && len(values) == want {
			return c, true
		}
	}
	return 0, false
}

// firstRecord cuts the first record of text, after blanks and comments, and
// returns where the next begins.
func firstRecord(d *dialect, text []byte) (values []string, next int, rule string) {
	x := newLexer(d)
	x.buf = text
	p := x.skip(0)
	for p < len(text) || len(values) > 0 {
		v, end, rule := x.value(p)
		if rule != "" {
			return nil, end, rule
		}
		values = append(values, string(v))
		if p = end + 1; x.atEnd(end) {
			break
		}
	}
	return values, p, ""
}
