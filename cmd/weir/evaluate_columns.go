package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/files"
	"weir/runtime/table"
	"weir/schema"
)

// compared is a file that is compared, as it will be opened.
type compared struct {
	port  string
	of    table.Parts
	csv   *pipeline.CSV
	names []string // of its columns; nil where the file cannot be read, which opening it says
}

// files lists the files that are compared, each with the delimiter of its own header.
func (f *evaluateFlags) files(ctx context.Context, folder *files.Folder, d *domain.Domain) (list []compared, err error) {
	named := [][2]string{{"real", f.real}, {"synthetic", f.synthetic}, {"real_train", f.train}, {"baseline", f.baseline}}
	for _, t := range named {
		if t[1] == "" {
			continue
		}
		c := compared{port: t[0], csv: f.csv(t[0])}
		if c.of, err = tableParts(folder, t[1]); err != nil {
			return nil, err
		}
		c.readHeader(ctx, folder, d)
		list = append(list, c)
	}
	return list, nil
}

// readHeader finds the delimiter that cuts most columns of the domain out of the header: the one that --delimiter names
// (a comma without it, a tab in .tsv), or another one where that finds more.
func (c *compared) readHeader(ctx context.Context, folder *files.Folder, d *domain.Domain) {
	best := -1
	for _, delimiter := range []string{c.csv.Delimiter, ",", ";", "\t", "|"} {
		csv := *c.csv
		csv.Delimiter = delimiter
		raw, err := table.OpenRaw(ctx, folder, c.of.Files[0], &csv)
		if err != nil {
			continue
		}
		found := 0
		for _, name := range d.Names() {
			if slices.Contains(raw.Names, name) {
				found++
			}
		}
		if found > best {
			best, c.csv, c.names = found, &csv, raw.Names
		}
		if raw.Stored != nil {
			break // no text: it has no delimiter
		}
	}
}

// common is the domain without the columns that a file lacks, with a word on each; an error where no column is left.
func common(d *domain.Domain, list []compared) (*domain.Domain, []string, error) {
	var gone, words []string
	for _, c := range d.Columns {
		for _, t := range list {
			if t.names == nil || slices.Contains(t.names, c.Name) {
				continue
			}
			gone = append(gone, c.Name)
			word := fmt.Sprintf("column %s: is not in %s, so it is left out", c.Name, t.of.Name)
			if near := schema.Suggest(c.Name, t.names); near != "" {
				word += " (did you mean " + near + "?)"
			}
			words = append(words, word)
			break
		}
	}
	out := d.DeepClone()
	out.Lift(gone...)
	absent := func(c domain.Column) bool { return slices.Contains(gone, c.Name) }
	out.Columns = slices.DeleteFunc(out.Columns, absent)
	if len(out.Columns) == 0 {
		return nil, nil, withCode(exitUsage, fmt.Errorf("the files have no column of the domain in common: %s",
			strings.Join(words, "; ")))
	}
	return out, words, nil
}
