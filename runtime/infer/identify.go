package infer

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"weir/pipeline/domain"
)

// Why columns are left out of what models see. Each is a proposal, which a person signs or takes back.
const (
	whyLong = "whole numbers of more than 12 digits, which look like ids: of one person's rows it is " +
		"dataset.privacy_unit.column, and no model needs it (kind drop); of a quantity, such as a time in milliseconds: " +
		"type integer, with public bounds"
	whyNumber = "by its name the number of a person or a case: left out of models; of codes that many rows share: " +
		"type categorical"
	whyName = "by its name names of persons, which are never public categories: left out; of places or products: " +
		"type categorical, with a public list or categories: private"
	whyContact = "by its name how persons are reached: left out"
	whyOwn     = "no two of the rows looked at have the same value, as in a key of rows: left out; of a quantity: type " +
		"integer, with public bounds"
	whyUnits = "; values repeat, so it may say whose a row is: weir init --unit %s --max-rows N"
	whyFew   = "; no value comes twice, in too few rows to tell: where a person may have several, weir init --unit %s " +
		"--max-rows N"
)

// named says by the name of a column why it is left out. Few codes that many rows share are none of persons, whatever
// they are called, but names are always.
func (p *profile) named() bool {
	shared := !p.many && len(p.distinct) <= maxCodes && p.cells >= 10*int64(len(p.distinct))
	switch kind := domain.IdentifierOf(p.name); {
	case kind == domain.IDNumber && !shared && !p.dates && (!p.numbers.all || p.numbers.whole):
		p.reason = whyNumber
	case kind == domain.PersonName && !p.numbers.all && !p.dates:
		p.reason = whyName
	case kind == domain.Contact && !p.dates && (!p.numbers.all || p.numbers.whole && p.many):
		p.reason = whyContact
	}
	return p.reason != ""
}

// leaveOut declares a column that no model learns: text, or the type of whole numbers that the file stores, without
// bounds.
func (p *profile) leaveOut(c *domain.Column) {
	c.Type = domain.Text
	if p.stored.Type == domain.Integer || p.stored.Type == domain.Numeric {
		c.Type = p.stored.Type
	}
	c.Bounds, c.Categories, c.Aliases, c.Step, c.Format = nil, nil, nil, 0, ""
}

// truth declares a boolean whose cells are words, such as True and False, in one spelling each.
func (p *profile) truth(c *domain.Column) bool {
	if p.many || len(p.distinct) != 2 {
		return false
	}
	values := p.values()
	slices.SortFunc(values, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	if strings.ToLower(values[0]) != "false" || strings.ToLower(values[1]) != "true" {
		return false
	}
	c.Type, c.Categories = domain.Boolean, values
	return true
}

// identify says of columns, once rows have been seen, which look like keys and which may say whose a row is.
func (f *finding) identify() {
	for i, p := range f.profiles {
		c := &f.columns[i]
		sorted := f.sample.present(i)
		isOwn := len(sorted) >= leastOwn && distinct(sorted) == len(sorted)
		switch {
		case p.reason == whyNumber && !isOwn && len(sorted) > 0:
			if distinct(sorted) == len(sorted) {
				p.reason += fmt.Sprintf(whyFew, shellWord(c.Name))
				continue
			}
			p.reason += fmt.Sprintf(whyUnits, shellWord(c.Name))
			f.units = append(f.units, i)
		case p.reason == "" && isOwn && (c.Type == domain.Text || c.Type == domain.Integer && dense(sorted, f.sample.stride)):
			p.reason = whyOwn
			p.leaveOut(c)
		}
	}
}

// shellWord returns the name of a column as a person types it in a shell; a name that no line can hold has a word that
// stands for it.
func shellWord(name string) string {
	switch {
	case regexp.MustCompile(`^[\pL\pN_][\pL\pN_.-]*$`).MatchString(name):
		return name
	case strings.ContainsFunc(name, unicode.IsControl):
		return "COLUMN"
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// leastOwn is the fewest values of which it says something that none comes twice.
const leastOwn = 30

// dense reports whether ascending whole numbers are about as many as their range has: numbers of rows, not amounts.
func dense(sorted []float64, stride int64) bool {
	return sorted[len(sorted)-1]-sorted[0] < 2*float64(stride)*float64(len(sorted))
}

// oddities are spellings of a column that look like no number and no date beside those that do, such as k. A. and <0.5.
type oddities struct {
	plain   int64
	spelled []string // at most maxOdd
	more    bool
}

// maxOdd is the most spellings that are taken for missing among numbers.
const maxOdd = 4

func (o *oddities) see(cell []byte) {
	switch text := string(cell); {
	case bytes.ContainsAny(cell, "0123456789") && !domain.IsLimit(text):
		o.plain++
	case slices.Contains(o.spelled, text):
	case len(o.spelled) == maxOdd || len(cell) > 40:
		o.more = true
	default:
		o.spelled = append(o.spelled, text)
	}
}

// unnamed returns what may be spellings of missing that nobody has named: a few among many numbers or dates.
func (p *profile) unnamed() []string {
	if p.odd.more || p.odd.plain < 8 || int64(len(p.odd.spelled))*4 > p.odd.plain {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.odd.spelled),
		func(text string) bool { return p.missing[text] > 0 || !p.distinct[text] && !p.many })
}

// fullNames reports whether at least half of a list are written as full names are in registers: Surname, Given.
func fullNames(values []string) bool {
	form := regexp.MustCompile(`^\p{Lu}[\p{L}'’ -]+, \p{Lu}[\p{L}'’. -]+$`)
	n := 0
	for _, v := range values {
		if form.MatchString(v) {
			n++
		}
	}
	return 2*n >= len(values)
}
