package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/record"
	"weir/runtime/store"
	"weir/runtime/table"
)

// content reads the files of the release: tables by the domain beside them, models by the reader of their kind.
func (j *judge) content(ctx context.Context) error {
	for _, m := range j.release() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		kind, err := j.names.classify(j.Statement.Predicate.Public, m.name)
		if err != nil {
			continue // told already
		}
		switch kind {
		case tableFile:
			j.table(ctx, m)
		case modelFile:
			j.model(ctx, m)
		case artifactFile:
			j.open("what %s%s holds: it is released as stage %s wrote it", releaseDir, m.name, stageOf(m.name))
		}
	}
	return ctx.Err()
}

func stageOf(name string) string {
	stage, _, _ := strings.Cut(name, ".")
	return stage
}

// model reads a model or detector.
func (j *judge) model(ctx context.Context, m member) {
	f, err := m.open()
	if err == nil {
		defer f.Close()
		var files []pipeline.File
		if files, err = store.ReadArchiveAt(f.(io.ReaderAt), m.size); err == nil {
			err = j.Model(ctx, files)
		}
	}
	if err != nil && ctx.Err() == nil {
		j.differs("%s%s: cannot be read as a model: %v", releaseDir, m.name, err)
		return
	}
	j.affirm("%s%s is a model that can be read", releaseDir, m.name)
}

// table holds every cell of a table against the domain beside it.
func (j *judge) table(ctx context.Context, m member) {
	name := releaseDir + m.name
	if j.apostrophes(m.name) {
		j.open("the cells of %s: for spreadsheets, some have an apostrophe in front", name)
		return
	}
	d, err := j.domainOf(m.name)
	if err == nil {
		err = j.within(ctx, m, d)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		j.differs("%s: %v", name, err)
	default:
		j.affirm("%s has the stated rows, and keeps to the types, categories, bounds and missing values of its domain", name)
	}
}

// apostrophes reports whether a file is text that was written for spreadsheets.
func (j *judge) apostrophes(name string) bool {
	for _, t := range j.Statement.Predicate.Tables {
		if t.Stage == stageOf(name) && t.SpreadsheetSafe {
			return isText(name)
		}
	}
	return false
}

// domainOf reads the domain of a table, which must have the columns that the statement lists.
func (j *judge) domainOf(name string) (*domain.Domain, error) {
	text, err := j.text(releaseDir + stageOf(name) + "." + domainName)
	if err == nil && text == nil {
		text, err = j.text(releaseDir + domainName)
	}
	if err != nil {
		return nil, err
	}
	d, err := spec.ParseDomain(domainName, text)
	if err != nil {
		return nil, fmt.Errorf("its domain cannot be read: %w", err)
	}
	for _, t := range j.Statement.Predicate.Tables {
		if t.Stage == stageOf(name) && slices.EqualFunc(t.Columns, d.Columns, alike) {
			return d, nil
		}
	}
	return nil, errors.New("its domain has other columns than " + j.source)
}

// alike reports whether a column is known as the statement lists it.
func alike(stated record.Column, c domain.Column) bool {
	return stated.Name == c.Name && stated.Type == string(c.Type) && stated.Missing == c.Nullable &&
		reflect.DeepEqual(stated.Bounds, c.Bounds) && slices.Equal(stated.Categories, c.Categories)
}

// within reads a table by its domain: the reader holds cells to types, categories and missing values, this to bounds.
func (j *judge) within(ctx context.Context, m member, d *domain.Domain) error {
	t, err := table.Open(one{m}, m.name, j.Statement.Predicate.Text, d)
	if err != nil {
		return err
	}
	stated, rows := j.rows[stageOf(m.name)], int64(0)
	if !stated.known {
		stated = j.stated(stageOf(m.name))
	}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		if rows += rec.NumRows(); stated.known && rows > stated.n {
			return fmt.Errorf("has more rows than %s", stated.by) // and may go on for ever
		}
		for i := range d.Columns {
			if err := inside(&d.Columns[i], rec.Column(i)); err != nil {
				return err
			}
		}
	}
	if stated.known && rows != stated.n {
		return fmt.Errorf("has %d rows, must have as many as %s", rows, stated.by)
	}
	j.rows[stageOf(m.name)] = count{rows, true, releaseDir + m.name}
	return nil
}

// count is how many rows the table of a stage has, and what says so.
type count struct {
	n     int64
	known bool
	by    string
}

// stated returns the number of rows that the statement gives, where it was fixed in advance.
func (j *judge) stated(stage string) (c count) {
	for _, t := range j.Statement.Predicate.Tables {
		if t.Stage == stage && t.Rows > 0 {
			c = count{t.Rows, true, j.source + " says"}
		}
	}
	return c
}

// inside reports whether all values of a column lie within its bounds.
func inside(c *domain.Column, values arrow.Array) error {
	if c.Bounds == nil {
		return nil
	}
	for i := range values.Len() {
		var x float64
		switch v := values.(type) {
		case *array.Float64:
			x = v.Value(i)
		case *array.Int64:
			x = float64(v.Value(i))
		default:
			return nil
		}
		if !values.IsNull(i) && !(x >= c.Bounds[0] && x <= c.Bounds[1]) {
			return fmt.Errorf("column %s: a value lies outside of its bounds", cmp.Or(c.Name, "?"))
		}
	}
	return nil
}

// one is a file system of one member.
type one struct{ member }

// Open implements table.FS.
func (o one) Open(name string) (fs.File, error) {
	if name != o.name {
		return nil, fs.ErrNotExist
	}
	return o.open()
}
