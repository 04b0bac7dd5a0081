package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/runtime/codebook"
	"weir/runtime/infer"
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
		Use:   "infer DATA",
		Short: "Draft a domain from a table, every bound marked for a person to decide",
		Long:  inferLong,
		Example: "  weir domain infer patients.csv > patients.domain.yaml\n  weir domain infer adult.data.gz --delimiter , " +
			"--no-header --trim --missing '?'\n  weir domain infer 'part-*.csv' > parts.domain.yaml\n  weir domain infer " +
			"admissions.yaml > admissions.domain.yaml",
		Args: oneTable,
		RunE: func(c *cobra.Command, args []string) error {
			table, err := openNamed(c.Context(), args[0])
			if err != nil {
				return err
			}
			defer table.Close()
			if table.Stays() {
				return outlined(c, s, table, asJSON)
			}
			how, err := table.Dialect(c.Flags().Changed, dialect(&csv, noHeader))
			if err != nil {
				return usage(c, err)
			}
			target, err := infer.PlacePage(table.Place, page)
			if err != nil {
				return err
			}
			found, err := infer.Draft(c.Context(), table.Table, how)
			if err == nil {
				err = writePage(s, target, table.Place, found)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]any{"domain": string(found.Domain), "page": target, "hints": found.Hints})
			}
			if _, err = s.out.Write(found.Domain); err == nil {
				_, err = fmt.Fprintln(s.err, "next: decide what is UNDECIDED, then weir init --from DOMAIN --data DATA")
			}
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
func outlined(c *cobra.Command, s streams, of *infer.Named, asJSON bool) error {
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
	c.Flags().StringVar(encoding, "encoding", "", "encoding of a text file: latin-1, windows-1252, utf-16 or utf-8 (the "+
		"default)")
	c.Flags().StringVar(sheet, "sheet", "", "sheet of an Excel workbook; needed where there are several")
	c.Flags().StringVar(area, "range", "", "first and last cell of the table in a sheet, such as B3:F40 or B3:F "+
		"(default: the whole sheet)")
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
func openNamed(ctx context.Context, arg string) (*infer.Named, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return infer.OpenNamed(ctx, arg, reg)
}

// writePage writes the private page, and says where it is and what helps to decide.
func writePage(s streams, page, data string, found *infer.Drafted) error {
	for _, hint := range found.Hints {
		fmt.Fprintf(s.err, "%s %s\n", paint(s.err, bold, "hint:"), hint)
	}
	if err := infer.WritePage(page, data, found); err != nil || page == "" {
		return err
	}
	_, err := fmt.Fprintf(s.err, "%s %s says of each column what helps to decide; it quotes rows, so it stays with "+
		"them\n", paint(s.err, bold, "note:"), page)
	return err
}

const importLong = `Write a domain from what a publisher says of a table. No data is opened. FILE is one
of

  a Table Schema or Data Package of Frictionless (.json)
  the metadata of SDV (.json)
  a DDI codebook, such as those of IPUMS (.xml)
  what pyreadstat says of a file of SPSS, SAS or Stata (.json; docs/draft.md has
    the line that writes it)
  a dictionary of NIST's excerpts, SDNist (.json)
  SPECS.json in the form of the NIST challenges (data-specs: for each column a
    type enum and a maxval), or a schema of NIST's data excerpts; with codebooks,
    of IPUMS (.cbk, every code with its label), with a line "NAME: text" on a
    column, or a dictionary of NIST's excerpts (.json).

What FILE does not say, such as bounds, is marked UNDECIDED, for a person to
decide; the doc of each column says who lists its values and what is not said. An
entry that its form does not have is an error with its place.

Of data-specs, a column whose codes a codebook lists becomes categorical with
those up to maxval, their labels in its doc where they are few. Without a list, a
maxval of up to 1000 gives the categories 0 to maxval, a larger one an integer
with bounds; a maxval of nines (9999, 999998) is the code for not available.
SEA, METAREA, METAREAD, COUNTY and CITY without a list in a codebook become
categories: private. Of a schema, what no dictionary says is what occurs in the
rows: it is UNDECIDED.

Exit codes: 0 done; 1 a file cannot be read or is damaged; 2 usage.`

// importFlags are the flags of weir domain import.
type importFlags struct {
	codebooks    []string
	out          string
	notAvailable string
	table        string
	asJSON       bool
}

func domainImport(s streams) *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Write a domain from what a publisher says: Frictionless, SDV, DDI, pyreadstat, NIST",
		Long:  importLong,
		Example: "  weir domain import colorado-specs.json --codebook codebook.cbk --out colorado.domain.yaml\n" +
			"  weir domain import colorado-specs.json --codebook codebook.cbk --codebook dictionary.txt --not-available " +
			"sentinel\n" +
			"  weir domain import datapackage.json --table patients > patients.domain.yaml",
		Args: exactly(1, "FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			if form := codebook.Form(f.notAvailable); form != codebook.AsMissing && form != codebook.AsSentinel {
				return usage(c, fmt.Errorf("--not-available: is %q, must be missing or sentinel", f.notAvailable))
			}
			text, err := f.domain(args[0])
			if err != nil {
				return err
			}
			return f.write(s, text)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.codebooks, "codebook", nil, "file that lists codes, or says what columns are (may be "+
		"repeated; the first that lists a column's codes counts)")
	flags.StringVar(&f.table, "table", "", "the table, of a file that describes several (Frictionless resources, tables "+
		"of SDV)")
	flags.StringVar(&f.out, "out", "", "file to write, which must not exist yet (default: stdout)")
	flags.StringVar(&f.notAvailable, "not-available", string(codebook.AsMissing), "the code for not available of an "+
		"amount: missing (a spelling of a missing value), or sentinel (a number, for a stage of kind not_available)")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// domain returns the YAML of what the files say.
func (f *importFlags) domain(file string) ([]byte, error) {
	data, err := readBook(file)
	if err != nil {
		return nil, err
	}
	if len(f.codebooks) == 0 {
		if made, ok, err := codebook.Import(filepath.Base(file), data, f.table); ok || err != nil {
			return f.alone(file, made, err)
		}
	}
	if f.table != "" {
		return nil, fmt.Errorf("--table: is %q, must be left out: %s describes one table", f.table, filepath.Base(file))
	}
	return f.specs(file, data)
}

// readBook reads a file of a publisher behind its byte order mark, which programs of Windows write and JSON has no
// place for (RFC 8259, section 8.1).
func readBook(path string) ([]byte, error) {
	data, err := disk.ReadFile(path, codebook.MaxBytes)
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), err
}

// alone returns the domain of a file that describes columns by itself.
func (f *importFlags) alone(file string, imported *codebook.Imported, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	comment := []string{"By weir domain import of " + filepath.Base(file) +
		": public, if that file is; what it does not say is UNDECIDED."}
	for _, need := range imported.Needs {
		comment = append(comment, "The spec needs: "+need)
	}
	return codebook.YAML(imported.Domain, comment...)
}

// specs returns the domain of specs of columns, and of codebooks.
func (f *importFlags) specs(specs string, data []byte) ([]byte, error) {
	book := codebook.NewBook()
	sources := []string{filepath.Base(specs)}
	for _, path := range f.codebooks {
		data, err := readBook(path)
		if err != nil {
			return nil, err
		}
		if err := book.Add(filepath.Base(path), data); err != nil {
			return nil, err
		}
		sources = append(sources, filepath.Base(path))
	}
	listed, err := codebook.ReadSpecs(filepath.Base(specs), data)
	if err != nil {
		return nil, err
	}
	form := codebook.Form(f.notAvailable)
	d, err := codebook.Domain(filepath.Base(specs), listed, book, form)
	if err != nil {
		return nil, err
	}
	comment := []string{"By weir domain import of " + strings.Join(sources, ", ") + ": public, if those files are."}
	if columns := codebook.Sentinels(listed, d); form == codebook.AsSentinel && len(columns) > 0 {
		comment = append(comment, "The spec needs the stage: {kind: not_available, columns: {"+strings.Join(columns, ", ")+
			"}}")
	}
	return codebook.YAML(d, comment...)
}

// write writes a domain, laid out as weir fmt does.
func (f *importFlags) write(s streams, text []byte) error {
	reg, err := registry()
	if err != nil {
		return err
	}
	formatter, err := spec.NewFormatter(reg)
	if err != nil {
		return err
	}
	if text, err = formatter.Format("domain.yaml", text); err != nil {
		return err
	}
	switch {
	case f.out != "":
		return disk.Disk{}.New(f.out, 0o644, text)
	case f.asJSON:
		return printJSON(s.out, map[string]string{"domain": string(text)})
	}
	_, err = s.out.Write(text)
	return err
}
