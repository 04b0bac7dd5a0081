package domain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/schema"
)

// reader reads values as a spec spells them.
type reader struct {
	d      *Domain
	ps     *schema.Problems
	strict bool // values that the column never has are problems
	codes  map[int]map[string]int
}

// code returns the place of a category of a column; -1 where it has none of that name.
func (r reader) code(pos int, text string) int {
	if r.codes[pos] == nil {
		r.codes[pos] = map[string]int{}
		for i, name := range r.d.Columns[pos].Categories {
			r.codes[pos][name] = i
		}
	}
	if code, ok := r.codes[pos][text]; ok {
		return code
	}
	return -1
}

// column returns the place of a named column whose values a rule can be about; -1 and a
// problem where there is none.
func (r reader) column(path, name string) int {
	pos := r.d.Index(name)
	switch {
	case pos < 0:
		r.ps.Unknown(path, "column of the domain", name, r.d.Names())
	case r.d.Columns[pos].Type == Text || r.d.Columns[pos].Encoding != nil:
		r.ps.Add(path, name+", which is text or encoded", "a column of categories, numbers or dates")
		return -1
	}
	return pos
}

// values returns what a choice stands for. path is the path of the choice.
func (r reader) values(path string, pos int, choice Choice) Values {
	var s Values
	if len(choice) == 0 {
		r.ps.Add(path, "empty", "at least one value")
	}
	for i, text := range choice {
		where := path
		if len(choice) > 1 {
			where = fmt.Sprintf("%s[%d]", path, i)
		}
		one, ok := r.value(where, pos, text)
		if !ok {
			continue
		}
		if slices.ContainsFunc(one.Ranges, func(p Range) bool { return overlap(s.Ranges, p) }) || one.Missing && s.Missing {
			r.ps.Add(where, fmt.Sprintf("%q, listed twice", text), "listed once")
		}
		s.Ranges, s.Missing = append(s.Ranges, one.Ranges...), s.Missing || one.Missing
	}
	slices.SortFunc(s.Ranges, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	return s
}

func overlap(list []Range, p Range) bool {
	return slices.ContainsFunc(list, func(q Range) bool { return q.Lo <= p.Hi && p.Lo <= q.Hi })
}

// value reads one spelling.
func (r reader) value(path string, at int, text string) (Values, bool) {
	c := &r.d.Columns[at]
	if code := r.code(at, text); code >= 0 {
		return Values{Ranges: []Range{{float64(code), float64(code)}}}, true
	}
	if c.SpellsMissing(text) {
		if !c.Nullable && r.strict {
			r.ps.Add(path, "missing, which "+c.Name+" is never", "a value of the column, or missing where it is nullable")
		}
		return Values{Missing: true}, true
	}
	if c.Type.Coded() {
		r.ps.Unknown(path, "category of "+c.Name, text, c.Categories)
		return Values{}, false
	}
	return r.number(path, c, text)
}

// number reads a number or a range inside the bounds of a column.
func (r reader) number(path string, c *Column, text string) (Values, bool) {
	all := AllValues(c).Ranges[0]
	p, ok := parseRange(c, text)
	switch {
	case !ok:
		r.ps.Add(path, fmt.Sprintf("%q", text), rangeForm(c)+", or missing, since "+c.Name+" is of type "+string(c.Type)+
			ofFiles(c))
		return Values{}, false
	case !(p.Lo <= p.Hi):
		r.ps.Add(path, fmt.Sprintf("%q", text), "LEAST..GREATEST, the least not above the greatest")
		return Values{}, false
	case !r.strict:
	case p.Hi < all.Lo || p.Lo > all.Hi:
		r.ps.Add(path, fmt.Sprintf("%q, outside the bounds", text), fmt.Sprintf("inside the bounds [%s, %s] of %s%s",
			c.Show(all.Lo), c.Show(all.Hi), c.Name, ofFiles(c)))
		return Values{}, false
	case gridOf(c).ceil(max(p.Lo, all.Lo)) > p.Hi:
		r.ps.Add(path, fmt.Sprintf("%q, which holds no value of %s", text, c.Name),
			fmt.Sprintf("a multiple of its step %g, counted from its lower bound", gridOf(c).step))
		return Values{}, false
	}
	return Values{Ranges: []Range{p}}, true
}

// ofFiles says, of a column with a format, that rules and conditions do not have it.
func ofFiles(c *Column) string {
	if c.Format == "" {
		return ""
	}
	return fmt.Sprintf(", spelled so although files spell it by the format %q", c.Format)
}

func rangeForm(c *Column) string {
	switch c.Type {
	case Date:
		return "a date, a range such as 2019-01-01..2019-12-31, ..2019-12-31 or 2019-01-01.., .. for any"
	case Datetime:
		return "a date-time, a range such as 2019-01-01T00:00..2019-12-31T23:59, ..2019-12-31T23:59 or 2019-01-01T00:00.., " +
			".. for any"
	case Time:
		return "a time, a range such as 08:00..17:59, ..17:59 or 08:00.., .. for any"
	}
	return "a number, a range such as 0..17, ..17 or 18.., .. for any"
}

// parseRange reads a number, a date or a time, or a range whose ends may be open: .. is every value but missing.
func parseRange(c *Column, text string) (Range, bool) {
	least, greatest, ranged := strings.Cut(text, "..")
	if !ranged {
		v, ok := parseNumber(c, text, 0)
		return Range{v, v}, ok && text != ""
	}
	lo, ok1 := parseNumber(c, least, -math.MaxFloat64)
	hi, ok2 := parseNumber(c, greatest, math.MaxFloat64)
	return Range{lo, hi}, ok1 && ok2
}

func parseNumber(c *Column, text string, open float64) (float64, bool) {
	text = strings.TrimSpace(text)
	if text == "" {
		return open, true
	}
	if c.Type.Calendar() {
		if at, ok := c.ReadValue(text); ok {
			return at, true
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// joinPath returns the path of a key below another path, as the document spells it.
func joinPath(path, key string) string { return path + "." + schema.Path(key) }
