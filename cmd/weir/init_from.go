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
	"strconv"
	"strings"

	"weir/internal/disk"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime/files"
	"weir/runtime/infer"
	"weir/runtime/store"
	"weir/schema"
)

// initFlags are those of a spec for a domain that there is already.
type initFlags struct {
	from, data, target, encoding, unit string
	rows, maxRows                      int64
	epsilon                            float64
}

// given tells whether a flag is set that says something of a domain.
func (f *initFlags) given() bool { return *f != initFlags{epsilon: defaultEpsilon} }

// defaultEpsilon bounds what one run of a spec tells, where nobody asks for another bound.
const defaultEpsilon = 1

// write puts a spec for the domain beside what init writes elsewhere, and names what it
// has written.
func (f *initFlags) write(ctx context.Context, dir string) ([]string, error) {
	switch {
	case f.from == "":
		return nil, errors.New("--from: is missing, must name the domain that the other flags belong to; draft one by weir domain infer DATA")
	case f.rows < 0:
		return nil, fmt.Errorf("--rows-public: is %d, must be a number of rows that is publicly known", f.rows)
	case f.unit != "" && f.maxRows < 1:
		return nil, fmt.Errorf("--max-rows: is %d, must be the most rows that one value of %s may keep; the others are left out by lot", f.maxRows, f.unit)
	case f.unit == "" && f.maxRows != 0:
		return nil, errors.New("--max-rows: is given without --unit, must go with the column that names whose a row is")
	case !(f.epsilon > 0):
		return nil, fmt.Errorf("--epsilon: is %g, must be a number above 0", f.epsilon)
	}
	text, err := f.text(ctx, dir)
	if err != nil {
		return nil, err
	}
	ignored, err := templates.ReadFile("template/gitignore")
	if err != nil {
		return nil, err
	}
	list := []written{{filepath.Join(dir, "pipeline.yaml"), text}, {filepath.Join(dir, ".gitignore"), ignored}}
	if _, err := os.Lstat(list[1].path); err == nil {
		list = list[:1] // a study that there is already has its own
	}
	return writeAll(dir, list)
}

// text is the spec: what the domain and the flags say, nothing of the rows.
func (f *initFlags) text(ctx context.Context, dir string) ([]byte, error) {
	d, err := readDomain(f.from)
	if err != nil {
		return nil, err
	}
	b := &beginning{Name: studyName(cmp.Or(f.data, f.from)), Rows: f.rows,
		Epsilon: strconv.FormatFloat(f.epsilon, 'f', -1, 64), MaxRows: f.maxRows,
		Domain: fromFolder(dir, f.from), File: fromFolder(dir, cmp.Or(f.data, filepath.Join(dir, "data.csv"))), Placeholder: f.data == ""}
	if err := b.settle(d, f.unit, f.target); err != nil {
		return nil, err
	}
	if f.data != "" {
		if b.CSV, err = dialectOf(ctx, f.data, f.encoding); err != nil {
			return nil, err
		}
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

// dialectOf looks at the first lines of the table, for how it is written alone.
func dialectOf(ctx context.Context, path, encoding string) (string, error) {
	folder, err := files.OpenFolder(".", false)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	return infer.Dialect(ctx, folder, path, encoding)
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
		return nil, fmt.Errorf("%s: is a file; init takes the folder to write into (weir domain infer begins with a table)", dir)
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
