package runtime

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/record/sweep"
	"weir/runtime/table"
)

// SweepsDir lies beside the runs of a name and holds the tables of its experiments.
const SweepsDir = "sweeps"

// WriteSweep writes the table of an experiment below out, which is that of its runs, and returns
// its folder, out/NAME/sweeps/ID. ID is the time at which the last of its runs began and a digest
// of which runs they are: the same runs have one folder, written again. The figures are of real
// rows: all of it is the owner's (0700, 0600). page is its page.
func WriteSweep(ctx context.Context, on disk.Disk, out string, t *sweep.Table, began time.Time, page []byte) (string, error) {
	dir := filepath.Join(out, t.Name, SweepsDir, sweepID(t, began))
	keep := func(name string, write func(io.Writer) error) error {
		return on.Write(filepath.Join(dir, name), 0o600, write)
	}
	for _, f := range t.Files() {
		for _, format := range table.Chosen([]string{pipeline.UsualFormats}) {
			t, err := flatTable(f, format.Text())
			if err != nil {
				return "", err
			}
			name := f.Name + "." + format.Name()
			if err := keep(name, func(w io.Writer) error { return format.Write(ctx, w, name, t, table.Style{}) }); err != nil {
				return "", err
			}
		}
	}
	object, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{"sweep.json": append(object, '\n'), "sweep.md": t.Markdown(), "sweep.html": page} {
		if err := keep(name, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(data)); return err }); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// WriteTogether keeps the document on several experiments that were run as one, among the
// tables of experiments, for the owner alone; it returns the folder.
func WriteTogether(on disk.Disk, out string, t *sweep.Together, began time.Time) (string, error) {
	h := sha256.New()
	for _, of := range t.Tables {
		fmt.Fprint(h, sweepID(of, began))
	}
	dir := filepath.Join(out, t.Name, SweepsDir, began.UTC().Format("20060102-150405")+fmt.Sprintf("-%x", h.Sum(nil)[:4]))
	object, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{"together.json": append(object, '\n'), "together.md": t.Markdown()} {
		if err := on.Write(filepath.Join(dir, name), 0o600, func(w io.Writer) error { _, err := w.Write(data); return err }); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func sweepID(t *sweep.Table, began time.Time) string {
	h := sha256.New()
	for _, r := range t.Runs {
		fmt.Fprintf(h, "%s\x00%d\x00%s\x00%v\x00", r.Cell, r.Repeat, r.ID, r.Settings)
	}
	fmt.Fprint(h, t.Baseline)
	return began.UTC().Format("20060102-150405") + fmt.Sprintf("-%x", h.Sum(nil)[:4])
}

// flatTable is a table of an experiment: numbers, counts and text, or all as they are spelled, where readers see text.
func flatTable(f sweep.Flat, spelled bool) (pipeline.Table, error) {
	types := map[sweep.Type]domain.ColumnType{sweep.Text: domain.Text, sweep.Whole: domain.Integer, sweep.Number: domain.Numeric}
	if spelled {
		types = map[sweep.Type]domain.ColumnType{sweep.Text: domain.Text, sweep.Whole: domain.Text, sweep.Number: domain.Text}
	}
	d := &domain.Domain{}
	for _, c := range f.Columns {
		d.Columns = append(d.Columns, domain.Column{Name: c.Name, Type: types[c.Type], Nullable: true})
	}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Private, Stability: pipeline.Unbounded()})
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for i, c := range f.Columns {
		for _, text := range c.Values {
			if err := appendText(b.Field(i), text); err != nil {
				return pipeline.Table{}, fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
	}
	return pipeline.FromRecords(h, b.NewRecord()), nil
}

// appendText adds a value; "" is missing.
func appendText(b array.Builder, text string) error {
	if text == "" {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.Float64Builder:
		x, err := strconv.ParseFloat(text, 64)
		b.Append(x)
		return err
	case *array.Int64Builder:
		x, err := strconv.ParseInt(text, 10, 64)
		b.Append(x)
		return err
	case *array.StringBuilder:
		b.Append(text)
	}
	return nil
}
