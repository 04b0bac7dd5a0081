package domain

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"weir/internal/plaintext"
)

// NumberForm is how a file spells the numbers of a column.
type NumberForm struct {
	Prefix, Suffix string // such as a currency or a percent sign; a cell may lack them
	Thousands      string // between groups of three digits; "" where digits are not grouped
	Decimal        string // between whole and part; "" where numbers are whole
}

// numberExample splits an example such as "€ 1.234,5": what stands before and behind, and the marks between 1 and
// 234 and between whole and part.
func numberExample() *regexp.Regexp {
	return regexp.MustCompile(`^([^0-9+\-]*?)1(?:([., '_\x{a0}\x{202f}])?234)?(?:([.,])5)?([^0-9+\-]*)$`)
}

// ReadNumberForm reads the example of a form: 1234.5 or 1.5 with other marks, and with what may stand before and behind
// it. ok is false where it is none, or uses one mark for two things.
func ReadNumberForm(example string) (f NumberForm, ok bool) {
	m := numberExample().FindStringSubmatch(example)
	if m == nil || m[2] == m[3] && m[2] != "" || !affix(m[1]) || endsInLetters(m[1]) || !affix(m[4]) {
		return NumberForm{}, false
	}
	return NumberForm{Prefix: m[1], Thousands: m[2], Decimal: m[3], Suffix: m[4]}, true
}

// affix reports whether a text may stand before or behind a number: a unit, a currency or a percent sign.
func affix(text string) bool {
	return utf8.RuneCountInString(text) <= 16 && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("%‰°/"+blanks, r)
	})
}

// endsInLetters reports whether letters stand right before the digits, as in the name of a cell: -A4 is a formula to a
// spreadsheet.
func endsInLetters(prefix string) bool {
	last, _ := utf8.DecodeLastRuneInString(prefix)
	return unicode.IsLetter(last)
}

// blanks are the spaces that stand in numbers: plain, no-break, and the narrow no-break one.
const blanks = " \u00a0\u202f"

// AppendDecimal appends a cell as a decimal number, -1234.5, and reports whether the cell has the form. It may lack
// prefix, suffix and the marks of thousands; where it has one, all groups have three digits.
func (f NumberForm) AppendDecimal(b, cell []byte) ([]byte, bool) {
	cell, before := bare(cell)
	cell, middle := bare(bytes.TrimPrefix(cell, []byte(strings.Trim(f.Prefix, blanks))))
	cell = bytes.TrimRight(bytes.TrimSuffix(cell, []byte(strings.Trim(f.Suffix, blanks))), blanks)
	if before || middle {
		b = append(b, '-')
	}
	whole, part, split := cell, []byte(nil), false
	if f.Decimal != "" {
		whole, part, split = bytes.Cut(cell, []byte(f.Decimal))
	}
	b, ok := f.ungrouped(b, whole)
	if split {
		b = append(append(b, '.'), part...)
	}
	return b, ok && digitsOnly(part) && (len(part) > 0 || !split) && !(before && middle)
}

// bare drops blanks around a cell and a sign before it.
func bare(cell []byte) (rest []byte, minus bool) {
	rest, minus = bytes.CutPrefix(bytes.Trim(cell, blanks), []byte{'-'})
	return bytes.TrimLeft(rest, blanks), minus
}

// ungrouped appends the digits before the decimal mark.
func (f NumberForm) ungrouped(b, whole []byte) ([]byte, bool) {
	if f.Thousands == "" || !bytes.Contains(whole, []byte(f.Thousands)) {
		return append(b, whole...), len(whole) > 0 && digitsOnly(whole)
	}
	ok := true
	for i, group := range bytes.Split(whole, []byte(f.Thousands)) {
		ok = ok && digitsOnly(group) && (len(group) == 3 || i == 0 && len(group) > 0 && len(group) < 3)
		b = append(b, group...)
	}
	return b, ok
}

func digitsOnly(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < '0' || c > '9' })
}

// Append appends a decimal number without an exponent, such as -1234.5, in the form.
func (f NumberForm) Append(b, plain []byte) []byte {
	if rest, minus := bytes.CutPrefix(plain, []byte{'-'}); minus {
		b, plain = append(b, '-'), rest
	}
	whole, part, split := bytes.Cut(plain, []byte{'.'})
	b = append(b, f.Prefix...)
	for i, digit := range whole {
		if left := len(whole) - i; i > 0 && left%3 == 0 {
			b = append(b, f.Thousands...)
		}
		b = append(b, digit)
	}
	if split {
		b = append(append(b, f.Decimal...), part...)
	}
	return append(b, f.Suffix...)
}

// DayForm is how a file spells dates: a layout of package time.
type DayForm string

// ISODay is the form of a column that declares none.
const ISODay DayForm = time.DateOnly

// ReadDayForm reads a form such as DD.MM.YYYY or M/D/YYYY: YYYY, MM or M, and DD or D, each once, with other characters
// between them. M and D, which are one digit or two, need one on each side. An underscore does not stand before D: a
// layout of package time takes the two for a day behind a blank.
func ReadDayForm(form string) (DayForm, bool) {
	m := regexp.MustCompile(`^(YYYY|MM?|DD?)([^0-9A-Za-z]?)(YYYY|MM?|DD?)([^0-9A-Za-z]?)(YYYY|MM?|DD?)$`).
		FindStringSubmatch(form)
	if m == nil || m[1][0] == m[3][0] || m[3][0] == m[5][0] || m[1][0] == m[5][0] {
		return "", false
	}
	if (m[2] == "" || m[4] == "") && len(m[1]+m[3]+m[5]) < len("YYYYMMDD") {
		return "", false // one digit or two cannot be told
	}
	if m[2]+m[3] == "_D" || m[4]+m[5] == "_D" || !plaintext.Printable(form) {
		return "", false
	}
	return DayForm(strings.NewReplacer("YYYY", "2006", "MM", "01", "M", "1", "DD", "02", "D", "2").Replace(form)), true
}

// Parse reads a date as days since 1970-01-01.
func (f DayForm) Parse(text string) (day int64, ok bool) {
	t, err := time.Parse(string(f), text)
	if err != nil {
		return 0, false
	}
	return floorDay(t.Unix()), true
}

// Append appends the date of a day; ok is false outside years 0 to 9999.
func (f DayForm) Append(b []byte, day int64) (out []byte, ok bool) {
	if day < FirstDay || day > LastDay {
		return b, false
	}
	return time.Unix(day*secondsOfDay, 0).UTC().AppendFormat(b, string(f)), true
}

const secondsOfDay = 24 * 60 * 60

func floorDay(seconds int64) int64 { return int64(math.Floor(float64(seconds) / secondsOfDay)) }

// NumberForm returns the form of the column's numbers; ok is false where it declares none, and cells are decimal
// numbers.
func (c *Column) NumberForm() (f NumberForm, ok bool) {
	if c.Format == "" || c.Type != Numeric && c.Type != Integer {
		return NumberForm{}, false
	}
	return ReadNumberForm(c.Format)
}

// DayForm returns the form of the column's dates.
func (c *Column) DayForm() DayForm {
	if form, ok := ReadDayForm(c.Format); ok && c.Type == Date {
		return form
	}
	return ISODay
}

// format refuses a form that does not fit the column.
func (c *checker) format(path string, col *Column) {
	switch found := c.quote(col.Format); {
	case col.Format == "":
	case col.Type == Date:
		if _, ok := ReadDayForm(col.Format); !ok {
			c.problems.Add(path, found, "a form of dates such as DD.MM.YYYY, M/D/YYYY or YYYYMMDD")
		}
	case col.Type.Moment():
		c.momentForm(path, col, found)
	case col.Type == Numeric || col.Type == Integer:
		c.numberForm(path, col, found)
	default:
		c.problems.Add(path, "given for type "+string(col.Type),
			"left out, or the type numeric, integer, date, datetime or time")
	}
}

// momentForm refuses a form of the other type, one that is coarser than the step, and one with an offset from UTC in a
// column without a zone.
func (c *checker) momentForm(path string, col *Column, found string) {
	f, ok := ReadMomentForm(col.Format)
	switch {
	case !ok || f.OfDay() != (col.Type == Time):
		accepted := "a form of date-times such as DD.MM.YYYY HH:mm, M/D/YYYY h:mm AM or YYYY-MM-DDTHH:mm:ss"
		if col.Type == Time {
			accepted = "a form of times of day such as HH:mm, HH:mm:ss or h:mm AM"
		}
		c.problems.Add(path, found, accepted)
	case !f.has('s') && col.finer(60):
		c.problems.Add(path, found+", without seconds, for a step of "+fmt.Sprint(col.Step),
			"a form with ss, or the step minute")
	case f.Zoned() && col.Zone == "":
		c.problems.Add(path, found+", with an offset from UTC, in a column without a zone", "zone: UTC, or a form without Z")
	}
}

func (c *checker) numberForm(path string, col *Column, found string) {
	f, ok := ReadNumberForm(col.Format)
	switch {
	case !ok:
		c.problems.Add(path, found, "the number 1234.5 or 1.5 as the file spells it, such as 1.234,5 or 1,5 or $1,234.5 or "+
			"1,5 %, with a unit of letters, %, ° or a currency")
	case f.Decimal == "" && col.Type == Numeric && !(col.Step >= 1 && col.Step == math.Trunc(col.Step)):
		c.problems.Add(path, found+", a form of whole numbers, for type numeric",
			fmt.Sprintf("a form with decimals, such as %s, or a whole step", "1234,5"))
	}
}
