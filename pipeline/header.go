package pipeline

import (
	"fmt"
	"maps"
	"slices"

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
	// shards that the column ShardColumn numbers, whatever the stability says of them; 0: the table has none
	Shards int
	// of a model, and of a table that is drawn from it: every row keeps the rules of Domain, whatever was learned
	Ruled  bool
	Scores bool // of a model: it tells how probable a row is, so that rows can be scored by it
	Kept   Kept // of a model: the steps of its training that it can be drawn from
	Terms  Terms
	// Spelled are other spellings of categories in the file that a table was read from, by column, for a further file like
	// it. Cells of the table itself have none, and no table that a stage makes has any.
	Spelled map[string]domain.Aliases
}

// Kept are the steps of a training that a released model holds: every Every-th and the
// Last. The zero value is a model without steps to choose from.
type Kept struct{ Every, Last int }

// Has reports whether the model can be drawn from as it was after a step of its training.
func (k Kept) Has(step int) bool {
	return k.Every > 0 && step >= 1 && step <= k.Last && (step == k.Last || step%k.Every == 0)
}

// Accepted words the steps that can be chosen, for messages.
func (k Kept) Accepted() string {
	if k.Every == 0 {
		return "absent: the model holds its last step alone (release_every of gs_wgan keeps others)"
	}
	return fmt.Sprintf("%d, its last, or a multiple of %d, its release_every, below that", k.Last, k.Every)
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
	fields := append(append([]arrow.Field(nil), s.Fields()...), arrow.Field{Name: ShardColumn,
		Type: arrow.PrimitiveTypes.Int32})
	return arrow.NewSchema(fields, nil)
}

// LateColumns lists the columns whose bounds or categories a stage of the same run
// releases: a plan is made without them (docs/design/released-domain.md).
func (h Header) LateColumns() []string {
	if h.Domain == nil {
		return nil
	}
	var names []string
	for _, c := range h.Domain.Columns {
		if c.Late {
			names = append(names, c.Name)
		}
	}
	return names
}

// LateColumns lists the late columns of all headers, each once, in the order of ports.
func (h Headers) LateColumns() []string {
	var names []string
	seen := map[string]bool{}
	for _, port := range slices.Sorted(maps.Keys(h)) {
		for _, name := range h[port].LateColumns() {
			if !seen[name] {
				seen[name], names = true, append(names, name)
			}
		}
	}
	return names
}

// Filled returns a planned header with the domain that the run came to: the planned one, with
// every late column as it was released. A header without late columns stays as planned,
// whatever the run says. That a column names the unit is the plan's to say.
func (h Header) Filled(released *domain.Domain) (Header, error) {
	if len(h.LateColumns()) == 0 {
		return h, nil
	}
	if released == nil || len(released.Columns) != len(h.Domain.Columns) {
		return h, fmt.Errorf("the released domain has other columns than planned")
	}
	d := released.DeepClone()
	for i := range d.Columns {
		current, planned := &d.Columns[i], h.Domain.Columns[i]
		if current.Late || current.Name != planned.Name || current.ArrowType().ID() != planned.ArrowType().ID() {
			return h, fmt.Errorf("column %s: was not released as planned", planned.Name)
		}
		if current.OfUnit, current.FromUnit = planned.OfUnit, planned.FromUnit; planned.Late {
			current.Source = planned.Source
		}
	}
	h.Domain = d
	return h, nil
}

// Spread says where in a table one changed privacy unit of the source can show.
type Spread string

const (
	SpreadRows      Spread = "rows"      // in at most N rows
	SpreadShards    Spread = "shards"    // inside one of N disjoint shards, by any amount
	SpreadUnbounded Spread = "unbounded" // anywhere
)

// Stability bounds what changes in a private table when one privacy unit of the
// source changes (docs/design.md section 3). N is the number of rows, or of shards.
type Stability struct {
	Spread Spread `json:"spread"`
	N      int    `json:"n,omitempty"`
}

// Rows returns rows(c): at most c rows are added, removed or replaced.
func Rows(c int) Stability { return Stability{SpreadRows, c} }

// Shards returns shards(k): all change is inside one of k disjoint shards.
func Shards(k int) Stability { return Stability{SpreadShards, k} }

// Unbounded says nothing about the change.
func Unbounded() Stability { return Stability{Spread: SpreadUnbounded} }

// Bounded reports whether the change has a bound: so many rows, or one shard.
func (s Stability) Bounded() bool { return s.Spread == SpreadRows || s.Spread == SpreadShards }

// String returns rows(1), shards(1500) or unbounded.
func (s Stability) String() string {
	if s.Spread == SpreadUnbounded || s.Spread == "" {
		return string(SpreadUnbounded)
	}
	return fmt.Sprintf("%s(%d)", s.Spread, s.N)
}

// AcrossRows returns the stability after a computation that mixes rows: inside a
// shard it stays there, across the whole table anything may change.
func (s Stability) AcrossRows(withinShard bool) Stability {
	if withinShard && s.Spread == SpreadShards {
		return s
	}
	return Unbounded()
}

// Claims says which epsilon a spec stands for (docs/design.md section 4).
type Claims string

const (
	ClaimsProven    Claims = "proven"    // refuse what has no proven bound
	ClaimsPublished Claims = "published" // run as the paper did, show both numbers
	ClaimsNone      Claims = "none"      // no privacy is claimed
)

// Class says who may see an artifact.
type Class string

const (
	Public   Class = "public"   // no private data went in
	Released Class = "released" // output of paid mechanisms, or computed from such outputs and public data
	Private  Class = "private"  // everything else
)

// Join returns the class of something computed, without a mechanism, from inputs of
// classes a and b.
func (a Class) Join(b Class) Class {
	switch {
	case a == Private || b == Private:
		return Private
	case a == Released || b == Released:
		return Released
	}
	return Public
}
