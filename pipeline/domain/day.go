package domain

import (
	"fmt"
	"math"
	"time"
)

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
	at, ok := c.isoMoment(false).Parse([]byte(text))
	if !ok && c.Zone != "" {
		at, ok = c.isoMoment(true).Parse([]byte(text))
	}
	return float64(at), ok && c.Type.Moment()
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
