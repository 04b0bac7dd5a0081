package domain

import "strconv"

// Apart are those of some spellings of missing that no value of the column has: a number
// inside the bounds, or any number where there are none, may be a value once rows were
// clipped, encoded or drawn. Files that are written tell missing values by the others, or
// by the empty cell, so that no value can end a run.
func (c *Column) Apart(spellings []string) (apart []string) {
	for _, text := range spellings {
		if !c.mayHold(text) {
			apart = append(apart, text)
		}
	}
	return apart
}

// mayHold tells whether a text is a number, or a date, that the column may hold.
func (c *Column) mayHold(text string) bool {
	if c.Type.Coded() && c.Encoding == nil || c.Type == Text {
		return false // a category is never a spelling of missing, and text that is one is missing
	}
	x, is := c.spelledNumber(text)
	if c.Type.Calendar() && c.Encoding == nil {
		x, is = c.spelledDay(text)
	}
	return is && (c.Bounds == nil || c.Encoding != nil || x >= c.Bounds[0] && x <= c.Bounds[1])
}

// spelledDay reads a date or time as a file spells it.
func (c *Column) spelledDay(text string) (float64, bool) {
	if c.Type == Date {
		day, is := c.DayForm().Parse(text)
		return float64(day), is
	}
	at, is := c.ReadsMoments().Parse([]byte(text))
	return float64(c.Down(at)), is
}

// spelledNumber reads a number in the form of the column.
func (c *Column) spelledNumber(text string) (float64, bool) {
	if form, ok := c.NumberForm(); ok {
		plain, ok := form.Plain(nil, []byte(text))
		if !ok {
			return 0, false
		}
		text = string(plain)
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}
