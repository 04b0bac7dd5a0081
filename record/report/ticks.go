package report

import (
	"math"
	"strconv"

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

// percent of a share.
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
