package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/words"
	"weir/runtime/infer"
	"weir/runtime/scaffold"
)

func domainCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "domain",
		Short:   "Draft what is publicly known about the columns of a table",
		Example: "  weir domain infer patients.csv > patients.domain.yaml",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("command: is missing, must be infer or import"))
		},
	}
	c.AddCommand(domainInfer(s), domainImport(s))
	return c
}

// oneTable takes one argument, and says what a shell has done where there are several.
func oneTable(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return exactly(1, "DATA")(c, args)
	}
	return usage(c, fmt.Errorf("%s: is given %s, must be given 1 DATA; a pattern for several files is put in quotes, "+
		"which keep the shell away: '*.csv'", c.CommandPath(), words.Plural(len(args), "argument")))
}

const inferLong = `Read a table and draft its domain: names, types, and, marked UNDECIDED, the bounds,
categories and rules between columns found in the data. Those are private until
a person has replaced them with what is publicly known; a spec with an undecided
domain does not run (rules W01 and W02). The draft itself is private until then.

DATA is a file, a pattern in quotes, or a YAML file whose dataset says where the
table is, as that of a spec does: dataset: {database: {engine: postgres, ...}}.
Where that says rows: stay, no row is read: the draft has the names and stored types
of the columns, and bounds and categories are yours to write.

A private page beside the table, DATA.weir-private.md, helps to decide: how full
each column is, how many values it has, where 99 % of rows lie, which values few
rows have. It quotes rows: it stays with them for good, readable by its owner
alone. A .gitignore that names it, the data and their keys is written where none
is. Where one does not name the page, inside a git work tree, nothing is written.

Exit codes: 0 done; 1 the table cannot be read, or the page not be written;
2 usage.`

func domainInfer(s streams) *cobra.Command {
	var csv pipeline.CSV
	var noHeader, asJSON bool
	var page string
	c := &cobra.Command{
		Use:     "infer DATA",
		Short:   "Draft a domain from a table, every bound marked for a person to decide",
		Long:    inferLong,
		Example: "  weir domain infer patients.csv > patients.domain.yaml\n  weir domain infer adult.data.gz --delimiter , --no-header --trim --missing '?'\n  weir domain infer 'part-*.csv' > parts.domain.yaml\n  weir domain infer admissions.yaml > admissions.domain.yaml",
		Args:    oneTable,
		RunE: func(c *cobra.Command, args []string) error {
			of, err := openNamed(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer of.Close()
			if of.Stays() {
				return outlined(c, s, of, asJSON)
			}
			how, err := of.Dialect(c.Flags().Changed, dialect(&csv, noHeader))
			if err != nil {
				return usage(c, err)
			}
			to, err := scaffold.PlacePage(of.Place, page)
			if err != nil {
				return err
			}
			found, err := infer.Draft(c.Context(), of.Table, how)
			if err == nil {
				err = writePage(s, to, of.Place, found)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"domain": string(found.Domain), "page": to, "hints": found.Hints})
			}
			_, err = s.out.Write(found.Domain)
			return err
		},
	}
	flags := c.Flags()
	fileFlags(c, &csv.Encoding, &csv.Sheet, &csv.Range)
	flags.StringVar(&csv.Delimiter, "delimiter", "", "delimiter of a text file (default: detected)")
	flags.BoolVar(&noHeader, "no-header", false, "the first line holds values, not names")
	flags.BoolVar(&csv.Trim, "trim", false, "trim spaces around values")
	flags.StringVar(&csv.Comment, "comment", "", "skip lines that start with this")
	flags.StringSliceVar((*[]string)(&csv.Missing), "missing", nil, "spellings of a missing value, beside the empty cell")
	flags.StringVar(&page, "page", "", "file of the private page; none: no page (default: DATA"+infer.PageSuffix+")")
	flags.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// outlined prints what is known of a table without its rows, which stay in a database. Nothing of it is private.
func outlined(c *cobra.Command, s streams, of *scaffold.Table, asJSON bool) error {
	found, err := infer.Outline(c.Context(), of.Table)
	if err != nil {
		return err
	}
	for _, hint := range found.Hints {
		fmt.Fprintf(s.err, "%s %s\n", paint(s.err, bold, "hint:"), hint)
	}
	if asJSON {
		return printJSON(s.out, map[string]any{"domain": string(found.Domain), "page": "", "hints": found.Hints})
	}
	_, err = s.out.Write(found.Domain)
	return err
}

// fileFlags adds what a person has to say of a file that cannot be seen in it.
func fileFlags(c *cobra.Command, encoding, sheet, area *string) {
	c.Flags().StringVar(encoding, "encoding", "", "encoding of a text file: latin-1, windows-1252, utf-16 or utf-8 (the default)")
	c.Flags().StringVar(sheet, "sheet", "", "sheet of an Excel workbook; needed where there are several")
	c.Flags().StringVar(area, "range", "", "first and last cell of the table in a sheet, such as B3:F40 or B3:F (default: the whole sheet)")
}

// dialect leaves to be guessed how the file is written, as far as no flag says it.
func dialect(csv *pipeline.CSV, noHeader bool) *pipeline.CSV {
	if noHeader || csv.Delimiter != "" {
		header := !noHeader
		csv.Header = &header
	}
	return csv
}

// openNamed opens the table that an argument names; the caller closes it.
func openNamed(ctx context.Context, arg string) (*scaffold.Table, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return scaffold.OpenTable(ctx, arg, reg)
}

// writePage writes the private page, and says where it is and what helps to decide.
func writePage(s streams, page, data string, found *infer.Drafted) error {
	for _, hint := range found.Hints {
		fmt.Fprintf(s.err, "%s %s\n", paint(s.err, bold, "hint:"), hint)
	}
	if err := scaffold.WritePage(page, data, found); err != nil || page == "" {
		return err
	}
	_, err := fmt.Fprintf(s.err, "%s %s says of each column what helps to decide; it quotes rows, so it stays with "+
		"them\n", paint(s.err, bold, "note:"), page)
	return err
}
