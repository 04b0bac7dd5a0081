package domain

import (
	"math"
	"sort"
)

// Range is the values from Lo to Hi, both included.
type Range struct{ Lo, Hi float64 }

// Values is a set of values of one column: ranges, ascending and apart, and perhaps
// missing.
type Values struct {
	Ranges  []Range
	Missing bool
}

// Has tells whether v is one of the values; NaN is missing.
func (s Values) Has(v float64) bool {
	if math.IsNaN(v) {
		return s.Missing
	}
	at := sort.Search(len(s.Ranges), func(i int) bool { return s.Ranges[i].Hi >= v })
	return at < len(s.Ranges) && s.Ranges[at].Lo <= v
}

// All is every value that a column can hold.
func AllValues(c *Column) Values {
	s := Values{Ranges: []Range{{-math.MaxFloat64, math.MaxFloat64}}, Missing: c.Nullable}
	switch {
	case c.Type.Coded():
		s.Ranges[0] = Range{0, float64(len(c.Categories) - 1)}
	case c.Bounds != nil:
		s.Ranges[0] = Range{c.Bounds[0], c.Bounds[1]}
	}
	return s
}

// grid is where the numbers of a column lie: multiples of step from origin, or anywhere
// where step is 0.
type grid struct{ step, origin float64 }

func gridOf(c *Column) grid {
	g := grid{step: c.Step}
	if c.Bounds != nil {
		g.origin = c.Bounds[0]
	}
	if c.Type != Numeric {
		g.origin = math.Ceil(g.origin)
		if g.step = math.Trunc(c.Step); g.step < 1 {
			g.step = 1
		}
	}
	return g
}

// from is the least value of the grid that is at least x.
func (g grid) from(x float64) float64 {
	if g.step == 0 || math.Abs(x) > 1e300 {
		return x
	}
	const slack = 1e-9 // of a step: what decimals such as 0.1 lose
	n := math.Ceil((x-g.origin)/g.step - slack)
	if per := math.Round(1 / g.step); per > 0 && math.Abs(float64(per*g.step)-1) < 1e-9 {
		return math.Round(float64(g.origin*per)+n) / per // the nearest decimal, where origin is a multiple
	}
	return g.origin + float64(n*g.step)
}

// after is the least value of the grid above x.
func (g grid) after(x float64) float64 {
	if g.step == 0 || math.Abs(x) > 1e300 {
		return math.Nextafter(x, math.Inf(1))
	}
	return g.from(x + float64(g.step/2))
}
