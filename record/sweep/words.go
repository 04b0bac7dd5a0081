package sweep

import (
	"math"
	"strconv"
	"strings"
)

// Label names a row: its cell and its values of the grid.
func (t *Table) Label(r Row) string { return t.label(r, t.Grid) }

// StepPath is the setting of the grid that draws from models as they were at some step of a
// training; "" where there is none. Their epsilons are those of all steps.
func (t *Table) StepPath() string {
	for _, p := range t.Grid {
		if strings.HasPrefix(p, "stages.") && Short(p) == "step" {
			return p
		}
	}
	return ""
}

// NumberPath is the setting of the grid, beside epsilon, that curves can be drawn over: the first that
// has two numbers, that of steps before others; "" where there is none.
func (t *Table) NumberPath() string {
	for _, p := range append([]string{t.StepPath()}, t.Grid...) {
		found := map[float64]bool{}
		for _, r := range t.Rows {
			if x, is := NumberOf(r, p); is && p != epsilonPath {
				found[x] = true
			}
		}
		if len(found) > 1 {
			return p
		}
	}
	return ""
}

// NumberOf is the value of a setting of a row, if it is a number.
func NumberOf(r Row, path string) (float64, bool) {
	x, err := strconv.ParseFloat(r.Settings[path], 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// Line names what a row has in common with those that differ from it alone in the setting at
// over; "" is epsilon.
func (t *Table) Line(r Row, over string) string {
	if over == "" {
		over = epsilonPath
	}
	var paths []string
	for _, p := range t.Grid {
		if p != over {
			paths = append(paths, p)
		}
	}
	if text := t.label(r, paths); text != "" {
		return text
	}
	return t.Name
}

func (t *Table) label(r Row, paths []string) string {
	var words []string
	if r.Cell != "" {
		words = append(words, r.Cell)
	}
	for _, p := range paths {
		words = append(words, Short(p)+" "+oneLine(r.Settings[p]))
	}
	return strings.Join(words, ", ")
}

// oneLine keeps a text that a spec chose in its cell.
func oneLine(s string) string { return strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(s) }

// Short is the last part of a path.
func Short(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
