package pipeline

import (
	"fmt"
	"strings"
)

// advise warns of what is allowed and often a mistake: a row as unit where
// several rows may be one person's (W25).
func (c *compiler) advise() {
	d := &c.spec.Dataset
	if d.PrivacyUnit.Column != "" {
		return
	}
	for _, column := range d.columns.Columns {
		if namesUnits(column) {
			c.warn("W25", fmt.Sprintf("the privacy unit is a row, and the column %s looks as if it named persons: if one has several rows, each row is protected and the person is not", column.Name),
				fmt.Sprintf("privacy_unit: {column: %s, max_rows: ...}, or acknowledge: [W25] where each has one row", column.Name))
			return
		}
	}
}

// namesUnits goes by the name and by there being no bounded set of values.
func namesUnits(c Column) bool {
	if c.Type != Text && c.Type != Integer {
		return false
	}
	name := strings.ToLower(c.Name)
	for _, word := range []string{"id", "pid", "uid", "mrn", "ssn", "nhs_number"} {
		if name == word || strings.HasSuffix(name, "_"+word) {
			return true
		}
	}
	for _, word := range []string{"patient", "person", "subject", "respondent", "participant"} {
		if name == word || strings.HasPrefix(name, word+"_n") {
			return true
		}
	}
	return false
}
