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

// Show writes a value of the column for people: a date as such, where a file can spell it.
func (c *Column) Show(x float64) string {
	if c.Type != Date || !(x >= FirstDay && x < LastDay+1) {
		return fmt.Sprintf("%g", x)
	}
	return time.Unix(int64(math.Floor(x))*86400, 0).UTC().Format(time.DateOnly)
}
