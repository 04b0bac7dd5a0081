package experiment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime"
	"weir/runtime/table"
)

// Write writes the table and its page below out, the folder of runs, and returns its own folder, out/NAME/sweeps/ID. ID
// is the time at which the last of its runs began and a digest of which runs they are: the same runs have one folder,
// written again. The figures are of real rows: all of it is the owner's (0700, 0600).
func (t *Table) Write(ctx context.Context, files disk.Disk, out string, began time.Time) (string, error) {
	page, err := Page(t)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(out, t.Name, runtime.ExperimentsDir, tableID(t, began))
	keep := func(name string, write func(io.Writer) error) error {
		return files.Write(filepath.Join(dir, name), 0o600, write)
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
	for name, data := range map[string][]byte{"sweep.json": append(object, '\n'), "sweep.md": t.Markdown(),
		"sweep.html": page} {
		if err := keep(name, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(data)); return err }); err !=
			nil {
			return "", err
		}
	}
	return dir, nil
}

// write keeps the document on several experiments that were run as one, among the tables of experiments, for the owner
// alone; it returns the folder.
func (t *Series) write(files disk.Disk, out string, began time.Time) (string, error) {
	h := sha256.New()
	for _, of := range t.Tables {
		fmt.Fprint(h, tableID(of, began))
	}
	dir := filepath.Join(out, t.Name, runtime.ExperimentsDir, began.UTC().Format("20060102-150405")+fmt.Sprintf("-%x",
		h.Sum(nil)[:4]))
	object, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return "", err
	}
	for name, data := range map[string][]byte{"together.json": append(object, '\n'), "together.md": t.Markdown()} {
		if err := files.Write(filepath.Join(dir, name), 0o600, func(w io.Writer) error {
			_,
				err := w.Write(data)
			return err
		}); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func tableID(t *Table, began time.Time) string {
	h := sha256.New()
	for _, r := range t.Runs {
		fmt.Fprintf(h, "%s\x00%d\x00%s\x00%v\x00", r.Cell, r.Repeat, r.ID, r.Settings)
	}
	fmt.Fprint(h, t.Baseline)
	return began.UTC().Format("20060102-150405") + fmt.Sprintf("-%x", h.Sum(nil)[:4])
}

// flatTable returns a table of an experiment: numbers, counts and text, or all as they are spelled, where readers see
// text.
func flatTable(f Flat, spelled bool) (pipeline.Table, error) {
	types := map[Type]domain.ColumnType{Text: domain.Text, Whole: domain.Integer, Number: domain.Numeric}
	if spelled {
		types = map[Type]domain.ColumnType{Text: domain.Text, Whole: domain.Text, Number: domain.Text}
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

// Type is what the values of a column are.
type Type int

// The types of columns.
const (
	Text Type = iota
	Whole
	Number
)

// Column is one of a flat table; "" is a value that is missing.
type Column struct {
	Name   string
	Type   Type
	Values []string
}

// Flat is a table for files.
type Flat struct {
	Name    string
	Columns []Column
}

// Files returns the flat tables: `table` has a row for each combination and metric, `differences` for
// each combination but the baselines and metric, `runs` for each run and metric, whether the run
// has it or not, `times` for each run and stage.
func (t *Table) Files() []Flat { return []Flat{t.summaries(), t.pairs(), t.singles(), t.times()} }

// flat collects the rows of a table of results, in each of which the columns of settings come first.
type flat struct {
	Flat
	t *Table
}

// begin starts a table with the columns of settings: the cell, where there are cells, and each
// path of the grid and of cells.
func (t *Table) begin(name string, more ...Column) *flat {
	f := &flat{Flat{Name: name}, t}
	if len(t.Cells) > 0 {
		f.Columns = append(f.Columns, Column{Name: "cell"})
	}
	for _, path := range t.paths() {
		f.Columns = append(f.Columns, Column{Name: path})
	}
	f.Columns = append(f.Columns, more...)
	return f
}

func (f *flat) add(cell string, settings map[string]string, more ...string) {
	var row []string
	if len(f.t.Cells) > 0 {
		row = append(row, cell)
	}
	for _, path := range f.t.paths() {
		row = append(row, settings[path])
	}
	for i, x := range append(row, more...) {
		f.Columns[i].Values = append(f.Columns[i].Values, x)
	}
}

// paths returns the paths of the settings that differ, the grid's first.
func (t *Table) paths() []string {
	list := slices.Clone(t.Grid)
	for _, p := range t.Own {
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

func epsilons() []Column {
	return []Column{{Name: "epsilon_published", Type: Number}, {Name: "epsilon_proven", Type: Number},
		{Name: "delta", Type: Number}}
}

func sample() []Column {
	return []Column{{Name: "metric"}, {Name: "n", Type: Whole}, {Name: "mean", Type: Number}, {Name: "sd", Type: Number},
		{Name: "low", Type: Number}, {Name: "high", Type: Number}}
}

func (t *Table) summaries() Flat {
	f := t.begin("table", append(append(epsilons(), Column{Name: "runs", Type: Whole}), sample()...)...)
	for _, r := range t.Rows {
		for _, m := range t.Metrics {
			f.add(r.Cell, r.Settings, append([]string{exact(r.Published), exact(r.Proven), exact(&r.Delta), strconv.Itoa(r.Runs),
				m}, r.Metrics[m].texts()...)...)
		}
	}
	return f.Flat
}

func (t *Table) pairs() Flat {
	f := t.begin("differences", append([]Column{{Name: "against"}}, sample()...)...)
	for _, d := range t.Differences {
		f.add(d.Cell, d.Settings, append([]string{d.Against, d.Metric}, d.texts()...)...)
	}
	return f.Flat
}

func (t *Table) singles() Flat {
	f := t.begin("runs", append([]Column{{Name: "repeat", Type: Whole}, {Name: "public_seed"}, {Name: "run"}},
		append(epsilons(),
			Column{Name: "metric"}, Column{Name: "value", Type: Number})...)...)
	for _, r := range t.Runs {
		for _, m := range t.Metrics {
			value := ""
			if x, has := r.Metrics[m]; has {
				value = exact(&x)
			}
			f.add(r.Cell, r.Settings, strconv.Itoa(r.Repeat), strconv.FormatUint(r.Seed, 10), r.ID, exact(r.Published),
				exact(r.Proven), exact(&r.Delta), m, value)
		}
	}
	return f.Flat
}

func (s Summary) texts() []string {
	return []string{strconv.Itoa(s.N), exact(s.Mean), exact(s.SD), exact(s.Low), exact(s.High)}
}

// exact returns the shortest text that reads back as the number; "" where there is none.
func exact(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', -1, 64)
}

// timesNote says what the seconds are; every table of them says it.
const timesNote = "By the clock, on this machine, with whatever else it did; mean over repeats. A stage that several " +
	"runs share has the\n" +
	"time of the one that did it, one that was continued that of its last part. A row-by-row stage counts where its " +
	"rows are read."

// TimesNote says what the seconds are.
func (t *Table) TimesNote() string { return timesNote }

// mostTimes is how many stages people are shown.
const mostTimes = 6

// Longest returns the stages that took longest in some row, at most mostTimes of them, in the order of
// the plan.
func (t *Table) Longest() []string {
	most := map[string]float64{}
	for _, r := range t.Rows {
		for stage, s := range r.Seconds {
			if s.Mean != nil {
				most[stage] = max(most[stage], *s.Mean)
			}
		}
	}
	list := slices.DeleteFunc(slices.Clone(t.Stages), func(stage string) bool {
		longer := 0
		for _, x := range most {
			if x > most[stage] {
				longer++
			}
		}
		return most[stage] == 0 || longer >= mostTimes
	})
	return list[:min(len(list), mostTimes)]
}

// SecondsOf returns how long a stage took in the runs of a row, in words.
func (r Row) SecondsOf(stage string) string {
	s := r.Seconds[stage]
	if s.Mean == nil {
		return "–"
	}
	return strconv.FormatFloat(*s.Mean, 'f', 2, 64)
}

// seconds returns the seconds that the stage took in the runs that have it.
func seconds(runs []RunRow, stage string) []float64 {
	var list []float64
	for _, r := range runs {
		if x, has := r.Seconds[stage]; has {
			list = append(list, x)
		}
	}
	return list
}

func (t *Table) times() Flat {
	f := t.begin("times", Column{Name: "repeat", Type: Whole}, Column{Name: "run"}, Column{Name: "stage"},
		Column{Name: "seconds", Type: Number})
	for _, r := range t.Runs {
		for _, stage := range t.Stages {
			text := ""
			if x, has := r.Seconds[stage]; has {
				text = exact(&x)
			}
			f.add(r.Cell, r.Settings, strconv.Itoa(r.Repeat), r.ID, stage, text)
		}
	}
	return f.Flat
}
