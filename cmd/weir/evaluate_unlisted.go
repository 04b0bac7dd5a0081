package main

import (
	"context"

	"weir/pipeline"
	"weir/pipeline/domain"
)

// unlisted notes, of columns that may be missing, how many values the domain does not
// list: they count as missing and cannot be told from missing ones in the table that is
// compared. So the file is read once more with these columns as text, of which only the
// spellings of missing are missing. A file that stores them otherwise than as text gets
// no count.
func (c *compared) unlisted(ctx context.Context, coded pipeline.Table, d *domain.Domain, result *evaluation) error {
	plain, any := asText(d)
	if !any {
		return nil
	}
	text, err := c.Open(c.csv, plain, nil)
	if err != nil {
		return nil // coded was opened: the file is there, its columns hold no text
	}
	all, err := nullsOf(ctx, coded, len(d.Columns))
	if err != nil {
		return err
	}
	missing, err := nullsOf(ctx, text, len(d.Columns))
	if err != nil {
		return nil // as above, told when the rows are read
	}
	for i, column := range d.Columns {
		if n := all[i] - missing[i]; plain.Columns[i].Type != column.Type && n > 0 {
			result.countAsMissing(c.port, column.Name, n, "outside the declared ones")
		}
	}
	return nil
}

// asText is the domain with its nullable lists as text, and whether there are any.
func asText(d *domain.Domain) (*domain.Domain, bool) {
	plain, found := nullable(d), false
	for i := range plain.Columns {
		if c := &plain.Columns[i]; d.Columns[i].Nullable && c.Type.Coded() {
			c.Type, c.Categories, found = domain.Text, nil, true
		}
	}
	return plain, found
}

// nullsOf counts the missing values of each column of a table, which may have no rows.
func nullsOf(ctx context.Context, t pipeline.Table, columns int) ([]int, error) {
	nulls := make([]int, columns)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range nulls {
			nulls[i] += rec.Column(i).NullN()
		}
	}
	return nulls, nil
}
