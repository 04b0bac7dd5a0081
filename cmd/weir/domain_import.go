package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/runtime/codebook"
)

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

// importFlags are those of weir domain import.
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
			"  weir domain import colorado-specs.json --codebook codebook.cbk --codebook dictionary.txt --not-available sentinel\n" +
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
	flags.StringArrayVar(&f.codebooks, "codebook", nil, "file that lists codes, or says what columns are (may be repeated; the first that lists a column's codes counts)")
	flags.StringVar(&f.table, "table", "", "the table, of a file that describes several (Frictionless resources, tables of SDV)")
	flags.StringVar(&f.out, "out", "", "file to write, which must not exist yet (default: stdout)")
	flags.StringVar(&f.notAvailable, "not-available", string(codebook.AsMissing), "the code for not available of an amount: missing (a spelling of a missing value), or sentinel (a number, for a stage of kind not_available)")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

// domain is the YAML of what the files say.
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

// readBook reads a file of a publisher behind its byte order mark, which programs of Windows write and JSON has no place
// for (RFC 8259, section 8.1).
func readBook(path string) ([]byte, error) {
	data, err := disk.ReadFile(path, codebook.MaxBytes)
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), err
}

// alone is the domain of a file that describes columns by itself.
func (f *importFlags) alone(file string, made *codebook.Imported, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	comment := []string{"By weir domain import of " + filepath.Base(file) + ": public, if that file is; what it does not say is UNDECIDED."}
	for _, need := range made.Needs {
		comment = append(comment, "The spec needs: "+need)
	}
	return codebook.YAML(made.Domain, comment...)
}

// specs is the domain of specs of columns, and of codebooks.
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
		comment = append(comment, "The spec needs the stage: {kind: not_available, columns: {"+strings.Join(columns, ", ")+"}}")
	}
	return codebook.YAML(d, comment...)
}

func (f *importFlags) write(s streams, text []byte) error {
	switch {
	case f.out != "":
		return disk.Disk{}.New(f.out, 0o644, text)
	case f.asJSON:
		return printJSON(s.out, map[string]string{"domain": string(text)})
	}
	_, err := s.out.Write(text)
	return err
}
