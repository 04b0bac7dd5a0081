package main

import (
	"context"
	"fmt"
	"slices"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/scaffold"
	"weir/runtime/store"
	"weir/schema"
)

// tables opens the files by the domain and notes what it does not cover.
func (f *evaluateFlags) tables(ctx context.Context, result *evaluation) (pipeline.Tables, error) {
	data, err := disk.ReadFile(f.domain, schema.MaxBytes)
	if err != nil {
		return nil, withCode(exitUsage, fmt.Errorf("%s: %w", f.domain, store.Reason(err)))
	}
	domain, err := spec.ParseDomain(f.domain, data)
	if err != nil {
		return nil, err
	}
	list, err := f.find(ctx, domain)
	result.tables = list
	if err != nil {
		return nil, err
	}
	tables := pipeline.Tables{}
	domain, left, err := common(domain, list)
	if err != nil {
		return nil, err
	}
	result.Notes, result.left = append(result.Notes, left...), left
	for _, t := range list {
		opened, err := t.Open(t.csv, nullable(domain), func(note string) { result.Notes = append(result.Notes, note) })
		if err == nil {
			err = noteMissing(ctx, t.port, opened, domain, result)
		}
		if err == nil {
			err = t.unlisted(ctx, opened, domain, result)
		}
		if err != nil {
			return nil, err
		}
		tables[t.port] = opened
	}
	return tables, nil
}

// csv is how the text file of a table is read: a file that others made is compared all the same. Tables of real rows
// have the encoding of --encoding and lie where --sheet and --range say; what weir writes is UTF-8.
func (f *evaluateFlags) csv(name string) *pipeline.CSV {
	csv := &pipeline.CSV{Delimiter: f.delimiter, Missing: f.missing, Unknown: "missing", Extra: "ignore"}
	if name == "real" || name == "real_train" {
		csv.Encoding, csv.Sheet, csv.Range = f.encoding, f.sheet, f.area
	}
	return csv
}

// asSaid returns how the table of a YAML file is read to be compared: as it says, whatever its cells and columns are.
func asSaid(t *scaffold.Table, missing []string) *pipeline.CSV {
	csv := t.CSV()
	csv.Missing, csv.Unknown, csv.Extra = append(csv.Missing, missing...), "missing", "ignore"
	return csv
}

// nullable lets every column be missing: a file that others made may hold
// values that the domain does not list, and is compared all the same.
func nullable(d *domain.Domain) *domain.Domain {
	open := d.Clone()
	for i := range open.Columns {
		open.Columns[i].Nullable = true
	}
	return open
}

// noteMissing reads a table once and says in which columns values are missing
// that the domain does not allow to be.
func noteMissing(ctx context.Context, name string, t pipeline.Table, d *domain.Domain, result *evaluation) error {
	nulls, rows := make([]int, len(d.Columns)), int64(0)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		rows += rec.NumRows()
		for i := range nulls {
			nulls[i] += rec.Column(i).NullN()
		}
	}
	if rows == 0 {
		result.Notes = append(result.Notes, name+": holds no rows")
	}
	for i, c := range d.Columns {
		if nulls[i] > 0 && !c.Nullable {
			result.countAsMissing(name, c.Name, nulls[i], "missing or outside the declared ones")
		}
	}
	return nil
}

// countAsMissing notes that values of a column count as missing and, once of each table of real rows, which domain knows
// more spellings.
func (e *evaluation) countAsMissing(port, column string, n int, why string) {
	e.Notes = append(e.Notes, fmt.Sprintf("%s: column %s: %d values are %s, and count as missing", port, column, n, why))
	hint := port + ": a released domain has the spellings of released rows alone; where the spec reads others (aliases, " +
		"missing), --domain must be the domain that it names"
	if (port == "real" || port == "real_train") && !slices.Contains(e.Notes, hint) {
		e.Notes = append(e.Notes, hint)
	}
}
