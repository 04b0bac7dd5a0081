package infer

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/domain"
)

// momentCandidate is an order of day, month and year, or a clock alone, that no cell contradicts.
type momentCandidate struct {
	column   domain.Column   // type and zone
	variants []variant       // the strictest first; those that a cell does not have are gone
	cells    map[int64]int64 // by the seconds of the coarsest step that they have
	span     span
}

// variant is a form with or without leading zeros; "" is ISO 8601 with or without seconds.
type variant struct {
	text string
	form domain.MomentForm
}

// momentCandidates begins with the marks of the first cell of a column.
func momentCandidates(cell string) (list []*momentCandidate) {
	m := regexp.MustCompile(
		`^(?:\d{1,4}([./-])\d{1,2}([./-])\d{1,4}(T|, | ))?\d{1,2}:\d{2}(:\d{2}(?:[.,]\d+)?)?(?:( ?)([AaPp][Mm]))?(Z|[+-]\d{2}:?\d{0,2})?$`).FindStringSubmatch(cell)
	if m == nil || m[1] != m[2] || m[1] == "" && m[7] != "" {
		return nil
	}
	orders := [][]string{nil}
	if m[1] != "" {
		orders = [][]string{{"D", "M", "YYYY"}, {"M", "D", "YYYY"}, {"YYYY", "M", "D"}}
	}
	for _, order := range orders {
		if c := newMomentCandidate(order, m); len(c.variants) > 0 {
			list = append(list, c)
		}
	}
	return list
}

// newMomentCandidate has the forms of one order with what stands between and behind the numbers of a first cell.
func newMomentCandidate(order, marks []string) *momentCandidate {
	c := &momentCandidate{column: domain.Column{Type: domain.Time, Step: 1}, cells: map[int64]int64{}, span: newSpan()}
	if order != nil {
		c.column.Type = domain.Datetime
	}
	if marks[7] != "" {
		c.column.Zone = "UTC"
	}
	for _, day := range []string{strings.NewReplacer("M", "MM", "D", "DD").Replace(strings.Join(order, marks[1])),
		strings.Join(order, marks[1])} {
		for _, hour := range []string{"HH", "H"} {
			c.offer(day + marks[3] + clock(hour, marks))
		}
	}
	if order == nil || order[0] == "YYYY" {
		c.variants = append(c.variants, variant{"", c.column.ReadsMoments()})
	}
	return c
}

// clock returns the form of a time of day.
func clock(hour string, marks []string) string {
	form := ":mm"
	if marks[4] != "" {
		form += ":ss"
	}
	if marks[6] != "" {
		hour, form = strings.ToLower(hour), form+marks[5]+"AM"
		if marks[6] == strings.ToLower(marks[6]) {
			form = strings.TrimSuffix(form, "AM") + "am"
		}
	}
	if marks[7] != "" {
		form += "Z"
	}
	return hour + form
}

// offer adds a form that is one, once.
func (c *momentCandidate) offer(text string) {
	form, ok := domain.ReadMomentForm(text)
	if ok && !slices.ContainsFunc(c.variants, func(v variant) bool { return v.text == text }) {
		c.variants = append(c.variants, variant{text, form})
	}
}

func (c *momentCandidate) see(cell string) bool {
	pos, ok := int64(0), false
	c.variants = slices.DeleteFunc(c.variants, func(v variant) bool {
		seconds, matches := v.form.Parse([]byte(cell))
		if matches {
			pos, ok = seconds, true
		}
		return !matches
	})
	for _, step := range c.steps() {
		if pos%step == 0 {
			c.cells[step]++
			break
		}
	}
	c.span.least, c.span.most = min(c.span.least, float64(pos)), max(c.span.most, float64(pos))
	return ok
}

// steps returns the seconds of a day, an hour, a minute and a second; times of day have no day.
func (c *momentCandidate) steps() []int64 {
	if c.column.Type == domain.Time {
		return []int64{3600, 60, 1}
	}
	return []int64{86400, 3600, 60, 1}
}

// usual returns the coarsest step that 99 % of the cells have, and whether all have it.
func (c *momentCandidate) usual() (step int64, all bool) {
	cells, count := int64(0), int64(0)
	for _, n := range c.cells {
		cells += n
	}
	for _, step = range c.steps() {
		if count += c.cells[step]; count*100 >= cells*99 {
			break
		}
	}
	return step, count == cells
}

// declare makes a column one of date-times or times of the strictest form that is left. Bounds of times of day are the
// whole day, which nobody has to read from a file.
func (c *momentCandidate) declare(dest *domain.Column) {
	step, _ := c.usual()
	dest.Type, dest.Zone, dest.Step, dest.Format = c.column.Type, c.column.Zone, float64(step), c.variants[0].text
	if dest.Format == dest.ISOForm() {
		dest.Format = ""
	}
	if dest.Type == domain.Time {
		dest.Bounds = &[2]float64{0, 86400 - dest.Step}
		return
	}
	for _, end := range []*float64{&c.span.least, &c.span.most} {
		*end = math.Floor(*end/dest.Step) * dest.Step // as cells between two steps are read
	}
	dest.Bounds = c.span.bounds(dest.Step)
	if dest.Bounds[1] > domain.LastSecond {
		dest.Bounds = &[2]float64{c.span.least - dest.Step, c.span.least}
	}
}

// name returns what a person would declare.
func (c *momentCandidate) name() string {
	return fmt.Sprintf("type: %s, format: %s", c.column.Type, plaintext.YAML(c.variants[0].text))
}

// stepWord returns the word for a step of date-times or times.
func stepWord(seconds float64) string {
	for word, of := range domain.Steps() {
		if of == seconds {
			return word
		}
	}
	return number(seconds)
}
