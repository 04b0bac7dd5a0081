// Package artifact holds what a released model is: files under a cover that
// names kind and format, and the rows that can be drawn from it. The one file in which
// these leave weir, NAME.model, is an archive of runtime/store (archive.go), which
// stages cannot reach: they hand over and are given the files.
package artifact

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
)

// Model is what a stage that learns releases, read back: it draws rows from
// released numbers and public facts alone.
type Model interface {
	// Header describes the rows that Draw gives. The history of its domain is
	// what leads back to the source.
	Header() pipeline.Header
	// Draw starts a sequence of rows. Equal draws give equal rows.
	Draw(Drawing) (Rows, error)
}

// Copier is a model that knows the noise of what it was fitted to, so that models can
// be made that differ from it as one that was paid for anew would.
type Copier interface {
	Model
	Copy(ctx context.Context, rng *rand.Rand, workers int) (Model, error)
}

// Stepper is a model that may hold what its training had released at earlier steps.
type Stepper interface {
	Model
	// At is the model as it was after a step; an error says which there are.
	At(step int) (Model, error)
}

// Drawing says how rows are drawn. Random makes public randomness by purpose. Rows is
// how many will be asked for in all, so that a model can round their counts over the
// whole table; where more are asked for, a model goes on as if it began anew.
//
// Counts that are rounded over rows tie these together: each row has the model's law, and
// among the rows of a drawing that meet a condition the first has not the model's law given it.
// So what keeps some rows and not others asks for Independent ones.
type Drawing struct {
	Argmax      bool // the most probable category instead of a drawn one
	Independent bool // each row by itself: nothing is rounded
	Rows        int64
	Random      func(purpose string) *rand.Rand
}

// Rows gives the next n rows of a drawing, at most BatchRows.
type Rows func(n int) (arrow.Record, error)

// BatchRows is the most rows that are asked for at a time.
const BatchRows = 4096

// Decoder reads models that rows are drawn from.
type Decoder = DecoderOf[Model]

// DecoderOf reads what a kind releases in one format, as an M: a pipeline.Reader. The artifact names kind and
// format, so that a format that no decoder reads is an error that says so.
type DecoderOf[M any] struct {
	Format int
	Decode func(parts map[string][]byte) (M, error)
}

// Reads implements pipeline.Reader.
func (d DecoderOf[M]) Reads() int { return d.Format }

// Scores implements pipeline.Reader.
func (d DecoderOf[M]) Scores() bool {
	_, scores := any(new(M)).(*Scorer)
	return scores
}

// cover is the first file of an artifact, which says what the others are.
type cover struct {
	Kind   string `json:"kind"`
	Format int    `json:"format"`
}

const coverName = "artifact.json"

// Pack makes the artifact of a model of header h from its parts.
func Pack(h pipeline.Header, kind string, format int, parts []pipeline.File) (pipeline.Table, error) {
	slices.SortFunc(parts, func(a, b pipeline.File) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(cover{kind, format})
	if err != nil {
		return pipeline.Table{}, err
	}
	return pipeline.WriteFiles(h, append([]pipeline.File{{Name: coverName, Data: text}}, parts...)), nil
}

// Read undoes Pack, by the reader of the kind and format that the cover states. M is Model or Scorer.
func Read[M any](ctx context.Context, t pipeline.Table, readers pipeline.Readers) (m M, err error) {
	c, parts, err := open(ctx, t)
	if err != nil {
		return m, err
	}
	for _, r := range readers[c.Kind] {
		if d, is := r.(DecoderOf[M]); is && d.Format == c.Format {
			return d.Decode(parts)
		}
	}
	return m, fmt.Errorf("model: is of kind %.60q, format %d, must be one of %s; another version of weir reads it",
		c.Kind, c.Format, strings.Join(formats[M](readers), ", "))
}

// formats lists what is read as an M.
func formats[M any](readers pipeline.Readers) (list []string) {
	for _, kind := range slices.Sorted(maps.Keys(readers)) {
		for _, r := range readers[kind] {
			if d, is := r.(DecoderOf[M]); is {
				list = append(list, fmt.Sprintf("%s (format %d)", kind, d.Format))
			}
		}
	}
	return list
}

// open reads the cover of an artifact, and the parts behind it.
func open(ctx context.Context, t pipeline.Table) (c cover, parts map[string][]byte, err error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return c, nil, err
	}
	if len(files) == 0 || files[0].Name != coverName {
		return c, nil, fmt.Errorf("model: does not begin with %s, must be a released model", coverName)
	}
	if err := json.Unmarshal(files[0].Data, &c); err != nil {
		return c, nil, fmt.Errorf("model: %s: %w", coverName, err)
	}
	parts = map[string][]byte{}
	for _, f := range files[1:] {
		if _, twice := parts[f.Name]; twice {
			return c, nil, fmt.Errorf("model: holds the part %.60q twice", f.Name)
		}
		parts[f.Name] = f.Data
	}
	return c, parts, nil
}

// Bounds on what a model may describe, far beyond what one is trained on; the way
// back to the source costs columns times steps.
const (
	mostColumns = 1 << 16
	mostSteps   = 1 << 10
)

// CheckDomain returns what is wrong with a domain that came with a model, from anyone: its columns and rules
// (domain.Check), and a history of which each step has what it started from. Who undoes a step judges its parameters.
func CheckDomain(d *domain.Domain) error {
	if len(d.History) > mostSteps {
		return fmt.Errorf("domain.history: has %d steps, must have at most %d", len(d.History), mostSteps)
	}
	if err := checkTable("domain", d); err != nil {
		return err
	}
	for i, step := range d.History {
		path := fmt.Sprintf("domain.history[%d].before", i)
		switch {
		case step.Before == nil:
			return fmt.Errorf("%s: is missing, must be the columns before the step", path)
		case len(step.Before.History) > 0:
			return fmt.Errorf("%s.history: is given, must be left out", path)
		}
		if err := checkTable(path, step.Before); err != nil {
			return err
		}
	}
	return nil
}

// checkTable returns the first of the problems of columns and rules: a file of anyone may have thousands.
func checkTable(path string, d *domain.Domain) error {
	if n := len(d.Columns); n > mostColumns {
		return fmt.Errorf("%s.columns: has %d columns, must have at most %d", path, n, mostColumns)
	}
	for _, p := range domain.Check(d, domain.Released) {
		p.Path = path + "." + p.Path
		return p
	}
	return nil
}

// Scorer is what a stage that learns releases, read back to tell how unlike others a row is.
// Rows are scored from released numbers and public facts alone.
type Scorer interface {
	// Domain has the columns that it looks at.
	Domain() *domain.Domain
	// Scores has a number for each row of a frame with those columns, the higher the less
	// the row is like those that were learned from; never NaN. It is a function of
	// the row alone, to the last bit: neither the other rows nor its place have a say.
	Scores(f *columns.Frame) ([]float64, error)
}

// ScorerDecoder reads what rows are scored by.
type ScorerDecoder = DecoderOf[Scorer]

// SameColumns adds a problem, at path, for each column of a detector that a table lacks, or
// that means something else there, and one for all that are encoded. Other columns of the table are nobody's concern.
func SameColumns(table, detector *domain.Domain, path string, ps *schema.Problems) {
	var encoded []string
	for i := range detector.Columns {
		want := &detector.Columns[i]
		c := table.Column(want.Name)
		differs := func(found, accepted string) {
			ps.Add(path, "a table whose column "+want.Name+" "+found, accepted)
		}
		switch {
		case c == nil:
			differs("is missing", "a table with all columns that the detector looks at")
		case c.Encoding != nil:
			encoded = append(encoded, want.Name)
		case c.Type != want.Type:
			differs("is "+string(c.Type), "as the detector has it: "+string(want.Type))
		case !slices.Equal(c.Categories, want.Categories):
			differs("has other categories", "those that the detector has learned")
		case !sameBounds(c, want):
			differs("has other bounds", fmt.Sprintf("as the detector has it: %v", *want.Bounds))
		case c.Nullable && !want.Nullable:
			differs("may be missing", "as the detector has it: never missing")
		}
	}
	if len(encoded) > 0 {
		ps.Add(path, "a table whose "+pipeline.ColumnsAre(encoded)+" encoded", "a table as it is before the stage encode")
	}
}

func sameBounds(a, b *domain.Column) bool {
	return a.Type.Coded() || a.Bounds != nil && b.Bounds != nil && *a.Bounds == *b.Bounds
}
