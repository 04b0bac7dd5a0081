package main

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/words"
)

// The inventory stands on a page that is written by hand, between these lines.
const (
	inventoryFrom = "<!-- inventory: written by go generate ./stages from specs/results/inventory.csv; edit that file, " +
		"not this part -->\n"
	inventoryTo = "<!-- end of the inventory -->\n"
)

const inventoryHead = `
What each paper prints, every table and figure with its values, and the spec that shows it. What the spec gave stands
beside each value in [reproduced.md](reproduced.md). Cells of the sweep of GANAD have AUROC at each epsilon, then
average precision.
`

// writeInventory writes the tables and figures of each source into a page, in place of those that are there.
func writeInventory(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, is := strings.Cut(string(page), inventoryFrom)
	_, after, ends := strings.Cut(rest, inventoryTo)
	if !is || !ends {
		return fmt.Errorf("%s: has no place for the inventory, must have the lines %q and %q", path, inventoryFrom,
			inventoryTo)
	}
	lines, err := Lines()
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+inventoryFrom+string(words.Page([]byte(inventoryText(lines))))+"\n"+
		inventoryTo+after), 0o644)
}

// inventoryText has a table for each source, and a line for each place in it and spec.
func inventoryText(lines []Line) string {
	var b strings.Builder
	b.WriteString(inventoryHead)
	for _, source := range runs(lines, func(l Line) string { return l.Source }) {
		fmt.Fprintf(&b, "\n**%s**\n\n| place | printed | spec |\n| --- | --- | --- |\n", source[0].Source)
		for _, same := range runs(source, inventoryGroup) {
			spec := "none: " + same[0].Note
			if same[0].Spec != "" {
				spec = "`" + same[0].Spec + "`"
			}
			text := printed(same)
			if same[0].Spelled() && strings.HasSuffix(same[0].Spec, "-published") {
				text = same[0].What + ": the values above" // a proven spec has them all
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", same[0].Place, text, spec)
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// inventoryGroup returns one for the values that stand in one line: the values of a spec at a place, of one cell
// unless the spec holds them, and of what no spec shows the values with one reason.
func inventoryGroup(l Line) string {
	key := []string{l.Place, l.Spec, l.Note, ""}
	if l.Spec != "" {
		key[2] = ""
		if l.Spelled() {
			key[3] = l.What
		} else {
			key[3] = l.Cell
		}
	}
	return strings.Join(key, "\x00")
}

// printed names what stands in a line, with its values; what all have in common at their ends is said once.
func printed(lines []Line) string {
	var names []string
	values := map[string][]string{}
	for _, l := range lines {
		name := l.What
		if l.Spelled() {
			name = l.Cell + ", " + l.What
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if !math.IsNaN(l.Printed) {
			values[name] = append(values[name], strconv.FormatFloat(l.Printed, 'g', 6, 64))
		}
	}
	common, parts := shared(names), make([]string, len(names))
	for i, name := range names {
		parts[i] = strings.TrimSpace(strings.TrimSuffix(name, common) + " " + strings.Join(values[name], ", "))
	}
	text := strings.Join(parts, "; ")
	if common != "" {
		text = strings.TrimLeft(common, " ,") + ": " + text
	}
	return text
}

// shared returns the longest end of whole words, behind a blank or comma, that all of several names have.
func shared(names []string) string {
	if len(names) < 2 {
		return ""
	}
	common := ""
	for i, r := range names[0] {
		end := names[0][i:]
		if i == 0 || r != ' ' && r != ',' {
			continue
		}
		if !slices.ContainsFunc(names, func(n string) bool { return !strings.HasSuffix(n, end) || n == end }) {
			common = end
			break
		}
	}
	return common
}
