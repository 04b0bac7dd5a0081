package domain

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"weir/internal/plaintext"
)

// MomentForm is how a file spells the values of a column of type datetime or time.
type MomentForm struct {
	parts []momentPart
	iso   bool // read by ISO 8601: seconds may be left out, and a blank may stand for the T
}

// momentPart is a number of a spelling, AM or PM, an offset from UTC, or the mark between two of these.
type momentPart struct {
	unit   byte // Y, M, D, H (of 24), h (of 12), m, s, a (am or AM) or Z; 0 of a mark
	digits int  // 0 where one or two stand
	text   string
}

// ReadMomentForm reads a form such as DD.MM.YYYY HH:mm, M/D/YYYY h:mm AM, YYYY-MM-DDTHH:mm:ssZ or, of times of day,
// HH:mm. It has year, month and day, or none of them, and hour, minute and perhaps second in that order, each once; h
// needs AM or am, and Z, an offset from UTC of a date-time, is last. M, D, H and h, which are one digit or two, need a
// mark on each side.
func ReadMomentForm(form string) (MomentForm, bool) {
	var f MomentForm
	for _, m := range momentParts().FindAllString(form, -1) {
		f.parts = append(f.parts, partOf(m))
	}
	if !plaintext.Printable(form) || !f.sound() {
		return MomentForm{}, false
	}
	return f, true
}

func momentParts() *regexp.Regexp { return regexp.MustCompile(`YYYY|MM?|DD?|HH?|hh?|mm|ss|AM|am|Z|.`) }

func partOf(text string) momentPart {
	switch unit := text[0]; {
	case text == "YYYY", text == "MM", text == "DD", text == "HH", text == "hh", text == "mm", text == "ss":
		return momentPart{unit: unit, digits: len(text)}
	case text == "AM", text == "am":
		return momentPart{unit: 'a', text: text}
	case strings.Contains("MDHhZ", text):
		return momentPart{unit: unit, text: text}
	}
	return momentPart{text: text}
}

// sound reports whether what a form writes can be read back as the same value.
func (f MomentForm) sound() bool {
	var units strings.Builder
	for i, p := range f.parts {
		if p.unit != 0 {
			units.WriteByte(p.unit)
		} else if p.text != "T" && strings.ContainsAny(p.text, letters+"0123456789+") {
			return false
		}
		if p.short() && (i > 0 && f.parts[i-1].counted() || i+1 < len(f.parts) && f.parts[i+1].counted()) {
			return false
		}
	}
	list := units.String()
	day := strings.NewReplacer("Y", "", "M", "", "D", "").Replace(list)
	if dated := len(list) - len(day); dated != 0 && !(dated == 3 && f.has('Y') && f.has('M') && f.has('D')) {
		return false
	}
	return regexp.MustCompile(`^(Hms?|hms?a)Z?$`).MatchString(day) && (!f.has('Z') || strings.HasSuffix(list, "Z") &&
		f.has('Y'))
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func (p momentPart) counted() bool {
	return p.unit != 0 && strings.ContainsRune("YMDHhms", rune(p.unit))
}

func (p momentPart) short() bool { return p.counted() && p.digits == 0 }

func (f MomentForm) has(unit byte) bool {
	for _, p := range f.parts {
		if p.unit == unit {
			return true
		}
	}
	return false
}

// OfDay reports whether the form spells times of day, without a date.
func (f MomentForm) OfDay() bool { return !f.has('Y') }

// Zoned reports whether the form has an offset from UTC.
func (f MomentForm) Zoned() bool { return f.has('Z') }

// Parse reads a cell as seconds since 1970-01-01T00:00 or, of a form of times of day, since midnight. A fraction behind
// the seconds is dropped, and an offset from UTC taken off.
func (f MomentForm) Parse(cell []byte) (seconds int64, ok bool) {
	r := momentReader{rest: cell, month: 1, day: 1, year: 1970}
	for i, p := range f.parts {
		if f.iso && p.text == ":" && f.parts[i+1].unit == 's' && (len(r.rest) == 0 || r.rest[0] != ':') {
			r.second = -1 // left out
			continue
		}
		if !r.part(p, f.iso) {
			return 0, false
		}
	}
	return r.seconds()
}

// momentReader holds what is read of a cell so far.
type momentReader struct {
	rest                                   []byte
	year, month, day, hour, minute, second int
	noon                                   byte // a or p
	offset                                 int  // seconds east of UTC
}

func (r *momentReader) part(p momentPart, iso bool) (ok bool) {
	switch p.unit {
	case 0:
		ok = len(r.rest) >= len(p.text) && (string(r.rest[:len(p.text)]) == p.text || iso && p.text == "T" &&
			r.rest[0] == ' ')
		r.rest = r.rest[min(len(p.text), len(r.rest)):]
	case 'Y':
		r.year, ok = r.number(4)
	case 'M':
		r.month, ok = r.number(p.digits)
	case 'D':
		r.day, ok = r.number(p.digits)
	case 'H', 'h':
		r.hour, ok = r.number(p.digits)
		ok = ok && (p.unit == 'H' || r.hour >= 1 && r.hour <= 12)
	case 'm':
		r.minute, ok = r.number(2)
	case 's':
		if r.second < 0 {
			r.second, ok = 0, true
			return ok
		}
		r.second, ok = r.number(2)
		return ok && r.fraction()
	case 'a':
		ok = len(r.rest) >= 2 && (r.rest[0]|0x20 == 'a' || r.rest[0]|0x20 == 'p') && r.rest[1]|0x20 == 'm'
		if ok {
			r.noon, r.rest = r.rest[0]|0x20, r.rest[2:]
		}
	case 'Z':
		ok = r.zone()
	}
	return ok
}

// number reads as many digits, or one or two where that is 0.
func (r *momentReader) number(digits int) (n int, ok bool) {
	most := digits
	if digits == 0 {
		most = 2
	}
	pos := 0
	for pos < most && pos < len(r.rest) && r.rest[pos] >= '0' && r.rest[pos] <= '9' {
		n = n*10 + int(r.rest[pos]-'0')
		pos++
	}
	r.rest = r.rest[pos:]
	return n, pos > 0 && (digits == 0 || pos == digits)
}

// fraction drops the part of a second.
func (r *momentReader) fraction() bool {
	if len(r.rest) == 0 || r.rest[0] != '.' && r.rest[0] != ',' || len(r.rest) > 1 &&
		(r.rest[1] < '0' || r.rest[1] > '9') {
		return true
	}
	r.rest = r.rest[1:]
	pos := 0
	for pos < len(r.rest) && r.rest[pos] >= '0' && r.rest[pos] <= '9' {
		pos++
	}
	r.rest = r.rest[pos:]
	return pos > 0
}

// zone reads Z or an offset such as +02:00, +0200 or +02.
func (r *momentReader) zone() bool {
	if len(r.rest) == 0 {
		return false
	}
	sign := r.rest[0]
	r.rest = r.rest[1:]
	if sign == 'Z' {
		return true
	}
	hours, ok := r.number(2)
	if len(r.rest) > 0 && r.rest[0] == ':' {
		r.rest = r.rest[1:]
		ok = ok && len(r.rest) > 0
	}
	minutes := 0
	if len(r.rest) > 0 {
		var read bool
		minutes, read = r.number(2)
		ok = ok && read
	}
	if r.offset = hours*3600 + minutes*60; sign == '-' {
		r.offset = -r.offset
	}
	return ok && (sign == '+' || sign == '-') && hours < 24 && minutes < 60
}

func (r *momentReader) seconds() (int64, bool) {
	if r.noon != 0 {
		if r.hour %= 12; r.noon == 'p' {
			r.hour += 12
		}
	}
	t := time.Date(r.year, time.Month(r.month), r.day, r.hour, r.minute, r.second, 0, time.UTC)
	same := t.Year() == r.year && int(t.Month()) == r.month && t.Day() == r.day && t.Hour() == r.hour &&
		t.Minute() == r.minute && t.Second() == r.second
	at := t.Unix() - int64(r.offset)
	return at, same && len(r.rest) == 0 && at >= FirstSecond && at <= LastSecond
}

// Append appends a number of seconds since 1970-01-01T00:00, or since midnight; ok is false outside the years 0 to
// 9999, and of a time outside its day. Seconds that the form lacks are dropped, and an offset from UTC is Z.
func (f MomentForm) Append(b []byte, seconds int64) (out []byte, ok bool) {
	if f.OfDay() && (seconds < 0 || seconds >= secondsOfDay) || seconds < FirstSecond || seconds > LastSecond {
		return b, false
	}
	t := time.Unix(seconds, 0).UTC()
	for _, p := range f.parts {
		b = p.append(b, t)
	}
	return b, true
}

func (p momentPart) append(b []byte, t time.Time) []byte {
	switch p.unit {
	case 'Y':
		return padded(b, t.Year(), 4)
	case 'M':
		return padded(b, int(t.Month()), p.digits)
	case 'D':
		return padded(b, t.Day(), p.digits)
	case 'H':
		return padded(b, t.Hour(), p.digits)
	case 'h':
		return padded(b, (t.Hour()+11)%12+1, p.digits)
	case 'm':
		return padded(b, t.Minute(), 2)
	case 's':
		return padded(b, t.Second(), 2)
	case 'a':
		return append(b, noonWord(p.text, t.Hour() >= 12)...)
	}
	return append(b, p.text...)
}

func noonWord(style string, after bool) string {
	word := "AM"
	if after {
		word = "PM"
	}
	if style == "am" {
		return strings.ToLower(word)
	}
	return word
}

func padded(b []byte, n, digits int) []byte {
	text := strconv.Itoa(n)
	for range digits - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

// Steps returns the words for numbers of seconds that are the step of a column of type datetime or time.
func Steps() map[string]float64 {
	return map[string]float64{"second": 1, "minute": 60, "hour": 3600, "day": secondsOfDay}
}

// MomentForm returns the form by which the column's values are written: the declared one, else ISOForm.
func (c *Column) MomentForm() MomentForm {
	if f, ok := ReadMomentForm(c.Format); ok && c.Format != "" {
		return f
	}
	f, _ := ReadMomentForm(c.ISOForm())
	return f
}

// ISOForm returns the form of ISO 8601 for the column's values: with seconds where its step is not a whole number of
// minutes, and with an offset from UTC where it has a zone.
func (c *Column) ISOForm() string {
	form := "YYYY-MM-DDTHH:mm"
	if c.Type == Time {
		form = "HH:mm"
	}
	if c.finer(60) {
		form += ":ss"
	}
	if c.Zone != "" {
		form += "Z"
	}
	return form
}

// isoMoment returns how bounds and rules spell the column's values, and cells where no form is declared.
func (c *Column) isoMoment(zoned bool) MomentForm {
	fine := Column{Type: c.Type, Step: 1}
	if zoned {
		fine.Zone = "UTC"
	}
	f := fine.MomentForm()
	f.iso = true
	return f
}

// ReadsMoments returns the form by which cells are read: the declared one, else ISO 8601 with or without seconds.
func (c *Column) ReadsMoments() MomentForm {
	if c.Format != "" {
		return c.MomentForm()
	}
	return c.isoMoment(c.Zone != "")
}

// finer reports whether values lie apart by less than the given number of seconds, or by no multiple of them.
func (c *Column) finer(seconds float64) bool { return !(c.Step > 0) || math.Mod(c.Step, seconds) != 0 }

// Down returns the last whole step at or before a number of seconds.
func (c *Column) Down(seconds int64) int64 {
	step := max(1, int64(c.Step))
	down := seconds / step * step
	if down > seconds {
		down -= step
	}
	return down
}

// ParseDay reads a date, 2019-04-30, as days since 1970-01-01.
func ParseDay(text string) (float64, bool) {
	day, ok := ISODay.Parse(text)
	return float64(day), ok
}

// ReadValue reads a value of a calendar column as bounds and rules spell it: 2019-04-30, 2019-04-30T08:00 or 08:00. A
// column with a zone takes an offset behind it, and no offset for UTC.
func (c *Column) ReadValue(text string) (float64, bool) {
	if c.Type == Date {
		return ParseDay(text)
	}
	pos, ok := c.isoMoment(false).Parse([]byte(text))
	if !ok && c.Zone != "" {
		pos, ok = c.isoMoment(true).Parse([]byte(text))
	}
	return float64(pos), ok && c.Type.Moment()
}

// Show writes a value of the column for people: a date or time as such, where a file can spell it.
func (c *Column) Show(x float64) string {
	least, greatest := c.Type.Span()
	if !c.Type.Calendar() || !(x >= least && x < greatest+1) {
		return fmt.Sprintf("%g", x)
	}
	seconds, form := int64(math.Floor(x)), "2006-01-02T15:04"
	switch c.Type {
	case Date:
		seconds, form = seconds*secondsOfDay, time.DateOnly
	case Time:
		form = "15:04"
	}
	if seconds%60 != 0 {
		form += ":05"
	}
	return time.Unix(seconds, 0).UTC().Format(form)
}
