package infer

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/dataset"
	"weir/runtime/store"
	"weir/schema"
)

//go:embed template/*
var templates embed.FS

// DefaultEpsilon bounds what one run of a spec tells, where nobody asks for another bound.
const DefaultEpsilon = 1

// Wish says which spec weir init is to write, for which domain and table: its fields are the flags of that command.
type Wish struct {
	From, Data, Target, Unit, Model, Template string
	Encoding, Sheet, Range                    string
	Rows, MaxRows                             int64
	Epsilon                                   float64
}

// Given reports whether a wish says anything of a domain.
func (w Wish) Given() bool { return w != Wish{Epsilon: DefaultEpsilon} }

// beginner writes the spec that is wanted.
type beginner struct {
	Wish
	reg   *pipeline.Registry
	table *Named // that Data names
}

// Begin writes into dir a spec for the wanted domain and what a study has beside it, and returns the paths of the files
// and notes on what is left to do. Nothing that exists is overwritten.
func Begin(ctx context.Context, dir string, wish Wish, reg *pipeline.Registry) (paths, notes []string, err error) {
	f := &beginner{Wish: wish, reg: reg}
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	if f.Data != "" {
		if f.table, err = OpenNamed(ctx, f.Data, reg); err != nil {
			return nil, nil, err
		}
		defer f.table.Close()
	}
	text, err := f.text(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := f.beside(dir)
	if err != nil {
		return nil, nil, err
	}
	paths, err = writeAll(dir, append([]written{{filepath.Join(dir, "pipeline.yaml"), text}}, list...))
	if f.table != nil && f.table.Dataset != nil && f.table.untaken() != "" {
		notes = append(notes, fmt.Sprintf("%s: its %s is not taken; write it into %s where it holds", f.Data,
			f.table.untaken(), paths[0]))
	}
	return paths, slices.Concat(notes, f.outside(dir), f.unignored(dir)), err
}

// Demo writes into dir a study of demo rows, with the schemas that editors read, and returns the paths of the files.
func Demo(dir string, reg *pipeline.Registry) (paths []string, err error) {
	var list []written
	for _, f := range [][2]string{{"pipeline.yaml", "pipeline.yaml"}, {"domain.yaml", "domain.yaml"},
		{"gitignore", ".gitignore"}} {
		data, err := templates.ReadFile("template/" + f[0])
		if err != nil {
			return nil, err
		}
		list = append(list, written{filepath.Join(dir, f[1]), data})
	}
	for _, what := range []string{"pipeline", "domain"} {
		data, err := spec.Published(what, reg)
		if err != nil {
			return nil, err
		}
		list = append(list, written{filepath.Join(dir, what+".schema.json"), data})
	}
	return writeAll(dir, list)
}

// check refuses flags that do not go together.
func (f *beginner) check() error {
	switch {
	case f.From == "":
		return errors.New("--from: is missing, must name the domain that the other flags belong to; draft one by weir " +
			"domain infer DATA")
	case f.Unit != "" && f.MaxRows < 1:
		return fmt.Errorf("--max-rows: is %d, must be the most rows that one value of %s may keep; the others are left "+
			"out by lot", f.MaxRows, f.Unit)
	case f.Unit == "" && f.MaxRows != 0:
		return errors.New("--max-rows: is given without --unit, must go with the column that names whose a row is")
	case !(f.Epsilon > 0):
		return fmt.Errorf("--epsilon: is %g, must be a number above 0", f.Epsilon)
	}
	return f.checkTemplate()
}

// checkTemplate refuses a template that lacks what it is about.
func (f *beginner) checkTemplate() error {
	switch f.Template {
	case "", "registry":
	case "survey":
		if f.Rows == 0 || f.Unit != "" {
			return errors.New("--template: is survey, in which each person answered once and it is published how many did: " +
				"must go with --rows-public and without --unit (registry: their number is private; claims: a person has several " +
				"rows)")
		}
	case "claims":
		if f.Unit == "" {
			return errors.New("--template: is claims, of which a person has several rows: must go with --unit and --max-rows")
		}
	default:
		return fmt.Errorf("--template: is %q, must be survey, registry or claims", f.Template)
	}
	return nil
}

// beside returns the files that a study has beside its spec, those that are not there yet: the editor's schema and what
// git ignores, also in the folder of the data.
func (f *beginner) beside(dir string) (list []written, err error) {
	schema, err := spec.Published("pipeline", f.reg)
	if err != nil {
		return nil, err
	}
	add := func(path string, data []byte) {
		if _, err := os.Lstat(path); err != nil {
			list = append(list, written{path, data})
		}
	}
	add(filepath.Join(dir, "pipeline.schema.json"), schema)
	for folder, table := range f.folders(dir) {
		var private []string
		if table != "" {
			private = append(private, table)
		}
		text, err := ignoredIn(private...)
		if err != nil {
			return nil, err
		}
		add(filepath.Join(folder, ".gitignore"), text)
	}
	slices.SortFunc(list, func(a, b written) int { return strings.Compare(a.path, b.path) })
	return list, nil
}

// folders names the folder of the study and the folder of the data, each with the table that lies there.
func (f *beginner) folders(dir string) map[string]string {
	list := map[string]string{filepath.Clean(dir): ""}
	if f.table != nil {
		name := filepath.Base(f.table.Place)
		if pipeline.IsElsewhere(name) {
			name = ""
		}
		list[oneFolder(dir, filepath.Dir(f.table.Place))] = name
	}
	return list
}

// oneFolder returns the second folder, by the name of the first where they are one.
func oneFolder(a, b string) string {
	if one, err1 := filepath.Abs(a); err1 == nil {
		if two, err2 := filepath.Abs(b); err2 == nil && one == two {
			return filepath.Clean(a)
		}
	}
	return filepath.Clean(b)
}

// outside says which files of the spec lie outside of its folder, to which a review by CI confines a spec.
func (f *beginner) outside(dir string) (notes []string) {
	places := []string{f.From}
	if f.table != nil && !pipeline.IsElsewhere(f.table.Place) {
		places = append(places, f.table.Place)
	}
	var list []string
	for _, place := range places {
		if name := fromFolder(dir, place); !filepath.IsLocal(filepath.FromSlash(name)) {
			list = append(list, name)
		}
	}
	if len(list) > 0 {
		notes = append(notes, fmt.Sprintf("the spec names files outside of its folder, %s: a review by CI and --confine "+
			"refuse that; weir init without DIR writes the spec into this folder", strings.Join(list, " and ")))
	}
	return notes
}

// unignored says which lines a .gitignore that was there already lacks.
func (f *beginner) unignored(dir string) (notes []string) {
	for folder, table := range f.folders(dir) {
		lines := []string{}
		need := [][2]string{{"any" + dataset.OwnerSuffix, "*" + dataset.OwnerSuffix + "*"},
			{"any" + PageSuffix, "*" + PageSuffix + "*"}}
		if table != "" {
			need = append(need, [2]string{table, "/" + table})
		}
		for _, n := range need {
			if file := filepath.Join(folder, n[0]); !disk.Ignored(file) && disk.Staged(file) {
				lines = append(lines, n[1])
			}
		}
		if len(lines) > 0 {
			notes = append(notes, fmt.Sprintf("%s: git would take keys and rows along: add the lines %s",
				filepath.Join(folder, ".gitignore"), strings.Join(lines, ", ")))
		}
	}
	slices.Sort(notes)
	return notes
}

// text returns the spec: what the domain and the flags say, nothing of the rows.
func (f *beginner) text(ctx context.Context, dir string) ([]byte, error) {
	d, err := readDomain(f.From)
	if err != nil {
		return nil, err
	}
	b := &beginning{Name: studyName(cmp.Or(f.Data, f.From)), Rows: f.Rows,
		Epsilon: strconv.FormatFloat(f.Epsilon, 'f', -1, 64), MaxRows: f.MaxRows, Model: f.Model, Template: f.Template,
		Cap:    strconv.FormatFloat(10*f.Epsilon, 'g', -1, 64),
		Domain: fromFolder(dir, f.From), Placeholder: f.Data == "",
		File: fromFolder(dir, cmp.Or(f.Data, filepath.Join(dir, "data.csv")))}
	if err := b.settle(d, f.Unit, f.Target); err != nil {
		return nil, err
	}
	if err := f.locate(ctx, b, dir); err != nil {
		return nil, err
	}
	if err := b.take(dir, d, f.reg); err != nil {
		return nil, err
	}
	return b.yaml()
}

func readDomain(path string) (*domain.Domain, error) {
	data, err := disk.ReadFile(path, schema.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, store.Reason(err))
	}
	return spec.ParseDomain(path, data)
}

// locate says where the table is, and how it is written: what a YAML file says of it, or what its first lines show.
func (f *beginner) locate(ctx context.Context, b *beginning, dir string) (err error) {
	switch {
	case f.table == nil:
	case f.table.Dataset != nil && f.Encoding+f.Sheet+f.Range != "":
		return fmt.Errorf("--data: %s says where the table is, so --encoding, --sheet and --range must be said by its "+
			"dataset.csv", f.Data)
	case f.table.Dataset != nil:
		b.File, b.Stays, b.Sampled = f.table.Name, f.table.Stays(), f.table.Dataset.Declared.Sample > 0
		b.Source, err = f.table.lines(ctx, dir)
	default:
		b.CSV, err = Dialect(ctx, f.table.Table, &pipeline.CSV{Encoding: f.Encoding, Sheet: f.Sheet, Range: f.Range})
	}
	return err
}

// fromFolder returns a path as seen from a folder.
func fromFolder(dir, path string) string {
	from, err1 := filepath.Abs(dir)
	to, err2 := filepath.Abs(path)
	if rel, err := filepath.Rel(from, to); err1 == nil && err2 == nil && err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// studyName names a study after its table or domain.
func studyName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if name == "domain" || !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
		return "study"
	}
	return name
}

// written is a file to be written.
type written struct {
	path string
	data []byte
}

// writeAll writes all files or, where one exists, none.
func writeAll(dir string, list []written) (paths []string, err error) {
	if i, err := os.Stat(dir); err == nil && !i.IsDir() {
		return nil, fmt.Errorf("%s: is a file; init takes the folder to write into (weir domain infer begins with a table)",
			dir)
	}
	var errs []error
	for _, f := range list {
		switch _, err := os.Lstat(f.path); {
		case err == nil:
			errs = append(errs, fmt.Errorf("%s: exists; init overwrites nothing", f.path))
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := (disk.Disk{}).MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range list {
		if err := (disk.Disk{}).New(f.path, 0o644, f.data); err != nil {
			return nil, err
		}
		paths = append(paths, f.path)
	}
	return paths, nil
}

// yaml returns the text of the spec.
func (b *beginning) yaml() ([]byte, error) {
	var out bytes.Buffer
	t, err := beginningTemplate()
	if err != nil {
		return nil, err
	}
	err = t.Execute(&out, b)
	return out.Bytes(), err
}
