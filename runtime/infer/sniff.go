package infer

import (
	"context"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/runtime/table"
)

// A guess looks at so many rows, or so many bytes of them.
const (
	sniffRows  = 200
	sniffBytes = 1 << 20
)

// sniff guesses how a text file is written: the delimiter that cuts the first
// rows into most values, always equally many; blanks after it; a comment line at
// the top; a header, where the first row holds no number and some column below
// does.
//
// Where no delimiter cuts all rows evenly, the one that does so for most of them
// is taken, so that the odd row is reported and not the whole file read as one
// column. What given says already, but for the delimiter, is kept.
func sniff(ctx context.Context, fsys table.FS, name string, created *pipeline.CSV) (*pipeline.CSV, error) {
	// a format that says all of it
	if raw, err := table.OpenRaw(ctx, fsys, name, created); err == nil && raw.Stored != nil {
		csv := *created
		return &csv, nil
	}
	csv, rows, err := try(ctx, fsys, name, created, 1)
	if err == nil && (len(rows) == 0 || len(rows[0]) < 2) {
		csv, rows, err = try(ctx, fsys, name, created, 0.75)
	}
	if err != nil {
		return nil, err
	}
	csv.Missing, csv.Trim = created.Missing, created.Trim || spaced(rows)
	if created.Header != nil || headed(rows) {
		csv.Header = created.Header
	}
	return csv, nil
}

// try finds the comment and delimiter that cut at least share of the rows into
// most values; it returns those rows.
func try(ctx context.Context, fsys table.FS, name string, created *pipeline.CSV, share float64) (*pipeline.CSV,
	[][]string, error) {
	best, width := &pipeline.CSV{Encoding: created.Encoding}, 0
	comments := []string{"", "#", "|", "%"}
	if created.Comment != "" {
		comments = []string{created.Comment}
	}
	var rows [][]string
	var failed error
	for _, comment := range comments {
		for _, delimiter := range []string{",", ";", "\t", "|", ":"} {
			if comment == delimiter {
				continue
			}
			no := false
			csv := &pipeline.CSV{Encoding: created.Encoding, Delimiter: delimiter, Comment: comment, Header: &no}
			found, err := peek(ctx, fsys, name, csv)
			if table.IsEmpty(err) {
				return nil, nil, err // whatever the delimiter is
			}
			if err != nil {
				failed = err
				continue
			}
			if cut := even(found, share); len(cut) > 0 && len(cut[0]) > width {
				best, width, rows = csv, len(cut[0]), cut
			}
		}
		if width > 1 {
			break
		}
	}
	if width == 0 {
		return best, nil, failed
	}
	return best, rows, nil
}

// peek cuts the first rows.
func peek(ctx context.Context, fsys table.FS, name string, csv *pipeline.CSV) (rows [][]string, err error) {
	raw, err := table.OpenRaw(ctx, fsys, name, csv)
	if err != nil {
		return nil, err
	}
	if raw.Names != nil { // Parquet and Arrow name their columns
		return [][]string{raw.Names}, nil
	}
	size := 0
	for row, err := range raw.Rows {
		if err != nil {
			return nil, err
		}
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = string(v)
			size += len(v)
		}
		if rows = append(rows, values); len(rows) == sniffRows || size > sniffBytes {
			break
		}
	}
	return rows, nil
}

// even returns the rows of the most common number of values, or nothing where
// they are less than share of all.
func even(rows [][]string, share float64) [][]string {
	byWidth, most := map[int][][]string{}, 0
	for _, r := range rows {
		n := len(r)
		if byWidth[n] = append(byWidth[n], r); len(byWidth[n]) > len(byWidth[most]) {
			most = n
		}
	}
	if float64(len(byWidth[most])) < share*float64(len(rows)) {
		return nil
	}
	return byWidth[most]
}

// spaced reports blanks before every value but the first of a row.
func spaced(rows [][]string) bool {
	for _, r := range rows {
		for _, v := range r[1:] {
			if !strings.HasPrefix(v, " ") {
				return false
			}
		}
	}
	return len(rows) > 0 && len(rows[0]) > 1
}

// headed compares the first row with the others.
func headed(rows [][]string) bool {
	if len(rows) < 2 {
		return true
	}
	for _, v := range rows[0] {
		if isNumber(v) {
			return false
		}
	}
	seen := map[string]bool{}
	for i, v := range rows[0] {
		if columnIsNumeric(rows[1:], i) {
			return true
		}
		seen[v] = true
	}
	for _, r := range rows[1:] {
		for _, v := range r {
			if seen[v] && v != "" {
				return false // a name that is a value too
			}
		}
	}
	return len(seen) == len(rows[0])
}

func columnIsNumeric(rows [][]string, i int) bool {
	for _, r := range rows {
		if !isNumber(r[i]) {
			return false
		}
	}
	return true
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil
}
