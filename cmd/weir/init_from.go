package main

import (
	"bytes"
	"cmp"
	"context"
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
	"weir/runtime/infer"
	"weir/runtime/store"
	"weir/schema"
)

// initFlags are those of a spec for a domain that there is already.
type initFlags struct {
	from, data, target, unit, model, template string
	encoding, sheet, area                     string
	rows, maxRows                             int64
	epsilon                                   float64

	table *tableArg // that data names, while the spec is written
}

// given tells whether a flag is set that says something of a domain.
func (f *initFlags) given() bool {
	return *f != initFlags{epsilon: defaultEpsilon}
}

// defaultEpsilon bounds what one run of a spec tells, where nobody asks for another bound.
const defaultEpsilon = 1

// write puts a spec for the domain beside what init writes elsewhere, and says what it has written and what is left
// to do.
func (f *initFlags) write(ctx context.Context, dir string) (paths, notes []string, err error) {
	if err := f.check(); err != nil {
		return nil, nil, err
	}
	if f.data != "" {
		if f.table, err = openTable(ctx, f.data); err != nil {
			return nil, nil, err
		}
		defer f.table.close()
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
	if f.table != nil && f.table.dataset != nil && f.table.untaken() != "" {
		notes = append(notes, fmt.Sprintf("%s: its %s is not taken; write it into %s where it holds", f.data, f.table.untaken(), paths[0]))
	}
	return paths, append(notes, f.unignored(dir)...), err
}

// check refuses flags that do not go together.
func (f *initFlags) check() error {
	switch {
	case f.from == "":
		return errors.New("--from: is missing, must name the domain that the other flags belong to; draft one by weir " +
			"domain infer DATA")
	case f.unit != "" && f.maxRows < 1:
		return fmt.Errorf("--max-rows: is %d, must be the most rows that one value of %s may keep; the others are left "+
			"out by lot", f.maxRows, f.unit)
	case f.unit == "" && f.maxRows != 0:
		return errors.New("--max-rows: is given without --unit, must go with the column that names whose a row is")
	case !(f.epsilon > 0):
		return fmt.Errorf("--epsilon: is %g, must be a number above 0", f.epsilon)
	}
	return f.checkTemplate()
}

// checkTemplate refuses a template that lacks what it is about.
func (f *initFlags) checkTemplate() error {
	switch f.template {
	case "", "registry":
	case "survey":
		if f.rows == 0 || f.unit != "" {
			return errors.New("--template: is survey, in which each person answered once and it is published how many did: " +
				"must go with --rows-public and without --unit (registry: their number is private; claims: a person has several " +
				"rows)")
		}
	case "claims":
		if f.unit == "" {
			return errors.New("--template: is claims, of which a person has several rows: must go with --unit and --max-rows")
		}
	default:
		return fmt.Errorf("--template: is %q, must be survey, registry or claims", f.template)
	}
	return nil
}

// beside are the files that a study has beside its spec, those that are not there yet: the editor's schema and what git
// ignores, also in the folder of the data.
func (f *initFlags) beside(dir string) (list []written, err error) {
	schema, err := publishedSchema("pipeline")
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
func (f *initFlags) folders(dir string) map[string]string {
	list := map[string]string{filepath.Clean(dir): ""}
	if f.table != nil {
		name := filepath.Base(f.table.place)
		if pipeline.IsElsewhere(name) {
			name = ""
		}
		list[oneFolder(dir, filepath.Dir(f.table.place))] = name
	}
	return list
}

// oneFolder is the second folder, by the name of the first where they are one.
func oneFolder(a, b string) string {
	if one, err1 := filepath.Abs(a); err1 == nil {
		if two, err2 := filepath.Abs(b); err2 == nil && one == two {
			return filepath.Clean(a)
		}
	}
	return filepath.Clean(b)
}

// unignored says which lines a .gitignore that was there already lacks.
func (f *initFlags) unignored(dir string) (notes []string) {
	for folder, table := range f.folders(dir) {
		lines := []string{}
		need := [][2]string{{"any" + dataset.OwnerSuffix, "*" + dataset.OwnerSuffix + "*"},
			{"any" + infer.PageSuffix, "*" + infer.PageSuffix + "*"}}
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

// text is the spec: what the domain and the flags say, nothing of the rows.
func (f *initFlags) text(ctx context.Context, dir string) ([]byte, error) {
	d, err := readDomain(f.from)
	if err != nil {
		return nil, err
	}
	b := &beginning{Name: studyName(cmp.Or(f.data, f.from)), Rows: f.rows,
		Epsilon: strconv.FormatFloat(f.epsilon, 'f', -1, 64), MaxRows: f.maxRows, Model: f.model, Template: f.template,
		Cap:    strconv.FormatFloat(10*f.epsilon, 'g', -1, 64),
		Domain: fromFolder(dir, f.from), Placeholder: f.data == "",
		File: fromFolder(dir, cmp.Or(f.data, filepath.Join(dir, "data.csv")))}
	if err := b.settle(d, f.unit, f.target); err != nil {
		return nil, err
	}
	if err := f.locate(ctx, b, dir); err != nil {
		return nil, err
	}
	if err := b.take(dir, d); err != nil {
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
func (f *initFlags) locate(ctx context.Context, b *beginning, dir string) (err error) {
	switch {
	case f.table == nil:
	case f.table.dataset != nil && f.encoding+f.sheet+f.area != "":
		return fmt.Errorf("--data: %s says where the table is, so --encoding, --sheet and --range must be said by its dataset.csv", f.data)
	case f.table.dataset != nil:
		b.File, b.Stays, b.Sampled = f.table.Name, f.table.stays(), f.table.dataset.Declared.Sample > 0
		b.Source, err = f.table.lines(ctx, dir)
	default:
		b.CSV, err = infer.Dialect(ctx, f.table.Table, &pipeline.CSV{Encoding: f.encoding, Sheet: f.sheet, Range: f.area})
	}
	return err
}

// fromFolder is a path as seen from a folder.
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
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, f := range list {
		if err := os.WriteFile(f.path, f.data, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, f.path)
	}
	return paths, nil
}

// yaml is the text of the spec.
func (b *beginning) yaml() ([]byte, error) {
	var out bytes.Buffer
	t, err := beginningTemplate()
	if err != nil {
		return nil, err
	}
	err = t.Execute(&out, b)
	return out.Bytes(), err
}
