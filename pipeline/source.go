package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/pipeline/domain"
)

// SourceKind is a sort of source: the key in `dataset` by which a spec chooses it, and how to make one. New returns a
// pointer to a struct whose fields are settings in `dataset`, Name the first of them, as the settings of
// a stage are fields of its struct.
type SourceKind struct {
	Name string
	New  func() Source
}

// Source is where the rows of a dataset come from. The engine, the plan, the ledger and the release documents know
// sources by this interface alone.
type Source interface {
	// Declare returns what follows from the settings, with every problem at once (schema.Problems; paths are those in
	// `dataset`). It opens nothing.
	Declare(under Declaring) (Declared, error)
	// Open prepares to read the rows. It opens files through o.Files alone, which refuses what Declare does not list.
	Open(ctx context.Context, o Opening) (Opened, error)
}

// Declaring is what else a spec says that bears on its source.
type Declaring struct {
	CSV  *CSV   // dataset.csv; nil: as the defaults say
	Seed uint64 // public
}

// Declared is what is known of a source before it is opened. All of it may be printed to whoever sees the spec.
type Declared struct {
	Name  string // what people call it, without folders, which are nobody's business in a release
	Full  string // tells apart what Name calls alike: the path in the spec, the seed of a generator
	Place string // value under the name of the kind in the JSON of a plan

	// Files are the files that hold rows, as the spec names them; none of rows that lie in no file. None may be declared
	// public, or be another file at the end of a run. A pattern (IsPattern) stands for the files that it matches, which
	// are private in number and name, and must match the same ones at the end. The owner file and, by default, the
	// ledger lie beside the first and are called by its Stem.
	Files []string
	// Home is the path, by Elsewhere, that stands for people's rows which lie in no file: the first of Files does else.
	Home string
	// Where says of rows that lie in no file where their table is, whatever it is called: what is declared under two names
	// is one dataset.
	Where string
	// Invented says what made the rows up, such as "weir's built-in generator `cardio`": they are nobody's, lie in no
	// file, nobody is asked before they are charged, and Opened.Content names them in public. "" where rows are people's.
	Invented string
	// Program reads the rows and could compute some stages, such as DuckDB; "" where weir reads them.
	Program string
	// Stays says that rows never leave Program: what stages make of them is computed there (Table.Pushed), and counted.
	Stays bool
	// Sample is how many rows of those that stay Open of the table gives, drawn by a public hash, for stages that compute
	// nothing but private figures; 0: none.
	Sample int64
	// Domain is what the source itself says of its columns, for a spec without dataset.domain; nil where it says
	// nothing.
	Domain *domain.Domain
	// Reading says what, beside content and csv, decides which rows a reader sees: equal content under another
	// Reading is other rows, with noise and secrets of their own. Nil where nothing does. JSON of it is in recipes.
	Reading any

	Kind string // name of the SourceKind; set by whoever reads the spec
}

// Opening is what a source is opened with.
type Opening struct {
	Files   Files
	CSV     *CSV           // dataset.csv; nil: as the defaults say
	Columns *domain.Domain // to be read, in this order
	Seed    uint64         // public
	// Tell takes what the owner should know of how the rows are read, in words that quote no cell; nil drops it.
	Tell func(note string)
	// Unit is the column that names privacy units, or "". Where a value of it that the domain does not list becomes
	// missing, records have a column more, UnlistedColumn: a name that is lost before rows are counted would let one
	// person fill the table.
	Unit string
	// MaxRows is how many rows of a unit count, 0 where a row is a unit. A source whose rows stay keeps so many of each
	// itself, since nobody behind it can.
	MaxRows int
}

// Table returns the path by which the table is known on this machine, beside which its owner file and ledger lie; "" of
// invented rows.
func (d Declared) Table() string {
	if len(d.Files) > 0 {
		return d.Files[0]
	}
	return d.Home
}

// UnlistedColumn holds a name of each unit whose value is none of its column, and null in all other rows. Two names are
// equal where the cells name one unit, and nowhere else.
const UnlistedColumn = "weir.unlisted"

// Files opens the files that a spec names, each once: every reader of a run sees the same bytes, whatever a name comes
// to mean.
type Files interface {
	// List returns the files that a declared name stands for: itself, or what a pattern matches in byte order of the
	// names, at least one. It is the same list at every call.
	List(name string) ([]string, error)
	Open(name string) (fs.File, error)
	// Digest returns a digest of the uncompressed content.
	Digest(ctx context.Context, name string) (string, error)
	// Unchanged returns an ErrChanged where the content has another digest than Digest.
	Unchanged(ctx context.Context, name string) error
}

// Opened is a source whose rows a run reads.
type Opened interface {
	// Table returns the rows, private and of unbounded stability. Every reading gives the same rows in the same order:
	// the cap of units and the secret draws go by it. A cell that the domain does not cover is an error that quotes no
	// cell.
	Table() Table
	// Content returns what tells these rows from all others: equal for equal rows, and never equal for others. It is
	// private and is kept under a key of the owner's side, but for invented rows, whose id is a hash of it.
	Content(ctx context.Context) (string, error)
	// Unchanged returns an ErrChanged where the rows are no longer the rows of Content. It is asked once all have been
	// read, before anything is released.
	Unchanged(ctx context.Context) error
	// Close frees what Open took; o.Files are not the source's to close.
	Close() error
}

// OnServer is an Opened whose rows a server has.
type OnServer interface {
	// Server asks where the rows lie, and who reads them. It stays on the owner's side.
	Server(ctx context.Context) (Server, error)
}

// HashesRows is an Opened whose rows do not come to weir.
type HashesRows interface {
	// RowHashes returns the least hashes of the distinct rows, at most the given number, ascending, spread over 64 bits.
	// Rows of equal meaning have one hash, whichever database has them and however they are stored there. It has no key,
	// so it stays on the owner's side.
	RowHashes(ctx context.Context, most int) ([]uint64, error)
}

// Server says where a table of a server lies, by whatever connection it is reached.
type Server struct {
	ID    string // of the server and its copies
	Role  string // of the connection
	Place string // of the table among all of all servers
}

// ReadByProgram is an Opened whose rows another program reads.
type ReadByProgram interface {
	// Program returns its name, such as duckdb, and its version.
	Program() (name, version string)
}

// ErrChanged marks data that are no longer what the run read.
var ErrChanged = errors.New("has changed while the run read it; nothing was released, run it again")

// ErrRowsPublic does not say how many rows there are.
var ErrRowsPublic = errors.New("rows_public is not the number of rows of the table; under replace_one it must be, " +
	"and it must be public knowledge")

// MarshalJSON writes the kind and place of the source as the first pair.
func (d DatasetPlan) MarshalJSON() ([]byte, error) {
	type fields DatasetPlan
	source, err := json.Marshal(map[string]string{d.Source.Kind: d.Source.Place})
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(fields(d))
	if err != nil {
		return nil, err
	}
	return append(append(source[:len(source)-1], ','), rest[1:]...), nil
}

// IsPattern reports whether a path names several files: in its last part * stands for any characters, ? for one.
func IsPattern(name string) bool { return strings.ContainsAny(filepath.Base(name), patternSigns) }

const patternSigns = "*?"

// Matches reports whether the last part of a pattern matches the name of a file in its folder. As in a shell, a leading
// point has to be written; files that weir keeps beside tables (.weir- in the name) are never parts of one.
func Matches(pattern, name string) bool {
	pattern = filepath.Base(pattern)
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") || strings.Contains(name, ".weir-") {
		return false
	}
	// path.Match knows classes and escapes too, which a pattern has none of.
	is, err := path.Match(strings.NewReplacer(`\`, `\\`, `[`, `\[`).Replace(pattern), name)
	return is && err == nil
}

// elsewhere ends the name by which a table that lies in no file is known on this machine.
const elsewhere = ".database"

// Elsewhere returns the path that stands for a table which lies in no file, such as one of a database.
func Elsewhere(name string) string { return name + elsewhere }

// IsElsewhere reports whether a path stands for a table that lies in no file.
func IsElsewhere(name string) bool { return strings.HasSuffix(name, elsewhere) }

// Stem returns the path by whose name the owner file and the ledger of a table are called: the file itself, of a
// pattern its text with _ for each run of * and ?, and the bare name of a table that lies in no file. It depends on no
// file, so that one which arrives moves no ledger.
func Stem(name string) string {
	name = strings.TrimSuffix(name, elsewhere)
	if !IsPattern(name) {
		return name
	}
	dir, base := filepath.Split(name)
	return dir + regexp.MustCompile(`[*?]+`).ReplaceAllString(base, "_")
}

// FileFormat is a format in which the program writes tables.
type FileFormat struct {
	Name  string // in specs, and the ending of its files
	Usual bool   // results are written in it where nobody asks for others
}

// UsualFormats stands in Work.Write for the formats that are usual.
const UsualFormats = "usual"

// Formats is a setting: the formats in which a table is written, of those that the program writes.
type Formats struct {
	Names []string
	known []FileFormat
}

// FormatChooser is a stage with a setting of type Formats. The registry tells each new one what the program writes.
type FormatChooser interface {
	Stage
	KnowFormats(known []FileFormat)
}

// FormatsOf returns the setting by default: the usual formats of those that are known.
func FormatsOf(known ...FileFormat) Formats {
	f := Formats{known: known}
	for _, format := range known {
		if format.Usual {
			f.Names = append(f.Names, format.Name)
		}
	}
	return f
}

// None reports whether none is chosen of those that there are.
func (f Formats) None() bool { return len(f.Names) == 0 && len(f.known) > 0 }

// JSONSchema accepts a list of known formats, each once, or none.
func (f Formats) JSONSchema() map[string]any {
	item := map[string]any{"type": "string"}
	if len(f.known) > 0 {
		var names []any
		for _, format := range f.known {
			names = append(names, format.Name)
		}
		item["enum"] = names
	}
	return map[string]any{"type": "array", "items": item, "uniqueItems": true}
}

// UnmarshalYAML reads the names.
func (f *Formats) UnmarshalYAML(n *yaml.Node) error {
	f.Names = nil
	return n.Decode(&f.Names)
}

// MarshalYAML writes the names.
func (f Formats) MarshalYAML() (any, error) { return f.Names, nil }

// MarshalJSON writes the names.
func (f Formats) MarshalJSON() ([]byte, error) { return json.Marshal(f.Names) }

// CSV says how a text file is written. The zero value is RFC 4180 with a header.
type CSV struct {
	Encoding    string           `yaml:"encoding,omitempty" json:"encoding,omitempty" enum:"utf-8|latin-1|windows-1252|utf-16" doc:"Encoding of the file; utf-8 by default. UTF-16 is read in the order of bytes that its mark says, little-endian without one. What is written is UTF-8."`
	Sheet       string           `yaml:"sheet,omitempty" json:"sheet,omitempty" doc:"Sheet of an Excel workbook; needed where there are several."`
	Range       string           `yaml:"range,omitempty" json:"range,omitempty" doc:"First and last cell of the table in a sheet, such as B3:F40, or B3:F for all rows from the third on; the whole sheet by default."`
	Delimiter   string           `yaml:"delimiter" json:"delimiter,omitempty" doc:"One character; a comma by default, a tab for .tsv."`
	Header      *bool            `yaml:"header,omitempty" json:"header,omitempty" doc:"The first line names the columns; true by default."`
	Quote       string           `yaml:"quote,omitempty" json:"quote,omitempty" doc:"One character; the double quote by default."`
	Comment     string           `yaml:"comment,omitempty" json:"comment,omitempty" doc:"Lines that start with this are skipped."`
	Trim        bool             `yaml:"trim,omitempty" json:"trim,omitempty" doc:"Blanks around values are dropped, as in the original UCI files."`
	Missing     domain.Spellings `yaml:"missing,omitempty" json:"missing,omitempty" doc:"Spellings of a missing value in every column, beside the empty cell."`
	StripSuffix string           `yaml:"strip_suffix,omitempty" json:"strip_suffix,omitempty" doc:"Text dropped from the end of the last column, such as the full stop of adult.test."`
	Unknown     string           `yaml:"unknown,omitempty" json:"unknown,omitempty" enum:"error|missing" doc:"What becomes of a value outside the declared categories; error by default. Where they become missing, the column needs nullable: true."`
	Extra       string           `yaml:"extra,omitempty" json:"extra,omitempty" enum:"error|ignore" doc:"What becomes of a column of the file that the domain does not name; error by default."`
}
