package pipeline

import (
	"fmt"
	"math"
	"time"
)

// ParseDay reads a date, 2019-04-30, as days since 1970-01-01.
func ParseDay(text string) (float64, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return math.Floor(float64(t.Unix()) / 86400), err == nil
}

// mostDays is beyond the years that a date can write.
const mostDays = 2.9e6

// Show writes a value of the column for people: a date as such.
func (c *Column) Show(x float64) string {
	if c.Type != Date || !(math.Abs(x) < mostDays) {
		return fmt.Sprintf("%g", x)
	}
	return time.Unix(int64(math.Floor(x))*86400, 0).UTC().Format(time.DateOnly)
}
