package sweep

import (
	"strings"
)

// Label names a row: its cell and its values of the grid.
func (t *Table) Label(r Row) string { return t.label(r, t.Grid) }

// Line names what a row has in common with those that differ from it in epsilon alone.
func (t *Table) Line(r Row) string {
	var paths []string
	for _, p := range t.Grid {
		if p != epsilonPath {
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
