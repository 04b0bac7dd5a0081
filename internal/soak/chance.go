package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"weir/pipeline/domain"
)

// chance draws all choices of one case, which its number alone decides.
type chance struct{ *rand.Rand }

func chanceOf(seed, number uint64) chance { return chance{rand.New(rand.NewPCG(seed, number))} }

// yes returns true with probability p.
func (c chance) yes(p float64) bool { return c.Float64() < p }

// within returns a whole number from least to most.
func (c chance) within(least, most int) int { return least + c.IntN(most-least+1) }

// pick returns one of a list, and of none the zero value, which a spec is refused for.
func pick[T any](c chance, list ...T) (one T) {
	if len(list) == 0 {
		return one
	}
	return list[c.IntN(len(list))]
}

// some returns at least n of a list, in its order; all of it where it has fewer.
func some[T any](c chance, list []T, n int) []T {
	share := c.Float64()
	var chosen []T
	for i, x := range list {
		if len(list)-i <= n-len(chosen) || c.yes(share) {
			chosen = append(chosen, x)
		}
	}
	return chosen
}

// number returns a number of any order of size, spelled as a person would.
func (c chance) number() float64 {
	return pick(c, 0, 1, -1, 2, 0.5, 10, 100, -50, 1e3, float64(c.within(-20, 200)))
}

func count(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }

// style says what kind of values a row holds. Neighbours differ by rows of the
// extreme ones: a typical row hides a sensitivity that is stated too small.
type style string

const (
	typical style = "typical"
	low     style = "low"     // least values, first categories
	high    style = "high"    // greatest values, last categories
	absent  style = "absent"  // missing wherever the domain allows it
	outside style = "outside" // beyond the declared bounds, which nobody has checked
)

func styles() []style { return []style{typical, low, high, absent, outside} }

// sentinel is a number that stands for not available in the tables of the soak.
const sentinel = 99999

// cell returns a value of a column, as a CSV file spells it.
func (c chance) cell(col domain.Column, s style) string {
	if col.Nullable && (s == absent || s == typical && c.yes(0.15)) {
		return c.missing(col)
	}
	switch col.Type {
	case domain.Text:
		return pick(c, "plain", "two words", `with "quotes"`, "a,b", "Ä", "1717", "none")
	case domain.Categorical, domain.Ordinal, domain.Boolean:
		return c.category(col, s)
	}
	x := c.value(col, s)
	if col.Type == domain.Date {
		return time.Unix(int64(math.Max(-700000, math.Min(x, 2900000)))*24*60*60, 0).UTC().Format(time.DateOnly)
	}
	if col.Type.Moment() {
		least, greatest := col.Type.Span()
		return col.Show(math.Max(least, math.Min(math.Trunc(x), greatest)))
	}
	if col.Type == domain.Integer {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func (c chance) missing(col domain.Column) string {
	if len(col.Missing) > 0 && c.yes(0.5) {
		return pick(c, col.Missing...)
	}
	return ""
}

func (c chance) category(col domain.Column, s style) string {
	switch s {
	case low:
		return col.Categories[0]
	case high, outside:
		return col.Categories[len(col.Categories)-1]
	}
	// Typical rows leave the last category rare.
	return col.Categories[min(c.IntN(len(col.Categories)), c.IntN(len(col.Categories)))]
}

func (c chance) value(col domain.Column, s style) float64 {
	bounds := [2]float64{-1000, 1000}
	if col.Bounds != nil {
		bounds = *col.Bounds
	}
	switch s {
	case low:
		return bounds[0]
	case high:
		return bounds[1]
	case outside:
		return pick(c, 0x1p52, -0x1p52, bounds[1]+1, bounds[0]-1, sentinel)
	}
	if c.yes(0.03) {
		return pick(c, sentinel, bounds[1]+7, bounds[0])
	}
	x := bounds[0] + float64(c.Float64()*(bounds[1]-bounds[0]))
	if col.Step > 0 && c.yes(0.9) {
		x = bounds[0] + float64(col.Step*math.Round((x-bounds[0])/col.Step))
	}
	return math.Round(x*64) / 64
}

// row returns a row of the given style.
func (c chance) row(columns []domain.Column, s style) []string {
	r := make([]string, len(columns))
	for i, col := range columns {
		r[i] = c.cell(col, s)
	}
	return r
}
