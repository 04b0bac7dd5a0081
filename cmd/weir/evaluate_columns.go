package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/scaffold"
	"weir/schema"
)

// compared is a table that is compared, as it will be opened.
type compared struct {
	*scaffold.Table
	port  string
	csv   *pipeline.CSV
	names []string // of its columns; nil where the table cannot be read, which opening it says
}

// find lists the tables that are compared, each with the delimiter of its own header. The caller closes them, after an
// error too.
func (f *evaluateFlags) find(ctx context.Context, d *domain.Domain) (list []compared, err error) {
	named := [][2]string{{"real", f.real}, {"synthetic", f.synthetic}, {"real_train", f.train}, {"baseline", f.baseline}}
	for _, t := range named {
		if t[1] == "" {
			continue
		}
		of, err := openNamed(ctx, t[1])
		if err != nil {
			return list, err
		}
		c := compared{Table: of, port: t[0], csv: f.csv(t[0])}
		if of.Dataset != nil {
			c.csv = asSaid(of, f.missing)
		}
		c.readHeader(ctx, d)
		list = append(list, c)
	}
	return list, nil
}

// readHeader finds the delimiter that cuts most columns of the domain out of the header: the one that --delimiter names
// (a comma without it, a tab in .tsv), or another one where that finds more.
func (c *compared) readHeader(ctx context.Context, d *domain.Domain) {
	best := -1
	for _, delimiter := range []string{c.csv.Delimiter, ",", ";", "\t", "|"} {
		csv := *c.csv
		csv.Delimiter = delimiter
		raw, err := c.Raw(ctx, &csv, nil)
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
		if raw.Stored != nil || c.Dataset != nil {
			break // no text, which alone has a delimiter, or one that says its own
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
			word := fmt.Sprintf("column %s: is not in %s, so it is left out", c.Name, t.Name)
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
