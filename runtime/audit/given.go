package audit

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/runtime/files"
	"weir/runtime/table"
)

// mostGiven is how many units a file of rows may name: each costs a run.
const mostGiven = 100

// ReadUnits reads rows for neighbours from a table with the columns of the dataset, a record for each unit: each row,
// or all rows of one value where a column names units.
func (s *Subject) ReadUnits(ctx context.Context, path string) (units []arrow.Record, err error) {
	folder, err := files.OpenFolder("", false)
	if err != nil {
		return nil, err
	}
	held := files.Hold(folder)
	defer held.Close()
	t, err := table.Open(held, path, s.plan.Spec.Dataset.CSV, s.plan.Spec.Dataset.Columns())
	if err != nil {
		return nil, err
	}
	rows, err := t.Collect(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string][]arrow.Record{}
	var names []string
	for i := range int(rows.NumRows()) {
		name := nameOf(rows, i, s.plan.Spec.Dataset.PrivacyUnit.Column)
		if name == "" {
			name = fmt.Sprint("row ", i)
		}
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], rows.NewSlice(int64(i), int64(i)+1))
	}
	if len(names) == 0 || len(names) > mostGiven {
		return nil, fmt.Errorf("%s: holds rows of %d units, must hold rows of 1 to %d", path, len(names), mostGiven)
	}
	for _, name := range names {
		unit, err := pipeline.FromRecords(pipeline.Header{Schema: rows.Schema()}, byName[name]...).Collect(ctx)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}
