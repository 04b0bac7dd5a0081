package infer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime"
	"weir/runtime/files"
	"weir/runtime/source"
	"weir/runtime/store"
	"weir/runtime/table"
	"weir/schema"
)

// Named is a table that a command line names: a file, a pattern of files, or what the dataset of a YAML file says.
type Named struct {
	Table
	// path of its files, or that stands for it (pipeline.Elsewhere): what weir keeps of it lies beside
	Place   string
	Dataset *spec.Dataset // of the YAML file; nil where the command line names files
	folder  string        // of the YAML file
	Close   func()
}

// OpenNamed finds the table that an argument names. The caller closes it.
func OpenNamed(ctx context.Context, arg string, reg *pipeline.Registry) (*Named, error) {
	if source.IsAddress(arg) {
		return nil, runtime.Misused(errors.New("the table: is named by an address, which is not repeated here because it " +
			"may hold a password; must be a file, or a YAML file whose dataset.database says where the table is, with " +
			"connection: service:NAME"))
	}
	if !slices.Contains([]string{".yaml", ".yml"}, strings.ToLower(filepath.Ext(arg))) {
		folder, err := files.OpenFolder(".", false)
		if err != nil {
			return nil, err
		}
		of, err := tableParts(folder, arg)
		return &Named{Table: Files(folder, of), Place: arg, Close: func() {}}, err
	}
	t := &Named{folder: filepath.Dir(arg), Close: func() {}}
	if err := t.read(arg, reg); err != nil {
		return nil, runtime.Misused(err)
	}
	return t, t.open(ctx)
}

// read reads the dataset of a YAML file.
func (t *Named) read(arg string, reg *pipeline.Registry) error {
	data, err := disk.ReadFile(arg, schema.MaxBytes)
	if err != nil {
		return fmt.Errorf("%s: %w", arg, store.Reason(err))
	}
	t.Dataset, err = spec.ParseDataset(arg, data, reg)
	if err == nil && t.Dataset.Declared.Invented != "" {
		err = fmt.Errorf("%s: dataset.%s: is made up by weir, which brings its domain; must be a table in a file or a "+
			"database",
			arg, t.Dataset.Declared.Kind)
	}
	return err
}

// open opens the table of a dataset.
func (t *Named) open(ctx context.Context) error {
	declared := &t.Dataset.Declared
	t.Place = filepath.Join(t.folder, declared.Table())
	folder, err := files.OpenFolder(t.folder, false)
	if err != nil {
		return err
	}
	database, is := t.Dataset.Source.(*source.Database)
	if !is {
		of, err := tableParts(folder, declared.Table())
		t.Table = Files(folder, of)
		t.Guess = func(_ context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) { return csv, nil } // it is said
		return err
	}
	retained := files.Hold(folder)
	names, err := retained.Lists(declared.Files)
	for _, name := range names {
		err = errors.Join(err, retained.Check(name))
	}
	if err != nil {
		retained.Close()
		return err
	}
	opened, err := database.Browse(ctx, pipeline.Opening{Files: retained.Only(declared.Files...), CSV: t.Dataset.CSV})
	if err != nil {
		retained.Close()
		return fmt.Errorf("dataset: %w", err)
	}
	t.Close = func() {
		_ = opened.Close() // all that was asked for has come
		retained.Close()
	}
	t.Table = browsed(opened)
	return nil
}

// browsed returns a database's table as one to draft from. There is nothing to guess: columns are stored in types.
func browsed(subject *source.Browsed) Table {
	return Table{Name: subject.Name(), Source: "database", Asked: subject.Asks(),
		Guess: func(_ context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) { return csv, nil },
		Raw: func(ctx context.Context, _ *pipeline.CSV, tell func(string)) (*table.Raw, error) {
			for _, note := range subject.Notes() {
				if tell != nil {
					tell(note)
				}
			}
			return subject.Raw(ctx)
		},
		Open: func(csv *pipeline.CSV, d *domain.Domain, _ func(string)) (pipeline.Table, error) {
			return subject.Open(csv, d)
		},
	}
}

// Stays reports whether the rows of the table may not be read.
func (t *Named) Stays() bool { return t.Dataset != nil && t.Dataset.Declared.Stays }

// Dialect returns what is said of how the table is written: by flags, or by the YAML file that says where it is.
func (t *Named) Dialect(created func(flag string) bool, flags *pipeline.CSV) (*pipeline.CSV, error) {
	if t.Dataset == nil {
		return flags, nil
	}
	for _, name := range []string{"delimiter", "no-header", "trim", "comment", "encoding", "sheet", "range"} {
		if created(name) {
			return nil, fmt.Errorf("--%s: is given for a table that a YAML file names, must be said by its dataset.csv", name)
		}
	}
	csv := t.CSV()
	csv.Missing = append(csv.Missing, flags.Missing...)
	return csv, nil
}

// CSV returns what the YAML file says of how the table is written.
func (t *Named) CSV() *pipeline.CSV {
	csv := &pipeline.CSV{}
	if t.Dataset.CSV != nil {
		*csv = *t.Dataset.CSV
	}
	csv.Missing = slices.Clone(csv.Missing)
	return csv
}

// lines returns the settings of a spec in a folder that say where the table of the YAML file is and how it is read, in
// YAML. A column that no domain declares is passed over.
func (t *Named) lines(ctx context.Context, dir string) (list []string, err error) {
	var n yaml.Node
	if err := n.Encode(t.Dataset.Source); err != nil {
		return nil, err
	}
	rebased := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return fromFolder(dir, filepath.Join(t.folder, path))
	}
	for _, place := range t.Dataset.Places() {
		if at := settingAt(&n, strings.Split(place, ".")); at != nil {
			at.Value = rebased(at.Value)
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		list = append(list, n.Content[i].Value+": "+inLine(n.Content[i+1]))
	}
	csv, raw := t.CSV(), (*table.Raw)(nil)
	if raw, err = t.Raw(ctx, csv, nil); err != nil {
		return nil, err
	}
	if len(raw.Unread) > 0 && !t.Asked {
		csv.Extra = "ignore"
	}
	if err := n.Encode(csv); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(n.Content, func(key *yaml.Node) bool { return key.Value == "delimiter" }); csv.Delimiter ==
		"" {
		n.Content = slices.Delete(n.Content, i, i+2)
	}
	if len(n.Content) > 0 {
		list = append(list, "csv: "+inLine(&n))
	}
	if t.Dataset.Ledger != "" {
		list = append(list, "ledger: "+quoted(rebased(t.Dataset.Ledger)))
	}
	return list, nil
}

// settingAt finds a setting below a mapping; nil where it is not there.
func settingAt(n *yaml.Node, path []string) *yaml.Node {
	if len(path) == 0 {
		return n
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == path[0] {
			return settingAt(n.Content[i+1], path[1:])
		}
	}
	return nil
}

// inLine writes a value of YAML in one line.
func inLine(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode || n.Kind == yaml.SequenceNode {
		n.Style = yaml.FlowStyle
	}
	text, _ := yaml.Marshal(n) // a node of settings always encodes
	return strings.TrimSpace(string(text))
}

// untaken says which settings of the YAML file no new spec takes from it.
func (t *Named) untaken() string {
	d, list := t.Dataset, []string(nil)
	for _, s := range []struct {
		key string
		set bool
	}{{"version", d.Version != "1"}, {"privacy_unit", d.PrivacyUnit.Column != ""}, {"rows_public", d.RowsPublic > 0},
		{"budget", d.Budget != nil}} {
		if s.set {
			list = append(list, s.key)
		}
	}
	return strings.Join(list, ", ")
}

// tableParts lists the files of a table that a file names, or a pattern.
func tableParts(folder *files.Folder, name string) (table.Parts, error) {
	list, err := folder.List(name)
	return table.Parts{Name: name, Files: list}, err
}

// Table is a table that can be read without a domain, and by one: in files, or in a database.
type Table struct {
	Name   string // what messages call it
	Source string // key of its source in a spec, such as file
	// Guess fills in what csv leaves open of how text is written.
	Guess func(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error)
	// Raw reads without a domain. tell takes what the owner should know, once; nil drops it.
	Raw func(ctx context.Context, csv *pipeline.CSV, tell func(string)) (*table.Raw, error)
	// Open reads by a domain.
	Open func(csv *pipeline.CSV, d *domain.Domain, tell func(string)) (pipeline.Table, error)
	// Asked says that columns which no domain declares are never asked for, so that no spec has to pass over them.
	Asked bool
}

// Files returns a table in files.
func Files(fsys table.FS, subject table.Parts) Table {
	return Table{Name: subject.Name, Source: "file",
		Guess: func(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) {
			return sniff(ctx, fsys, subject.Files[0], csv)
		},
		Raw: func(ctx context.Context, csv *pipeline.CSV, tell func(string)) (*table.Raw, error) {
			told := subject
			told.Tell = tell
			return table.OpenRawParts(ctx, fsys, told, csv)
		},
		Open: func(csv *pipeline.CSV, d *domain.Domain, tell func(string)) (pipeline.Table, error) {
			told := subject
			told.Tell = tell
			return table.OpenParts(fsys, told, csv, d, "")
		}}
}

// settled returns csv, with what it leaves open guessed where it names no delimiter.
func (t Table) settled(ctx context.Context, csv *pipeline.CSV) (*pipeline.CSV, error) {
	if csv == nil {
		csv = &pipeline.CSV{}
	} else if csv.Delimiter != "" {
		return csv, nil
	}
	return t.Guess(ctx, csv)
}

// passing returns csv, which passes over the columns that no domain declares where there are some.
func (t Table) passing(csv *pipeline.CSV, raw *table.Raw) *pipeline.CSV {
	if len(raw.Unread) == 0 || t.Asked {
		return csv
	}
	over := *csv
	over.Extra = "ignore"
	return &over
}
