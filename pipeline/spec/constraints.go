package spec

import (
	"fmt"

	"weir/pipeline/domain"
)

// totals: a public row count is that of every public total.
func (p *parser) totals(d *Dataset) {
	if d.Columns() == nil || d.RowsPublic == 0 || p.wrong("dataset.rows_public") {
		return
	}
	rules, _ := domain.ReadRules(d.Columns())
	for i := range rules {
		if rows := rules[i].Rows(); rows > 0 && rows != d.RowsPublic {
			p.at("dataset.rows_public", "", fmt.Sprintf("%d, the sum of constraints[%d].total of the domain", rows,
				rules[i].Place), "")
			return
		}
	}
}
