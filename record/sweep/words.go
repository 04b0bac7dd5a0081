package sweep

import (
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

// Line names what a row has in common with those that differ from it in epsilon, and in the
// setting at over, alone.
func (t *Table) Line(r Row, over string) string {
	var paths []string
	for _, p := range t.Grid {
		if p != epsilonPath && p != over {
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
