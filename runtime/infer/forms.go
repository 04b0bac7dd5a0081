package infer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"weir/pipeline/domain"
)

// forms are the ways in which all cells of a column so far may be spelled that are neither plain numbers nor ISO dates.
// A form is drafted where the cells leave one alone; which of day and month comes first is never guessed.
type forms struct {
	begun   bool
	numbers []*numberCandidate
	days    []*dayCandidate
	moments []*momentCandidate
}

// numberCandidate is a form of numbers that no cell contradicts.
type numberCandidate struct {
	domain.NumberForm
	grouped bool // a cell has the mark of thousands
	split   bool // a cell has the decimal mark
	span    span
}

// dayCandidate is an order of day, month and year that no cell contradicts.
type dayCandidate struct {
	order  []string // of YYYY, M and D
	mark   string
	padded bool // no cell has a day or month of one digit
	span   span
}

// see drops the forms that a cell does not have.
func (f *forms) see(cell string) {
	if !f.begun {
		f.begun = true
		f.numbers, f.days, f.moments = numberCandidates(cell), dayCandidates(cell), momentCandidates(cell)
	}
	f.numbers = slices.DeleteFunc(f.numbers, func(c *numberCandidate) bool { return !c.see(cell) })
	f.days = slices.DeleteFunc(f.days, func(c *dayCandidate) bool { return !c.see(cell) })
	f.moments = slices.DeleteFunc(f.moments, func(c *momentCandidate) bool { return !c.see(cell) })
}

// numberCandidates begins with what stands around the first cell of a column.
func numberCandidates(cell string) (list []*numberCandidate) {
	first := strings.IndexFunc(cell, unicode.IsDigit)
	if first < 0 {
		return nil
	}
	last := strings.LastIndexFunc(cell, unicode.IsDigit)
	prefix, suffix := strings.TrimPrefix(cell[:first], "-"), cell[last+1:]
	if !unit(strings.TrimSpace(prefix), true) || !unit(suffix, false) {
		return nil
	}
	for _, marks := range [][2]string{{"", ","}, {".", ","}, {" ", ","}, {"\u00a0", ","}, {"\u202f", ","}, {"", "."},
		{",", "."}, {"'", "."}, {" ", "."}} {
		list = append(list, &numberCandidate{NumberForm: domain.NumberForm{Prefix: prefix, Suffix: suffix,
			Thousands: marks[0], Decimal: marks[1]}, span: newSpan()})
	}
	return list
}

// unit reports whether a text around a number is none of a name's: P001 is not a number of the unit P.
func unit(text string, before bool) bool {
	switch word := strings.TrimSpace(text); {
	case text == "", word == "%", word == "‰", strings.ContainsFunc(word,
		func(r rune) bool { return unicode.Is(unicode.Sc, r) }):
		return true
	case before:
		return slices.Contains([]string{"EUR", "USD", "CHF", "GBP"}, word)
	default:
		return strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\u00a0")
	}
}

func (c *numberCandidate) see(cell string) bool {
	plain, ok := c.AppendDecimal(nil, []byte(cell))
	if !ok {
		return false
	}
	c.grouped = c.grouped || c.Thousands != "" && strings.Contains(c.bare(cell), c.Thousands)
	c.split = c.split || strings.Contains(string(plain), ".")
	c.span.see(string(plain))
	return true
}

// bare returns a cell without what stands around its number, where a blank is not a mark of thousands.
func (c *numberCandidate) bare(cell string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(cell, "-"), c.Prefix), c.Suffix)
}

// shown reports whether the cells show all marks of a form: a form of which they do not is another one's.
func (c *numberCandidate) shown() bool {
	return (c.Thousands == "" || c.grouped) && (c.Decimal == "." || c.split || c.grouped)
}

// format writes the example that stands for a form.
func (c *numberCandidate) format() string {
	example := "1"
	if c.grouped {
		example += c.Thousands + "234"
	}
	if c.split {
		example += c.Decimal + "5"
	}
	return c.Prefix + example + c.Suffix
}

// number returns the form of the column's numbers, nil where cells have none or leave several.
func (f *forms) number() *numberCandidate {
	var shown []*numberCandidate
	for _, c := range f.numbers {
		if c.shown() && !slices.ContainsFunc(shown, func(s *numberCandidate) bool { return s.format() == c.format() }) {
			shown = append(shown, c)
		}
	}
	if len(shown) != 1 {
		return nil
	}
	return shown[0]
}

// dayCandidates begins with the marks of the first cell of a column.
func dayCandidates(cell string) (list []*dayCandidate) {
	m := regexp.MustCompile(`^\d{1,4}([./-])\d{1,2}([./-])\d{1,4}$`).FindStringSubmatch(cell)
	if m == nil || m[1] != m[2] {
		return nil
	}
	for _, order := range [][]string{{"D", "M", "YYYY"}, {"M", "D", "YYYY"}, {"YYYY", "M", "D"}} {
		list = append(list, &dayCandidate{order: order, mark: m[1], padded: true, span: newSpan()})
	}
	return list
}

func (c *dayCandidate) see(cell string) bool {
	form, _ := domain.ReadDayForm(strings.Join(c.order, c.mark))
	day, ok := form.Parse(cell)
	if !ok {
		return false
	}
	for i, part := range strings.Split(cell, c.mark) {
		c.padded = c.padded && (c.order[i] == "YYYY" || len(part) == 2)
	}
	c.span.least, c.span.most = math.Min(c.span.least, float64(day)), math.Max(c.span.most, float64(day))
	return true
}

// format writes the form.
func (c *dayCandidate) format() string {
	form := strings.Join(c.order, c.mark)
	if c.padded {
		form = strings.NewReplacer("M", "MM", "D", "DD").Replace(form)
	}
	return form
}

// unclear says what a person has to declare where the cells leave several forms; "" where they do not.
func (f *forms) unclear() string {
	var names []string
	for _, c := range f.days {
		names = append(names, "type: date, format: "+c.format())
	}
	for _, c := range f.moments {
		names = append(names, c.name())
	}
	for _, c := range f.numbers {
		if c.shown() {
			names = append(names, fmt.Sprintf("type: numeric, format: %q", c.format()))
		}
	}
	if len(names) < 2 {
		return ""
	}
	return " # no cell tells which of these it is: " + strings.Join(slices.Compact(names), ", or ")
}
