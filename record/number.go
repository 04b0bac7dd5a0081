package record

import (
	"fmt"
	"math"
	"time"

	"weir/privacy"
)

// Number shows a figure with six significant digits; +Inf is none, because no
// finite bound exists.
func Number(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", x)
}

// Bound shows an upper bound with five significant digits, rounded up.
func Bound(x float64) string { return privacy.Bound(x) }

// Calendar writes a value of a column of type date, datetime or time for people: a number of days since 1970-01-01, of
// seconds since 1970-01-01T00:00, or of seconds since midnight. ok is false of other types, and of what no file spells.
func Calendar(kind string, x float64) (text string, ok bool) {
	const secondsOfDay = 24 * 60 * 60
	layout := "2006-01-02T15:04"
	switch {
	case math.IsNaN(x):
		return "", false
	case kind == "date":
		layout, x = time.DateOnly, math.Floor(x)*secondsOfDay
	case kind == "time" && x >= 0 && x < secondsOfDay:
		layout = "15:04"
	case kind != "datetime":
		return "", false
	}
	if math.Abs(x) > 2.5e11 { // beyond the years 0 to 9999
		return "", false
	}
	moment := time.Unix(int64(math.Floor(x)), 0).UTC()
	if kind != "date" && moment.Second() != 0 {
		layout += ":05"
	}
	return moment.Format(layout), moment.Year() >= 0 && moment.Year() <= 9999
}
