package pipeline

import (
	"fmt"
	"strings"
)

// ColumnsAre begins a finding about columns: "column age is", or "columns age, sex are"; of more than
// manyColumns it names the first. One error about all of them is read, one each is not.
func ColumnsAre(names []string) string {
	const manyColumns = 8
	switch n := len(names); {
	case n == 1:
		return "column " + names[0] + " is"
	case n > manyColumns:
		return fmt.Sprintf("columns %s and %d more are", strings.Join(names[:manyColumns], ", "), n-manyColumns)
	}
	return "columns " + strings.Join(names, ", ") + " are"
}
