package sql

import (
	"fmt"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// Sample prints a SELECT of so many rows of a base, or all where there are fewer: those whose hash is least, of the codes
// of the row (docs/design/units.md) and how many rows of these codes come before it. So a row that is there a thousand
// times is drawn as often as a thousand rows, and the same rows are drawn again from the same table, whatever their
// order. The columns are text, missing is NULL.
func (d Dialect) Sample(b Base, rows int64) string {
	names, texts := make([]string, len(b.columns)), make([]string, len(b.columns))
	for i, c := range b.columns {
		names[i] = fmt.Sprintf("s%d", i)
		texts[i] = d.asText.of(names[i])
		if c.Of == relation.Text {
			texts[i] = names[i]
		}
	}
	coded := "SELECT " + strings.Join(names, ", ") + ", " + d.codes(b.columns) + " AS code FROM (" + b.Values + d.fence + ") AS base" + d.fence
	turns := "SELECT *, row_number() OVER (PARTITION BY code ORDER BY code) AS turn FROM (" + coded + ") AS coded" + d.fence
	return "SELECT " + strings.Join(texts, ", ") + " FROM (" + turns + ") AS turns ORDER BY " +
		d.md5.of("(code || '/' || "+d.asText.of("turn")+")") + " LIMIT " + strconv.FormatInt(rows, 10)
}
