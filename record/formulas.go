package record

import (
	"fmt"
	"slices"
	"strings"

	"weir/internal/plaintext"
)

// formulas says where a spreadsheet would compute cells of the released CSV files, and
// what was done about it; nothing where no name or category is one. Both are public.
func formulas(r *Run) string {
	var columns []string
	safe := true
	for _, t := range r.Tables {
		for _, c := range t.Columns {
			if plaintext.Formula(c.Name) || slices.ContainsFunc(c.Categories, plaintext.Formula) {
				columns, safe = append(columns, fmt.Sprintf("`%s.%s`", t.Stage, strings.ReplaceAll(c.Name, "`", "'"))), safe &&
					t.SpreadsheetSafe
			}
		}
	}
	switch {
	case len(columns) == 0:
		return ""
	case safe:
		return fmt.Sprintf("\nA spreadsheet would take cells of %s for formulas. In the CSV files they have an apostrophe "+
			"in front\n"+
			"(`write: {spreadsheet_safe: true}`), which is part of the cell to all other readers; the Parquet files have them "+
			"as they are.\n", strings.Join(columns, ", "))
	}
	return fmt.Sprintf("\nA spreadsheet takes cells of %s for formulas and computes them. They stand in the CSV files "+
		"as they are:\n"+
		"import these columns as text, or read the Parquet files.\n", strings.Join(columns, ", "))
}
