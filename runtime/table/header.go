package table

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"

	"weir/pipeline/domain"
)

// layout says which declared column each column of the file is; -1 is ignored.
type layout []int

// unnamed returns how a column without a name in the header is declared: R and
// pandas leave the name of row labels empty.
func unnamed(i int) string { return fmt.Sprintf("column_%d", i+1) }

// byPosition returns the layout of a file without a header.
func byPosition(n int, d *domain.Domain, p *problems, line int64, ignoreExtra bool) layout {
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

// undeclared says what to do about column i of a file that the domain does not name.
func undeclared(i int) string {
	return fmt.Sprintf("column %d of the file is not declared; declare it, or set csv.extra: ignore", i+1)
}

// byName matches the columns of a header, or of a Parquet schema, to the
// declared ones. No name that is not declared is ever quoted, only its place: a
// line that names every column may hold values too, where line ends are lost. extra
// words the problem of a column that is not declared; nil ignores such columns.
func byName(names []string, d *domain.Domain, p *problems, line int64, extra func(i int) string) layout {
	declared := map[string]int{}
	for i, c := range d.Columns {
		declared[c.Name] = i
	}
	l, found := make(layout, len(names)), map[string]int{}
	for i, name := range names {
		column, ok := declared[name]
		if name == "" && !ok {
			name = unnamed(i)
			column, ok = declared[name]
		}
		if l[i] = column; !ok {
			l[i] = -1
			continue
		}
		found[name]++
	}
	if 2*len(found) < len(declared) {
		p.add(line, "", fmt.Sprintf("names %d of the %d declared columns; %s", len(found), len(declared), misnamed(line)))
		return nil
	}
	compare(names, l, found, d, p, line, extra)
	return l
}

// misnamed asks what is wrong where most names are not those declared: in a line of text, or of stored columns (line
// 0).
func misnamed(line int64) string {
	if line > 0 {
		return "is this line no header (csv.header: false), or does the domain describe another file?"
	}
	return "does the domain describe another table, or does it spell names otherwise (capitals are told apart)?"
}

func compare(names []string, l layout, found map[string]int, d *domain.Domain, p *problems, line int64,
	extra func(i int) string) {
	for _, c := range d.Columns {
		switch {
		case found[c.Name] > 1:
			p.add(line, c.Name, fmt.Sprintf("stands %d times in the file, must be one column", found[c.Name]))
		case found[c.Name] == 0:
			p.add(line, c.Name, "is declared and not in the file"+nearest(c.Name, names, l))
		}
	}
	for i, at := range l {
		if at < 0 && extra != nil {
			p.add(line, "", extra(i))
		}
	}
}

// nearest finds the undeclared column of the file that looks most like name, and
// quotes it where nothing but the case of its letters differs.
func nearest(name string, names []string, l layout) string {
	best, closest := 1+len(name)/3, -1
	for i, n := range names {
		if l[i] >= 0 {
			continue
		}
		if strings.EqualFold(n, name) {
			return fmt.Sprintf("; did you mean %q?", n)
		}
		if d := levenshtein.ComputeDistance(n, name); d <= best && d < len(name) {
			best, closest = d-1, i
		}
	}
	if closest < 0 {
		return ""
	}
	return fmt.Sprintf("; is column %d of the file meant?", closest+1)
}

// delimiters that real files use, in the order in which they are tried.
var delimiters = [...]byte{',', ';', '\t', '|', ':', ' '}

// suggest finds a delimiter that cuts the first record into want values, or more where further columns are ignored.
func suggest(d *dialect, record []byte, want int) (c byte, cut int) {
	for _, c := range delimiters {
		if c == d.delim || c == d.quote {
			continue
		}
		other := *d
		other.delim = c
		if values, _, rule := firstRecord(&other, record); rule == "" &&
			(len(values) == want || d.ignoreExtra && len(values) > want) {
			return c, len(values)
		}
	}
	return 0, 0
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
