package spec

import (
	"fmt"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// readDates puts numbers in place of words in a domain: days since 1970-01-01 and seconds of the dates and times among
// bounds, seconds of the steps of times. It returns a problem for each other text there.
func readDates(doc *schema.Document, path string) (problems []schema.Problem) {
	list := "columns"
	if path != "" {
		list = path + ".columns"
	}
	for i := 0; doc.Has(fmt.Sprintf("%s[%d]", list, i)); i++ {
		path := fmt.Sprintf("%s[%d]", list, i)
		c := domain.Column{Type: domain.ColumnType(doc.Text(path + ".type")), Zone: doc.Text(path + ".zone")}
		for k := range 2 {
			problems = append(problems, inPlace(doc, fmt.Sprintf("%s.bounds[%d]", path, k), c.ReadValue, bound(c.Type))...)
		}
		problems = append(problems, inPlace(doc, path+".step", stepOf(c.Type), step(c.Type))...)
	}
	return problems
}

// inPlace puts what a word stands for in its place, and tells of a text that is neither a number nor a word.
func inPlace(doc *schema.Document, path string, read func(text string) (float64, bool),
	accepted string) []schema.Problem {
	text := doc.Text(path)
	if _, err := strconv.ParseFloat(text, 64); text == "" || err == nil {
		return nil
	}
	x, ok := read(text)
	var problems []schema.Problem
	if !ok {
		x, problems = 0, []schema.Problem{doc.Problem(path, accepted, "")}
	}
	doc.Replace(path, x) // what is no word is told once
	return problems
}

// bound says what is accepted as a bound of a type.
func bound(t domain.ColumnType) string {
	switch t {
	case domain.Date:
		return "a date, as 2019-04-30"
	case domain.Datetime:
		return "a date-time, as 2019-04-30T08:00"
	case domain.Time:
		return "a time, as 08:00"
	}
	return "a number"
}

// step says what is accepted as a step of a type.
func step(t domain.ColumnType) string {
	if t.Moment() {
		return "second, minute, hour or day, or a number of seconds that divides a day"
	}
	return "a number of at least 0"
}

// stepOf reads the word of a step.
func stepOf(t domain.ColumnType) func(text string) (float64, bool) {
	return func(text string) (float64, bool) {
		seconds, ok := domain.Steps()[text]
		return seconds, ok && t.Moment()
	}
}
