package pipeline

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline/domain"
	"weir/privacy"
)

// Form is what an artifact is: rows of one Arrow schema, or files (IsFiles).
type Form string

const (
	FormTable    Form = "table"    // rows about units, columns as Domain says
	FormModel    Form = "model"    // the files of a released model
	FormMetrics  Form = "metrics"  // metric, column, note: string; value: float64 (null = undefined, note says why)
	FormFiles    Form = "files"    // a report and its plots
	FormCount    Form = "count"    // as FormFiles, of one file: a released number of rows
	FormAnswers  Form = "answers"  // as FormFiles: released answers to declared questions, as a table and as JSON
	FormDetector Form = "detector" // as FormModel: a released model that scores rows
)

// Terms are the privacy terms of the spec that every header carries: a
// stability without its adjacency means nothing.
type Terms struct {
	Adjacency privacy.Adjacency
	Claims    Claims
	NoPrivacy bool    // epsilon: inf
	Delta     float64 // of the whole plan, a public number
	Unit      Unit    // whose presence is protected; the zero value is each row
}

// Header is what is known of an artifact before any data is read.
type Header struct {
	Form      Form
	Schema    *arrow.Schema  // of rows; nil of files
	Domain    *domain.Domain // nil unless Form is FormTable (a model's is the domain of what it samples)
	Class     Class
	Stability Stability // of a private table
	OwnRows   bool      // of a private table: the rows that change with one unit are rows of that unit
	Rows      int64     // public number of rows; 0 where it is unknown or private
	Shards    int       // shards that the column ShardColumn numbers, whatever the stability says of them; 0: the table has none
	Ruled     bool      // of a model, and of a table that is drawn from it: every row keeps the rules of Domain, whatever was learned
	Scores    bool      // of a model: it tells how probable a row is, so that rows can be scored by it
	Kept      Kept      // of a model: the steps of its training that it can be drawn from
	Terms     Terms
	// Spelled are other spellings of categories in the file that a table was read from, by column, for a further file like
	// it. Cells of the table itself have none, and no table that a stage makes has any.
	Spelled map[string]domain.Aliases
}

// Kept are the steps of a training that a released model holds: every Every-th and the
// Last. The zero value is a model without steps to choose from.
type Kept struct{ Every, Last int }

// Has tells whether the model can be drawn from as it was after that step.
func (k Kept) Has(step int) bool {
	return k.Every > 0 && step >= 1 && step <= k.Last && (step == k.Last || step%k.Every == 0)
}

// Accepted words the steps that can be chosen, for messages.
func (k Kept) Accepted() string {
	if k.Every == 0 {
		return "absent: the model holds its last step alone (release_every of gs_wgan keeps others)"
	}
	return fmt.Sprintf("%d, its last, or a multiple of %d below, its release_every", k.Last, k.Every)
}

// UnitColumns returns the columns of a private table that tell whose a row is: the column of the
// privacy unit, and what was computed from it. A stage that learns or counts them makes a table
// of ids: of no use to anyone, and paid for with the noise of all other columns.
func (h Header) UnitColumns() (columns []domain.Column) {
	if h.Form != FormTable || h.Class != Private || h.Domain == nil {
		return nil
	}
	for _, c := range h.Domain.Columns {
		if c.TellsUnit() || c.Name != "" && c.Name == h.Terms.Unit.Column {
			columns = append(columns, c)
		}
	}
	return columns
}

// ShardColumn is the int32 column that the stage shard adds; it is part of the
// schema, never of the domain.
const ShardColumn = "weir.shard"

// Headers maps port names to headers; a port that takes many inputs has the
// names port.0, port.1 and so on (see All).
type Headers map[string]Header

// TableHeader returns the header of a table of domain d, with its schema.
func TableHeader(d *domain.Domain, like Header) Header {
	like.Spelled = d.Spelled()
	d = d.WithoutAliases()
	like.Form, like.Domain = FormTable, d
	extra := like.Schema
	like.Schema = d.ArrowSchema()
	if extra != nil && extra.HasField(ShardColumn) {
		return like.WithShardColumn(like.Shards)
	}
	like.Shards = 0
	return like
}

// WithShardColumn returns h with the int32 column ShardColumn appended, which numbers
// so many shards.
func (h Header) WithShardColumn(shards int) Header {
	h.Schema, h.Shards = withShard(h.Schema), shards
	return h
}

func withShard(s *arrow.Schema) *arrow.Schema {
	fields := append(append([]arrow.Field(nil), s.Fields()...), arrow.Field{Name: ShardColumn, Type: arrow.PrimitiveTypes.Int32})
	return arrow.NewSchema(fields, nil)
}
