package spec

import (
	"fmt"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// ParseDomain reads the YAML of a domain. The error is of type Diagnostics.
func ParseDomain(file string, data []byte) (*domain.Domain, error) {
	d, problems := parseDomain(file, data)
	if len(problems) > 0 {
		return nil, diagnostics(problems)
	}
	return d, nil
}

func parseDomain(file string, data []byte) (*domain.Domain, []schema.Problem) {
	doc, problems := schema.Parse(file, data)
	if doc == nil {
		return nil, problems
	}
	if other := foreign(file, doc, "a domain", "columns"); other != nil {
		return nil, other
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return decodeDomain(doc, "")
}

func (p *parser) domain(subject *Dataset) *domain.Domain {
	const path = "dataset.domain"
	if len(p.doc.Keys(path)) > 0 {
		d, problems := p.known.domain("inline "+p.doc.Fingerprint(path), func() (*domain.Domain, []schema.Problem) {
			return decodeDomain(p.doc, path)
		})
		p.add(problems...)
		return d
	}
	name := p.doc.Text(path)
	switch {
	case p.doc.Has(path):
	case subject.Declared.Domain != nil:
		return subject.Declared.Domain
	case p.wrong(path, schema.Path("dataset", subject.Declared.Kind)):
		return nil
	}
	if name == "" || p.src.Read == nil {
		p.problemAt(path, "", "the file of a domain, or the domain itself: {columns: [...]}", "")
		return nil
	}
	data, err := p.src.Read(name)
	if err != nil {
		p.problemAt(path, "", "a readable file", err.Error())
		return nil
	}
	d, problems := p.known.domain("file "+string(data), func() (*domain.Domain, []schema.Problem) {
		return parseDomain(name, data)
	})
	p.add(problems...)
	return d
}

func decodeDomain(doc *schema.Document, path string) (*domain.Domain, []schema.Problem) {
	d := &domain.Domain{}
	problems := readDates(doc, path)
	if problems = append(problems, doc.Decode(path, d)...); len(problems) > 0 {
		return nil, problems
	}
	d.Complete()
	if problems := placed(doc, path, domain.Check(d, domain.Declared)); len(problems) > 0 {
		return nil, problems
	}
	return d, nil
}

// placed returns the problems of the domain at a path of a document, with their lines.
func placed(doc *schema.Document, path string, found schema.Problems) (problems []schema.Problem) {
	for _, f := range found {
		if path != "" {
			f.Path = path + "." + f.Path
		}
		p := doc.Problem(f.Path, f.Accepted, "")
		p.Found = f.Found
		problems = append(problems, p)
	}
	return problems
}

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
	doc.Replace(path, x) // what is not a word is told once
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

// totals: a public row count is the count of every public total.
func (p *parser) totals(d *Dataset) {
	if d.Columns() == nil || d.RowsPublic == 0 || p.wrong("dataset.rows_public") {
		return
	}
	rules, _ := domain.ReadRules(d.Columns())
	for i := range rules {
		if rows := rules[i].Rows(); rows > 0 && rows != d.RowsPublic {
			p.problemAt("dataset.rows_public", "", fmt.Sprintf("%d, the sum of constraints[%d].total of the domain", rows,
				rules[i].Place), "")
			return
		}
	}
}
