package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/files"
	"weir/schema"
)

// subject is what the conformance test opens a source on.
type subject struct {
	settings string            // YAML of the mapping `dataset`
	files    map[string]string // what lies in its folder: CSV of columns, with one line of names
	rows     int
	needs    func() error // what is not there that the source needs; nil: nothing
}

// columns returns the columns of every file of a subject.
func columns() *domain.Domain {
	return &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer},
		{Name: "place", Type: domain.Categorical, Categories: []string{"north", "south"}, Nullable: true},
	}}
}

// trial is one source on its subject.
type trial struct {
	*testing.T
	kind     pipeline.SourceKind
	subject  subject
	declared pipeline.Declared
	files    []string // that declared names stand for
	found    []string
}

func (c *trial) fault(format string, args ...any) {
	c.found = append(c.found, fmt.Sprintf(format, args...))
}

// faults tells in what a source breaks the promises of pipeline.Source; none where it keeps them.
func faults(t *testing.T, kind pipeline.SourceKind, s subject) []string {
	c := &trial{T: t, kind: kind, subject: s}
	c.settings()
	c.declares()
	if len(c.found) > 0 {
		return c.found // whatever else is wrong may follow
	}
	for _, promise := range []func(){c.reads, c.cancels, c.opensWhatItDeclares, c.knowsContent, c.seesChanges,
		c.quotesNothing, c.keepsUnits, c.followsTheSeed} {
		promise()
	}
	return c.found
}

// settings: a source is a struct of settings, chosen by the first.
func (c *trial) settings() {
	shape, err := schema.Of(c.kind.New())
	if err != nil {
		c.fault("settings: %v", err)
		return
	}
	list := shape.Settings()
	if len(list) == 0 || list[0].Path != c.kind.Name {
		c.fault("its first setting is not %s, by which a spec chooses it", c.kind.Name)
	}
	for _, setting := range list {
		if setting.Doc == "" {
			c.fault("the setting %s has no doc", setting.Path)
		}
	}
	if _, err := c.kind.New().Declare(pipeline.Declaring{}); err == nil {
		c.fault("is declared without settings, must be a problem")
	}
}

func (c *trial) source() pipeline.Source {
	c.Helper()
	doc, problems := schema.Parse("dataset", []byte(c.subject.settings))
	s := c.kind.New()
	if len(problems) == 0 {
		problems = doc.Decode("", s)
	}
	if len(problems) > 0 {
		c.Fatal(schema.Join(problems))
	}
	return s
}

// declares: what is known beforehand is named, without folders, and either people's rows in files or nobody's.
func (c *trial) declares() {
	d, err := c.source().Declare(pipeline.Declaring{Seed: 1})
	if err != nil {
		c.fault("is not declared: %v", err)
		return
	}
	c.declared = d
	if d.Name == "" || d.Full == "" || d.Place == "" || strings.ContainsAny(d.Name, `/\`) {
		c.fault("Name %q, Full %q, Place %q: one is empty, or Name has a folder", d.Name, d.Full, d.Place)
	}
	if d.Invented == "" && len(d.Files) == 0 {
		c.fault("people's rows lie in no file, so that nobody would find their ledger")
	}
	if d.Invented != "" && len(d.Files) > 0 {
		c.fault("invented rows lie in the files %v, whose content would be public", d.Files)
	}
	for _, name := range d.Files {
		before := len(c.files)
		for file := range c.subject.files {
			if file == name || pipeline.IsPattern(name) && pipeline.Matches(name, file) {
				c.files = append(c.files, file)
			}
		}
		if len(c.files) == before {
			c.fault("declares the file %q, which is none of the subject", name)
		}
	}
	if _, err := json.Marshal(d.Reading); err != nil {
		c.fault("Reading is no JSON: %v", err)
	}
}

// site is a folder with the files of the subject, each changed by a function, and what was opened of them.
type site struct {
	*files.Held
	dir    string
	opened map[string]bool
}

func (s *site) Open(name string) (fs.File, error) {
	s.opened[name] = true
	return s.Held.Open(name)
}

func (c *trial) site(change func(name, text string) string) *site {
	c.Helper()
	dir := c.TempDir()
	for name, text := range c.subject.files {
		if change != nil {
			text = change(name, text)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			c.Fatal(err)
		}
	}
	folder, err := files.OpenFolder(dir, true)
	if err != nil {
		c.Fatal(err)
	}
	s := &site{Held: files.Hold(folder), dir: dir, opened: map[string]bool{}}
	c.Cleanup(func() { s.Held.Close() })
	return s
}

// on opens the source on a site, for columns of its own or the columns of files.
func (c *trial) on(s *site, change func(*pipeline.Opening)) (pipeline.Opened, error) {
	c.Helper()
	o := pipeline.Opening{Files: s, Columns: columns(), Seed: 1}
	if c.declared.Domain != nil {
		o.Columns = c.declared.Domain
	}
	if change != nil {
		change(&o)
	}
	src, err := c.source().Open(c.Context(), o)
	if err == nil {
		c.Cleanup(func() { src.Close() })
	}
	return src, err
}

// open returns on that must succeed.
func (c *trial) open(s *site, change func(*pipeline.Opening)) pipeline.Opened {
	c.Helper()
	src, err := c.on(s, change)
	if err != nil {
		c.Fatalf("%s: is not opened: %v", c.kind.Name, err)
	}
	return src
}

func (c *trial) content(from pipeline.Opened) string {
	c.Helper()
	text, err := from.Content(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	return text
}

// listed reads a table, a line for each row in the order of its columns.
func listed(ctx context.Context, t pipeline.Table) (lines []string, fields []arrow.Field, err error) {
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return lines, fields, err
		}
		fields = rec.Schema().Fields()
		for i := range int(rec.NumRows()) {
			var line []string
			for _, column := range rec.Columns() {
				line = append(line, column.ValueStr(i))
			}
			lines = append(lines, strings.Join(line, "\t"))
		}
	}
	return lines, fields, nil
}

// reads: every reading gives the same rows in the same order, two at a time too, in the types of the columns.
func (c *trial) reads() {
	src := c.open(c.site(nil), nil)
	table := src.Table()
	if table.Class != pipeline.Private || table.Stability != pipeline.Unbounded() {
		c.fault("gives rows of class %s and stability %s, must be private and unbounded", table.Class, table.Stability)
	}
	first, fields, err := listed(c.Context(), table)
	if err != nil || len(first) != c.subject.rows {
		c.fault("gives %d rows, %v; must be %d", len(first), err, c.subject.rows)
		return
	}
	want := columns()
	if c.declared.Domain != nil {
		want = c.declared.Domain
	}
	if schema := want.ArrowSchema(); !slices.EqualFunc(fields, schema.Fields(), arrow.Field.Equal) {
		c.fault("gives columns %v, must be %v", fields, schema.Fields())
	}
	for range table.Open(c.Context()) { // a reading that ends early, in the midst of which another one begins
		again, _, err := listed(c.Context(), src.Table())
		if err != nil || !slices.Equal(again, first) {
			c.fault("gives other rows, or another order, when it is read again: %v", err)
		}
		break
	}
}

// cancels: a reading ends with its context.
func (c *trial) cancels() {
	ctx, cancel := context.WithCancel(c.Context())
	cancel()
	if _, _, err := listed(ctx, c.open(c.site(nil), nil).Table()); !errors.Is(err, context.Canceled) {
		c.fault("reads on after its context has ended: %v", err)
	}
}

// opensWhatItDeclares: confinement and the watch over public files go by the names that are declared.
func (c *trial) opensWhatItDeclares() {
	s := c.site(nil)
	from := c.open(s, nil)
	listed(c.Context(), from.Table())
	c.content(from)
	if got := slices.Sorted(maps.Keys(s.opened)); !slices.Equal(got, slices.Sorted(slices.Values(c.files))) {
		c.fault("opens the files %v and declares %v", got, c.files)
	}
}

// knowsContent: equal rows have equal content in any folder, and a cell more is another.
func (c *trial) knowsContent() {
	s := c.site(nil)
	from := c.open(s, nil)
	content := c.content(from)
	if content == "" || content != c.content(from) || content != c.content(c.open(c.site(nil), nil)) {
		c.fault("has a content that is empty, or changes while the rows do not")
	}
	for _, file := range c.files {
		other := c.site(func(name, text string) string {
			if name == file {
				return strings.Replace(text, "north", "south", 1)
			}
			return text
		})
		if c.content(c.open(other, nil)) == content {
			c.fault("has the same content with another cell in %s", file)
		}
	}
}

// seesChanges: each file is looked at again; where none is declared there is nothing that could change.
func (c *trial) seesChanges() {
	if from := c.open(c.site(nil), nil); c.content(from) == "" || from.Unchanged(c.Context()) != nil {
		c.fault("takes what is as it was for changed")
	}
	for _, file := range c.files {
		s := c.site(nil)
		src := c.open(s, nil)
		c.content(src)
		text := strings.Replace(c.subject.files[file], "north", "south", 1)
		if err := os.WriteFile(filepath.Join(s.dir, file), []byte(text), 0o600); err != nil {
			c.Fatal(err)
		}
		if err := src.Unchanged(c.Context()); !errors.Is(err, pipeline.ErrChanged) {
			c.fault("takes %s, in which a cell has changed, for unchanged: %v", file, err)
		}
	}
}

// canary is a cell that must be in no error.
const canary = "Anna-4711"

// quotesNothing: a cell that the domain does not cover is an error that does not tell it.
func (c *trial) quotesNothing() {
	for _, file := range c.files {
		s := c.site(func(name, text string) string {
			if name == file {
				return strings.Replace(text, "north", canary, 1)
			}
			return text
		})
		from, err := c.on(s, nil)
		if err == nil {
			_, _, err = listed(c.Context(), from.Table())
		}
		if err == nil || strings.Contains(err.Error(), canary) {
			c.fault("of a cell of %s outside of the domain it says: %v", file, err)
		}
	}
}

// keepsUnits: a name of a unit that the domain does not list becomes missing and is kept beside.
func (c *trial) keepsUnits() {
	for _, file := range c.files {
		s := c.site(func(name, text string) string {
			if name == file {
				return strings.Replace(text, "north", canary, 1)
			}
			return text
		})
		from := c.open(s, func(o *pipeline.Opening) { o.Unit, o.CSV = "place", &pipeline.CSV{Unknown: "missing"} })
		lines, fields, err := listed(c.Context(), from.Table())
		kept := slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, canary) })
		if err != nil || len(fields) == 0 || fields[len(fields)-1].Name != pipeline.UnlistedColumn || !kept {
			c.fault("loses the name of a unit in %s before rows are counted: %v", file, err)
		}
	}
}

// followsTheSeed: invented rows are told apart by all that they are made by.
func (c *trial) followsTheSeed() {
	if c.declared.Invented == "" {
		return
	}
	one := c.open(c.site(nil), nil)
	two := c.open(c.site(nil), func(o *pipeline.Opening) { o.Seed = 2 })
	rows1, _, err1 := listed(c.Context(), one.Table())
	rows2, _, err2 := listed(c.Context(), two.Table())
	declared, err3 := c.source().Declare(pipeline.Declaring{Seed: 2})
	if err := errors.Join(err1, err2, err3); err != nil {
		c.fault("with another seed: %v", err)
	}
	if slices.Equal(rows1, rows2) != (c.content(one) == c.content(two)) || (declared.Full == c.declared.Full) !=
		(c.content(one) == c.content(two)) {
		c.fault("rows, Content and Full do not differ together under two seeds")
	}
}
