package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline/domain"
)

// column is one declared column: which of the generator's cells it shows.
type column struct {
	from int
	to   arrow.DataType
	code []int32 // of the declared categories, by the generator's code
}

// match finds the declared columns among the generator's and reports every
// difference at once.
func match(name string, ownValue, d *domain.Domain) ([]column, error) {
	columns := make([]column, len(d.Columns))
	var problems []error
	for i := range d.Columns {
		c, err := matchColumn(ownValue, &d.Columns[i])
		if err != nil {
			problems = append(problems, fmt.Errorf("demo %s: column %q: %w", name, d.Columns[i].Name, err))
		}
		columns[i] = c
	}
	return columns, errors.Join(problems...)
}

func matchColumn(ownValue *domain.Domain, c *domain.Column) (column, error) {
	pos := slices.IndexFunc(ownValue.Columns, func(o domain.Column) bool { return o.Name == c.Name })
	if pos < 0 {
		return column{}, fmt.Errorf("is not drawn, must be one of %s", strings.Join(ownValue.Names(), ", "))
	}
	o := ownValue.Columns[pos]
	m := column{from: pos, to: c.ArrowType()}
	if o.Nullable && !c.Nullable && len(c.Missing) == 0 {
		return m, fmt.Errorf("has missing values, must be declared nullable: true")
	}
	if o.Type.Coded() != c.Type.Coded() || !o.Type.Coded() && c.Type != o.Type && c.Type != domain.Numeric {
		return m, fmt.Errorf("is declared %s, must be %s", c.Type, o.Type)
	}
	for _, s := range spellings(&o) {
		code := slices.Index(spellings(c), s)
		if code < 0 {
			return m, fmt.Errorf("does not declare all of its categories, must hold %s", strings.Join(spellings(&o), ", "))
		}
		m.code = append(m.code, int32(code))
	}
	return m, nil
}

func spellings(c *domain.Column) []string {
	if c.Type == domain.Boolean && len(c.Categories) == 0 {
		return []string{"0", "1"}
	}
	return c.Categories
}
