// Package metric words what a comparison finds: every figure is a value, or has
// the reason why there is none. No question words an undefined figure by itself.
package metric

import (
	"fmt"
	"math"
	"strings"
)

// Noted is a value with a note; NaN has the reason in its note.
type Noted struct {
	Value float64
	Note  string
}

// Of is a value with its notes.
func Of(value float64, notes ...string) Noted { return Noted{value, Notes(notes...)} }

// None is undefined, and says why.
func None(why ...string) Noted { return Of(math.NaN(), why...) }

// Or is a value, which has the reason as its note where it is undefined or infinite.
func Or(value float64, reason ...string) Noted {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return Of(value, reason...)
	}
	return Of(value)
}

// Over is a/scale, undefined where the real column, whose scale it is, is constant.
func Over(a, scale float64) Noted {
	if !(scale > 0) {
		return None("the real column is constant")
	}
	return Of(a / scale)
}

// Notes joins what is not empty.
func Notes(notes ...string) string {
	var list []string
	for _, n := range notes {
		if n != "" {
			list = append(list, n)
		}
	}
	return strings.Join(list, "; ")
}

// With is the figure with more notes behind its own.
func (f Noted) With(notes ...string) Noted {
	return Of(f.Value, append([]string{f.Note}, notes...)...)
}

// Mean averages the figures that are defined; the note says how many are not.
func Mean(figures []Noted) Noted {
	sum, n, why := 0.0, 0, ""
	for _, f := range figures {
		if math.IsNaN(f.Value) {
			why = f.Note
			continue
		}
		sum, n = sum+f.Value, n+1
	}
	switch {
	case n == 0:
		return None(why)
	case n < len(figures):
		return Of(sum/float64(n), fmt.Sprintf("mean over %d of %d; the others: %s", n, len(figures), why))
	case n == 1:
		return Of(sum, figures[0].Note)
	}
	return Of(sum / float64(n))
}
