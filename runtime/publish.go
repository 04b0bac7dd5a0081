package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/record"
	"weir/runtime/store"
	"weir/runtime/table"
)

// build writes the release aside, and the internal files.
func (r *run) build(ctx context.Context) error {
	aside := r.attempt.Dir.Aside()
	if err := r.opts.Disk.RemoveAll(aside); err != nil {
		return err
	}
	if err := r.opts.Disk.MkdirAll(aside, 0o755); err != nil {
		return err
	}
	r.record.Remarks = nil
	for i := range r.plan.Steps {
		if err := r.publishStep(ctx, aside, &r.plan.Steps[i]); err != nil {
			return pipeline.AtStage(r.plan.Steps[i].ID, err)
		}
	}
	r.record.Tables = r.releasedTables()
	return r.documents(aside)
}

// publish gives the release its name, complete or not at all.
func (r *run) publish() error {
	if err := r.opts.Disk.RemoveAll(r.attempt.Dir.Release()); err != nil {
		return err
	}
	return r.opts.Disk.Rename(r.attempt.Dir.Aside(), r.attempt.Dir.Release())
}

// publishStep writes each output where its class lets it go.
func (r *run) publishStep(ctx context.Context, aside string, step *compile.Step) (err error) {
	defer r.guarded(step, &err)
	for _, port := range slices.Sorted(maps.Keys(step.Work.Out)) {
		h := step.Work.Out[port]
		t := r.outputs.tables[pipeline.Ref{Stage: step.ID, Port: port}]
		name := step.ID
		if port != step.First {
			name += "." + port
		}
		file := r.marked(name)
		var err error
		switch {
		case h.Form == pipeline.FormMetrics:
			err = r.collectMetrics(ctx, step.ID, t)
		case learned(h.Form) && h.Class == pipeline.Private: // stays in the cache
		case h.Form == pipeline.FormModel:
			err = r.writeModel(ctx, aside, file+".model", "released model; weir sample draws more rows from it", t)
		case h.Form == pipeline.FormDetector:
			err = r.writeModel(ctx, aside, file+".detector", "released detector of anomalies", t)
		case h.Form.IsFiles() && h.Class == pipeline.Private:
			err = r.unpack(ctx, r.attempt.Dir.Internal(), "internal", t, &r.record.Internal)
		case h.Form.IsFiles():
			err = r.unpack(ctx, aside, "release", t, &r.record.Release)
		case h.Form == pipeline.FormTable && port == step.First && h.Class == pipeline.Private:
			err = r.writeTable(ctx, r.attempt.Dir.Internal(), "internal", file, step, t, &r.record.Internal)
		case h.Form == pipeline.FormTable && port == step.First:
			err = r.writeTable(ctx, aside, "release", file, step, t, &r.record.Release)
		}
		if err != nil {
			return err
		}
	}
	return r.remark(ctx, step)
}

// remark records what a stage says of its released outputs, which are all that it is given; nothing where one of
// them stays internal.
func (r *run) remark(ctx context.Context, step *compile.Step) error {
	if step.Work.Remark == nil {
		return nil
	}
	released := pipeline.Tables{}
	for port, h := range step.Work.Out {
		if h.Class == pipeline.Private {
			return nil
		}
		released[port] = r.outputs.tables[pipeline.Ref{Stage: step.ID, Port: port}]
	}
	text, err := step.Work.Remark(ctx, released)
	if err == nil && text != "" {
		r.record.Remarks = append(r.record.Remarks, record.Remark{Stage: step.ID, Text: text})
	}
	return err
}

// writeModel writes a released model or detector.
func (r *run) writeModel(ctx context.Context, aside, file, what string, t pipeline.Table) error {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return err
	}
	return r.writeFile(aside, "release", file, what, &r.record.Release,
		func(w io.Writer) error { return store.WriteArchive(w, files) })
}

// marked returns the name of a released or internal file; the name of a test's file says so.
func (r *run) marked(name string) string {
	if r.opts.Insecure == nil {
		return name
	}
	return name + ".NOT-PRIVATE"
}

// writeTable writes a table in the formats that its stage asks for, in the
// source's terms.
func (r *run) writeTable(ctx context.Context, dir, folder, name string, step *compile.Step, t pipeline.Table,
	list *[]record.File) error {
	style := table.Style{CSV: r.plan.Spec.Dataset.CSV, Spreadsheet: r.plan.Spec.Write.SpreadsheetSafe}
	for _, format := range table.Chosen(step.Work.Write) {
		file := name + "." + format.Name()
		write := func(w io.Writer) error { return format.Write(ctx, w, file, t, style) }
		if err := r.writeFile(dir, folder, file, record.TableOf(step.ID), list, write); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes dir/name and lists it as under/name.
func (r *run) writeFile(dir, folder, name, what string, list *[]record.File, write func(io.Writer) error) error {
	path := filepath.Join(dir, name)
	mode := os.FileMode(0o644)
	if folder == "internal" {
		mode = 0o600
	}
	if err := r.opts.Disk.Write(path, mode, write); err != nil {
		return err
	}
	digest, size, err := store.DigestFile(path)
	if err != nil {
		return err
	}
	if folder == "internal" {
		digest = "" // rows could be guessed against it
	}
	*list = append(*list, record.File{Path: folder + "/" + name, SHA256: digest, Bytes: size, What: what})
	return nil
}

// documents writes what a reader of the release needs, from public facts alone.
func (r *run) documents(aside string) error {
	write := func(name, what string, text []byte) error {
		return r.writeFile(aside, "release", name, what, &r.record.Release, bytesOf(text))
	}
	domains := r.releasedDomains()
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		text, err := domains[name].YAML()
		if err == nil {
			err = write(name, "what is publicly known of each column", text)
		}
		if err != nil {
			return err
		}
	}
	if err := write("BILL.txt", "what the release cost in words, with the plan and its bill",
		[]byte(record.BillText(r.record))); err != nil {
		return err
	}
	if err := write("DATASHEET.md", "what the tables hold and how they were made",
		[]byte(record.Datasheet(r.record))); err != nil {
		return err
	}
	return write("PRIVACY.md", "what the release promises, in plain words", []byte(record.PrivacyStatement(r.record)))
}

// learned reports whether an artifact is files that are released as one, for weir to read; other files are written as
// they are.
func learned(f pipeline.Form) bool { return f == pipeline.FormModel || f == pipeline.FormDetector }

// unpack writes the files of an artifact of files.
func (r *run) unpack(ctx context.Context, dir, folder string, t pipeline.Table, list *[]record.File) error {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name != filepath.Base(f.Name) {
			return fmt.Errorf("a report file is named %q, must be a plain file name", f.Name)
		}
		name := f.Name
		if folder == "release" {
			stage, rest, _ := strings.Cut(name, ".")
			name = r.marked(stage) + "." + rest
		}
		if err := r.writeFile(dir, folder, name, "", list, bytesOf(f.Data)); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns what writes data.
func bytesOf(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// releasedDomains returns what is publicly known of the columns of the tables that are
// released, by file name, so that each can be read with it: domain.yaml describes the
// first synthetic table, else the first table; a table of other columns has one under
// its own name. Where no table is released, domain.yaml describes the source.
func (r *run) releasedDomains() map[string]*domain.Domain {
	domains, main := map[string]*domain.Domain{}, -1
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		h, released := r.releasedTable(step)
		if !released {
			continue
		}
		if main < 0 || step.Draws && !r.plan.Steps[main].Draws {
			main = i
		}
		domains[r.marked(step.ID)+"."+domainFile] = openDomain(h)
	}
	if main < 0 {
		return map[string]*domain.Domain{domainFile: r.plan.Spec.Dataset.Columns()}
	}
	own := r.marked(r.plan.Steps[main].ID) + "." + domainFile
	first := domains[own]
	maps.DeleteFunc(domains, func(_ string, d *domain.Domain) bool {
		return reflect.DeepEqual(d.Columns, first.Columns) && reflect.DeepEqual(d.Constraints, first.Constraints)
	})
	domains[domainFile] = first
	return domains
}

const domainFile = "domain.yaml"

// openDomain returns the domain of a table as its file has it, without how it was made.
func openDomain(h pipeline.Header) *domain.Domain {
	d := &domain.Domain{Columns: slices.Clone(h.Domain.Columns), Constraints: h.Domain.Constraints}
	for i := range d.Columns {
		c := &d.Columns[i]
		c.Missing = c.Unambiguous(c.Missing)
	}
	return d
}

// releasedTable returns the header of the table that a step writes to release/, if it does: once
// the step is done with the domain that the run came to, before that as planned.
func (r *run) releasedTable(s *compile.Step) (pipeline.Header, bool) {
	h, ok := s.Work.Out[s.First]
	if t, made := r.outputs.tables[pipeline.Ref{Stage: s.ID}]; made {
		h = t.Header
	}
	return h, ok && h.Form == pipeline.FormTable && h.Class != pipeline.Private && (len(s.Work.Write) > 0 ||
		s.Work.Send != nil)
}

// releasedTables lists the tables that the plan writes to release/, from their
// headers: what is publicly known of them.
func (r *run) releasedTables() []record.Table {
	tables := []record.Table{}
	for i := range r.plan.Steps {
		s := &r.plan.Steps[i]
		h, released := r.releasedTable(s)
		if !released {
			continue
		}
		t := record.Table{Stage: s.ID, Rows: h.Rows, Columns: []record.Column{},
			SpreadsheetSafe: r.plan.Spec.Write.SpreadsheetSafe}
		for _, c := range h.Domain.Columns {
			t.Columns = append(t.Columns, record.Column{Name: c.Name, Type: string(c.Type), Format: c.Format, Zone: c.Zone,
				Bounds: c.Bounds, Categories: c.Categories,
				Missing: c.Nullable, Source: c.Source, Doc: c.Doc})
		}
		tables = append(tables, t)
	}
	return tables
}

// StyleOf returns how a run wrote its tables, which the spec in its record says.
func StyleOf(rec *record.Run) (table.Style, error) {
	style := table.Style{CSV: &pipeline.CSV{}}
	var s struct {
		Dataset struct {
			CSV *pipeline.CSV `yaml:"csv"`
		} `yaml:"dataset"`
		Write spec.Write `yaml:"write"`
	}
	if err := yaml.Unmarshal([]byte(rec.Spec), &s); err != nil {
		return style, fmt.Errorf("the spec of the run cannot be read: %w", err)
	}
	style.Spreadsheet = s.Write.SpreadsheetSafe
	if s.Dataset.CSV != nil {
		style.CSV = s.Dataset.CSV
	}
	return style, nil
}

// WriteTable writes a table in the format that the ending of path asks for, whole or not at all.
func WriteTable(ctx context.Context, path string, t pipeline.Table, style table.Style) error {
	format, err := table.WriterOf(path)
	if err != nil {
		return err
	}
	return disk.Disk{}.Write(path, 0o644, func(w io.Writer) error { return format.Write(ctx, w, path, t, style) })
}

// ErrExists marks a file that is there and was not asked to be replaced: it may be
// anybody's, the private table's too.
var ErrExists = errors.New("already exists")

// Replaceable reports whether a table may be written to path: nothing is there,
// or force says to replace what is.
func Replaceable(path string, force bool) error {
	if _, err := os.Lstat(path); err == nil && !force {
		return fmt.Errorf("%s: %w; --force replaces it", path, ErrExists)
	}
	return nil
}
