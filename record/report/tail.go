package report

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"

	"weir/internal/bitmath"
)

// Asinh returns the inverse hyperbolic sine, which is x near 0 and the logarithm of 2x far from it. Signs are mirrored,
// so that no digits are lost below 0.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	if a > 1e150 { // where a square would not be finite
		return math.Copysign(bitmath.Log(a)+math.Ln2, x)
	}
	return math.Copysign(bitmath.Log1p(a+a*a/(1+math.Sqrt(1+float64(a*a)))), x)
}

// Sinh returns the hyperbolic sine, the inverse of Asinh.
func Sinh(x float64) float64 {
	e := bitmath.Expm1(math.Abs(x))
	return math.Copysign((e+e/(e+1))/2, x)
}

// place returns where a value stands on the axis of the column.
func (c Column) place(x float64) float64 {
	if c.Linear == 0 {
		return x
	}
	return Asinh(x / c.Linear)
}

// places returns the places of several values on the axis.
func (c Column) places(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = c.place(v)
	}
	return out
}

// tailTicks marks powers of ten and 0 on a logarithmic axis.
type tailTicks struct{ column Column }

// leastBetween is the least distance of two marks of a logarithmic axis, as a share of it.
const leastBetween = 0.12

// Ticks implements plot.Ticker: powers of ten from the greatest down, each where it has room.
func (t tailTicks) Ticks(lo, hi float64) []plot.Tick {
	var list []plot.Tick
	add := func(v float64) {
		x := t.column.place(v)
		free := x >= lo && x <= hi
		for _, old := range list {
			free = free && math.Abs(x-old.Value) >= float64(leastBetween*(hi-lo))
		}
		if free {
			list = append(list, plot.Tick{Value: x, Label: axisNumber(v, math.Max(1e-4, math.Abs(v)))})
		}
	}
	add(0)
	top := math.Max(math.Abs(Sinh(lo)), math.Abs(Sinh(hi))) * t.column.Linear
	for power, k := math.Floor(bitmath.Log10(top)), 0; k < 12; power, k = power-1, k+1 {
		add(bitmath.Pow(10, power))
		add(-bitmath.Pow(10, power))
	}
	return list
}

// start returns where the axis of shares begins: at the twentieth below both functions, so that what follows a value of
// most rows is seen.
func (d *Distribution) start() float64 {
	least := 1.0
	for _, shares := range [][]float64{d.Real, d.Synthetic} {
		if len(shares) > 0 {
			least = min(least, shares[0])
		}
	}
	return min(0.95, math.Floor(20*least)/20)
}

// distribution returns the plot of the shares of rows of at most each value, on the axis of the histogram.
func distribution(h text.Handler, c Column, lo, hi float64) *plot.Plot {
	p := NewPlot(h, "", "share up to here")
	d := c.Distribution
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lo, hi, d.start(), 1
	c.marks(p)
	p.Add(Cross())
	points := c.places(d.At)
	for _, l := range []struct {
		shares []float64
		style  draw.LineStyle
	}{{d.Real, Line(blue(), 2.5)}, {d.Synthetic, Line(orange(), 1.5)}} {
		var xys plotter.XYs
		for i, v := range l.shares {
			xys = append(xys, plotter.XY{X: points[i], Y: v})
		}
		if len(xys) > 0 {
			p.Add(&plotter.Line{XYs: xys, LineStyle: l.style})
		}
	}
	return p
}

// spikeWords says what the bins leave out, and how the axis runs.
func (c Column) spikeWords() string {
	text := ""
	if a := c.Spike; a != nil {
		text = fmt.Sprintf(" Bars leave out %s: real %s, synthetic %s.", Number(a.Value), percent(a.Real),
			percent(a.Synthetic))
	}
	if c.Linear != 0 {
		text += fmt.Sprintf(" The axis is logarithmic beyond %s.", Number(c.Linear))
	}
	return text
}
