package spec

import (
	"fmt"
	"strconv"

	"weir/pipeline/domain"
	"weir/schema"
)

// readDates puts days since 1970-01-01 in place of the dates among the bounds of a
// domain. It returns a problem for each other text there.
func readDates(doc *schema.Document, path string) (problems []schema.Problem) {
	list := "columns"
	if path != "" {
		list = path + ".columns"
	}
	for i := 0; doc.Has(fmt.Sprintf("%s[%d]", list, i)); i++ {
		column := fmt.Sprintf("%s[%d]", list, i)
		date := domain.ColumnType(doc.Text(column+".type")) == domain.Date
		for k := range 2 {
			at := fmt.Sprintf("%s.bounds[%d]", column, k)
			text := doc.Text(at)
			if _, err := strconv.ParseFloat(text, 64); text == "" || err == nil {
				continue
			}
			accepted, day := "a number", 0.0
			if date {
				var ok bool
				if day, ok = domain.ParseDay(text); ok {
					doc.Replace(at, day)
					continue
				}
				accepted = "a date, as 2019-04-30"
			}
			problems = append(problems, doc.Problem(at, accepted, ""))
			doc.Replace(at, day) // told once
		}
	}
	return problems
}
