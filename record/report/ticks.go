package report

import (
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"

	"weir/internal/bitmath"
	"weir/record"
)

// ticks marks round numbers (1, 2 or 5 times a power of ten), at most n of them.
type ticks struct{ n int }

// Ticks implements plot.Ticker.
func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	step := roundStep((hi - lo) / float64(t.n))
	if !(step > 0) || math.IsInf(step, 0) {
		return []plot.Tick{{Value: lo, Label: Number(lo)}}
	}
	var list []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+float64(step*1e-9) && len(list) <= 2*t.n; k++ {
		list = append(list, plot.Tick{Value: k * step, Label: axisNumber(k*step, step)})
	}
	return list
}

func roundStep(x float64) float64 {
	power := bitmath.Pow(10, math.Floor(bitmath.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if x <= m*power {
			return m * power
		}
	}
	return 10 * power
}

// axisNumber has the decimals that the step needs, and k for thousands.
func axisNumber(x, step float64) string {
	switch {
	case x == 0:
		return "0"
	case math.Abs(x) >= 1e6 || step < 1e-4:
		return strconv.FormatFloat(x, 'g', 3, 64)
	case math.Abs(x) >= 1e4 && step >= 1000:
		return strconv.FormatFloat(x/1000, 'f', -1, 64) + "k"
	}
	decimals := max(0, int(math.Ceil(-bitmath.Log10(step)-1e-9)))
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// Number returns a figure with four significant digits, and a dash where there is
// none.
func Number(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, 0):
		return "∞"
	case x != 0 && (math.Abs(x) < 1e-4 || math.Abs(x) >= 1e7):
		return strconv.FormatFloat(x, 'g', 4, 64)
	case math.Abs(x) >= 1000:
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}

// percent words a share as a percentage.
func percent(x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return strconv.FormatFloat(math.Round(x*1000)/10, 'f', -1, 64) + " %"
}

// Show writes a value of the column: a date or time as such.
func (c Column) Show(x float64) string {
	if text, ok := record.Calendar(c.Type, x); ok {
		return text
	}
	return Number(x)
}

// Spread writes a standard deviation of the column: of dates and date-times in days, or in hours where it is less than
// one, of times of day in minutes.
func (c Column) Spread(sd float64) string {
	const minute, hour, day = 60, 3600, 86400
	switch {
	case math.IsNaN(sd) || math.IsInf(sd, 0):
		return Number(sd)
	case c.Type == "date":
		return Number(sd) + " days"
	case c.Type == "datetime" && sd >= day:
		return Number(sd/day) + " days"
	case c.Type == "datetime":
		return Number(sd/hour) + " hours"
	case c.Type == "time":
		return Number(sd/minute) + " minutes"
	}
	return Number(sd)
}

// calendarTicks marks dates and times where a calendar or a clock is round: first days of years and months, midnights,
// full hours. Where no calendar goes it marks round numbers.
type calendarTicks struct {
	ticks
	column Column
}

const (
	day          = 24 * 60 * 60 // seconds
	mostCalendar = 2.5e11       // seconds from 1970: the years 0 to 9999
)

// calendarStep is the distance of two marks: some seconds, or some months from the beginning of a year.
type calendarStep struct{ seconds, months int64 }

// length returns the mean number of seconds.
func (s calendarStep) length() float64 {
	return float64(s.seconds) + float64(float64(s.months)*(365.25/12*day))
}

// calendarSteps ascend.
func calendarSteps() (list []calendarStep) {
	for _, s := range []int64{1, 5, 15, 30, 60, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 7 * day,
		14 * day} {
		list = append(list, calendarStep{seconds: s})
	}
	for _, m := range []int64{1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 6000, 12000} {
		list = append(list, calendarStep{months: m})
	}
	return list
}

// Ticks implements plot.Ticker.
func (t calendarTicks) Ticks(lo, hi float64) []plot.Tick {
	unit := 1.0 // seconds of one
	if t.column.Type == "date" {
		unit = day
	}
	if most := max(math.Abs(unit*lo), math.Abs(unit*hi)); most <= mostCalendar {
		for _, s := range calendarSteps() {
			if s.length() >= max(unit, unit*(hi-lo)/float64(t.n)) {
				return t.marks(s, lo, hi, unit)
			}
		}
	}
	list := t.ticks.Ticks(lo, hi)
	for i := range list {
		list[i].Label = t.column.Show(list[i].Value)
	}
	return list
}

// marks lists the marks of a step from lo to hi.
func (t calendarTicks) marks(s calendarStep, lo, hi, unit float64) (list []plot.Tick) {
	for i := s.begin(int64(math.Ceil(unit * lo))); float64(i) <= unit*hi; i = s.next(i) {
		mark := plot.Tick{Value: float64(i) / unit}
		shown := false
		if mark.Label, shown = record.Calendar(t.column.Type, mark.Value); s.months > 0 || s.seconds >= day {
			mark.Label, shown = record.Calendar("date", float64(i)/day)
		}
		if shown { // 24:00 is not a time of day
			list = append(list, mark)
		}
	}
	return list
}

// begin returns the first mark from a second on.
func (s calendarStep) begin(start int64) int64 {
	i := floorTo(start, max(1, s.seconds))
	if s.months > 0 {
		t := time.Unix(start, 0).UTC()
		i = monthly(floorTo(12*int64(t.Year())+int64(t.Month())-1, s.months))
	}
	if i < start {
		i = s.next(i)
	}
	return i
}

// next returns the mark after one.
func (s calendarStep) next(i int64) int64 {
	if s.months == 0 {
		return i + s.seconds
	}
	t := time.Unix(i, 0).UTC()
	return monthly(12*int64(t.Year()) + int64(t.Month()) - 1 + s.months)
}

// monthly returns the second in which a month begins, counted from January of the year 0.
func monthly(months int64) int64 {
	return time.Date(0, time.Month(1+months), 1, 0, 0, 0, 0, time.UTC).Unix()
}

// floorTo returns the greatest multiple of a step that is at most x.
func floorTo(x, step int64) int64 {
	rest := x % step
	if rest < 0 {
		rest += step
	}
	return x - rest
}
