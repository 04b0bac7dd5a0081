// Package infer drafts a domain from a file. What it reads from the data is
// private, and a draft is no declaration: every bound and every category list
// is marked for a person to decide, and `weir check` refuses it until then.
package infer

import (
	"context"
	"fmt"

	"weir/pipeline"
	"weir/runtime/table"
)

// Draft reads a whole file and writes the YAML of a domain for it, with
// `source: UNDECIDED` wherever bounds or categories come from the data (rules
// W01 and W02). csv nil means that delimiter, header and comments are guessed
// from the first lines; the guess stands at the top of the draft.
func Draft(ctx context.Context, fsys table.FS, name string, csv *pipeline.CSV) ([]byte, error) {
	if csv == nil {
		var err error
		if csv, err = sniff(ctx, fsys, name); err != nil {
			return nil, err
		}
	}
	raw, err := table.OpenRaw(ctx, fsys, name, csv)
	if err != nil {
		return nil, err
	}
	columns, rows, err := profileAll(raw, name)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: holds no rows", name)
	}
	return draft(name, csv, columns), nil
}

// profileAll looks at every row.
func profileAll(raw *table.Raw, name string) ([]*profile, int64, error) {
	var columns []*profile
	rows := int64(0)
	for i, n := range raw.Names {
		columns = append(columns, newProfile(n, i))
	}
	for row, err := range raw.Rows {
		if err != nil {
			return nil, 0, err
		}
		if columns == nil {
			for i := range row {
				columns = append(columns, newProfile("", i))
			}
		}
		if rows++; len(row) != len(columns) {
			return nil, 0, fmt.Errorf("%s: row %d: has %d values where the file has %d columns", name, rows, len(row), len(columns))
		}
		for i, v := range row {
			columns[i].see(v)
		}
	}
	return columns, rows, nil
}
