// Package artifact holds what a released model is: files under a cover that
// names kind and format, and the rows that can be drawn from it.
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

// Read is the inverse of Pack, by the reader of the kind and format that the cover states. M is Model or Scorer.
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
