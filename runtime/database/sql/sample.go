package sql

import (
	"fmt"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// Sample prints a SELECT of so many rows of a base, or all where there are fewer: those whose hash is least, of the
// codes of the row (docs/design/units.md) and how many rows of these codes come before it. So a row that is there a
// thousand times is drawn as often as a thousand rows, and the same rows are drawn again from the same table, whatever
// their order. Base.Cells takes the rows of the answer: in front of the cells stands a 0, and in front of each value a
// v.
func (d Dialect) Sample(b Base, rows int64) string {
	names, texts := make([]string, len(b.columns)), make([]string, len(b.columns))
	for i, c := range b.columns {
		names[i] = fmt.Sprintf("s%d", i)
		text := d.asText.fill(names[i])
		if c.Of == relation.Text {
			text = names[i]
		}
		texts[i] = "coalesce('v' || " + text + ", '')"
	}
	coded := "SELECT " + strings.Join(names, ", ") + ", " + d.codes(b.columns) + " AS code FROM (" + b.Values + d.fence +
		") AS base" + d.fence
	turns := "SELECT *, row_number() OVER (PARTITION BY code ORDER BY code) AS turn FROM (" + coded + ") AS coded" +
		d.fence
	return "SELECT 0, " + strings.Join(texts, ", ") + " FROM (" + turns + ") AS turns ORDER BY " +
		d.md5.fill("(code || '/' || "+d.asText.fill("turn")+")") + " LIMIT " + strconv.FormatInt(rows, 10)
}

// Cells returns the cells of a row of Sample, nil where one is missing.
func (b Base) Cells(row []string) ([]*string, error) {
	if len(row) != b.Sampled() {
		return nil, errAnswer
	}
	list := make([]*string, len(b.columns))
	for i, cell := range row[1:] {
		if value, there := strings.CutPrefix(cell, "v"); there {
			list[i] = &value
		} else if cell != "" {
			return nil, errAnswer
		}
	}
	return list, nil
}

// Sampled returns how many cells a row of Sample has.
func (b Base) Sampled() int { return 1 + len(b.columns) }
