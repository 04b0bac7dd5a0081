package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/runtime/source"
)

// wrong is a File that breaks one promise of pipeline.Source.
type wrong struct {
	source.File `yaml:",inline"`
	declare     func(*pipeline.Declared)
	opening     func(*pipeline.Opening)
	twist       func(pipeline.Opened, pipeline.Opening) twisted
}

func (w *wrong) Declare(under pipeline.Declaring) (pipeline.Declared, error) {
	d, err := w.File.Declare(under)
	if w.declare != nil && err == nil {
		w.declare(&d)
	}
	return d, err
}

func (w *wrong) Open(ctx context.Context, o pipeline.Opening) (pipeline.Opened, error) {
	if w.opening != nil {
		w.opening(&o)
	}
	src, err := w.File.Open(ctx, o)
	if w.twist == nil || err != nil {
		return src, err
	}
	t := w.twist(src, o)
	t.Opened = src
	return t, nil
}

// twisted answers otherwise than what it opened, where it has a function.
type twisted struct {
	pipeline.Opened
	open      func(context.Context) pipeline.Batches
	public    bool
	content   func() string
	unchanged func() error
}

func (t twisted) Table() pipeline.Table {
	table := t.Opened.Table()
	if t.open != nil {
		table.Open = t.open
	}
	if t.public {
		table.Class = pipeline.Public
	}
	return table
}

func (t twisted) Content(ctx context.Context) (string, error) {
	if t.content != nil {
		return t.content(), nil
	}
	return t.Opened.Content(ctx)
}

func (t twisted) Unchanged(ctx context.Context) error {
	if t.unchanged != nil {
		return t.unchanged()
	}
	return t.Opened.Unchanged(ctx)
}

// wrongs lists broken sources by what the conformance test must say of them.
func wrongs() map[string]wrong {
	counted, read := 0, 0
	twist := func(f func(pipeline.Opened, pipeline.Opening) twisted) wrong { return wrong{twist: f} }
	return map[string]wrong{
		"Name has a folder":         {declare: func(d *pipeline.Declared) { d.Name = "home/ann/a.csv" }},
		"would be public":           {declare: func(d *pipeline.Declared) { d.Invented = "a test" }},
		"lie in no file":            {declare: func(d *pipeline.Declared) { d.Files = nil }},
		"none of the subject":       {declare: func(d *pipeline.Declared) { d.Files = append(d.Files, "c.csv") }},
		"Reading is no JSON":        {declare: func(d *pipeline.Declared) { d.Reading = func() {} }},
		"opens the files [a.csv] a": {declare: func(d *pipeline.Declared) { d.Files = append(d.Files, "b.csv") }},
		"opens the files [a.csv b":  {opening: func(o *pipeline.Opening) { o.Files.Open("b.csv") }},
		"loses the name of a unit":  {opening: func(o *pipeline.Opening) { o.Unit = "" }},
		"must be private and unbounded": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{public: true}
		}),
		"another order": twist(func(src pipeline.Opened, _ pipeline.Opening) twisted {
			return twisted{open: func(ctx context.Context) pipeline.Batches {
				read++
				return shortened(ctx, src.Table(), read == 3)
			}}
		}),
		"reads on after its context": twist(func(from pipeline.Opened, _ pipeline.Opening) twisted {
			return twisted{open: func(context.Context) pipeline.Batches { return from.Table().Open(context.Background()) }}
		}),
		"it says: ": twist(func(from pipeline.Opened, _ pipeline.Opening) twisted {
			return twisted{open: func(ctx context.Context) pipeline.Batches { return talking(ctx, from.Table()) }}
		}),
		"same content with another cell": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{content: func() string { return "a.csv" }}
		}),
		"a content that is empty": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{content: func() string { return "" }}
		}),
		"or changes while the rows do not": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{content: func() string { counted++; return fmt.Sprint(counted) }}
		}),
		"has changed, for unchanged": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{unchanged: func() error { return nil }}
		}),
		"as it was for changed": twist(func(pipeline.Opened, pipeline.Opening) twisted {
			return twisted{unchanged: func() error { return pipeline.ErrChanged }}
		}),
		"do not differ together": {
			declare: func(d *pipeline.Declared) { d.Invented, d.Files = "a test", nil },
			twist: func(_ pipeline.Opened, o pipeline.Opening) twisted {
				return twisted{content: func() string { return fmt.Sprint(o.Seed) }}
			},
		},
	}
}

// shortened gives the rows of a table, or all but the first.
func shortened(ctx context.Context, t pipeline.Table, short bool) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for rec, err := range t.Open(ctx) {
			if err == nil && short {
				rec = rec.NewSlice(1, rec.NumRows())
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// talking gives the rows of a table, and quotes a cell in its errors.
func talking(ctx context.Context, t pipeline.Table) pipeline.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for rec, err := range t.Open(ctx) {
			if err != nil {
				err = fmt.Errorf("%s: %w", canary, err)
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// TestConformanceFindsWrongSources: the test is of use.
func TestConformanceFindsWrongSources(t *testing.T) {
	enabled := subject{settings: "{file: a.csv}", files: map[string]string{"a.csv": rows(0, 300), "b.csv": rows(300, 400)},
		rows: 300}
	for want, w := range wrongs() {
		kind := pipeline.SourceKind{Name: "file", New: func() pipeline.Source {
			fresh := w
			fresh.File = source.File{}
			return &fresh
		}}
		if found := faults(t, kind, enabled); !slices.ContainsFunc(found, func(fault string) bool {
			return strings.Contains(fault,
				want)
		}) {
			t.Errorf("%q is not found; found were %q", want, found)
		}
	}
	named := pipeline.SourceKind{Name: "path", New: source.Kinds()[0].New}
	if found := faults(t, named, enabled); len(found) != 1 || !strings.Contains(found[0],
		"its first setting is not path") {
		t.Errorf("another first setting: found were %q", found)
	}
}
