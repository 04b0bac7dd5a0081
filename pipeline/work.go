package pipeline

import (
	"context"
	"errors"
	"fmt"

	"weir/pipeline/relation"
	"weir/privacy"
)

// Work is what a stage will do: what is printed, what is charged and what is
// done, as one value, so that a run cannot do anything but what its plan says.
type Work struct {
	Out     Headers
	Spends  []Spend // mechanisms on private rows; none: the stage releases nothing
	Pricing Pricing // of the spends
	// names of formats in which the first output is written, or UsualFormats: a result that a user asked for, not a step
	// on the way
	Write  []string
	Send   *Sending  // nil: the first output goes to files alone
	Secret bool      // Run draws from Env.Secret
	Files  []FileUse // further files that Run opens
	// output is computed row by row as it is read; a run stores it only where that saves reading a source again
	Lazy bool
	// what comes out depends on the budget of the spec (Env.Plan), so that under another one it is another result
	OfBudget  bool
	OfPlan    bool      // what comes out shows the plan (Env.Plan), so that under another one it is another result
	Elsewhere Statement // nil: of a stage that gives no rows
	// what Run asks of a database that keeps the rows of its first input (Table.Pushed); nil: it needs the rows
	Counts   Asking
	Findings []Finding // audit rules that the settings touch without refusing

	// Decide says what follows from the scale of the noise that the bill comes to (0:
	// none), from it and public facts alone; Run must decide likewise. Nil: nothing.
	Decide func(scale float64) Decision

	// Remark says in a line what a reader should know of what came out; "" for nothing. It is given the outputs, and
	// not asked where one of them is not released, so that what it says is post-processing. Nil: nothing.
	Remark func(ctx context.Context, released Tables) (string, error)

	// Traces returns a number for each of rows, the higher the more speaks for its having been in the table that the
	// stage learned from, by released outputs alone; others are rows that are known to have been there. All have the
	// columns of the source. Only an audit asks (docs/design/canary.md). Nil: rows are looked for in released tables.
	Traces func(ctx context.Context, released Tables, rows, others Table) ([]float64, error)

	// Run does the work. It touches nothing but its inputs and env, and opens every
	// spend exactly once, whatever its rows are.
	Run func(ctx context.Context, env *Env, in Tables) (Tables, error)
}

// Sending says to which table of a server the first output is written, which is released. The table is made, and no
// other is changed.
type Sending struct {
	Connection string // a reference, as Database has one; never the connection itself
	Table      string // SCHEMA.TABLE
}

// Statement returns the first output of a stage as a database could compute it from its first input. An error says in
// words why the stage needs the rows themselves, such as "compares each row with others".
type Statement func(relation.Relation) (relation.Relation, error)

// Asking returns what a stage asks a database for before it pays: rows that are computed from the rows of its first
// input and kept, and keys by which they are counted. What it asks for behind that follows from what it releases.
type Asking func(relation.Relation) (kept relation.Relation, keys []relation.Key)

// Spend is one mechanism of a stage, by a name of its own. Sensitivity, event and
// uses are the mechanism's; what a change of c rows or of a shard costs is the
// compiler's.
type Spend struct {
	Name string // unique in the stage
	Doc  string // what is released, such as "DP-SGD on the critic, sampling rate 0.016"
	// Mechanism is the planned value at a scale: the stage's noise multiplier, or
	// whatever its noise grows with. All spends of a stage share one scale. Scale 0
	// is a run without privacy (epsilon: inf): no noise.
	Mechanism func(scale float64) privacy.Mechanism
}

// Pricing says how the spends of a stage are priced.
type Pricing struct {
	Scale     float64    // fixed by the spec; 0: to be calibrated
	Published *Published // nil: the papers claim nothing
	Unproven  Unproven   // why no proven bound exists; allowed only under claims: published
}

// Unproven says which audit rule the proof of a stage breaks, and how; the zero value: it is proven.
type Unproven = privacy.Unproven

// Published is the accounting of a paper for the same stage.
type Published struct {
	Method  string                                                // which arithmetic, with its citation
	Epsilon func(noiseMultiplier, delta float64) (float64, error) // of this stage alone
}

// FileUse is a further file of a spec.
type FileUse struct {
	Path   string
	Public bool   // declared to hold no private row
	By     string // who declares that
	// what they say that its noise keeps, such as "epsilon 1, delta 0 for one person"; "" where it has none
	Guarantee string
}

// StageError says which stage an error is of, or that it is of the dataset.
type StageError struct {
	Stage string
	Err   error
}

// Error names the stage in front of the error.
func (e *StageError) Error() string {
	if e.Stage == DatasetID {
		return fmt.Sprintf("dataset: %v", e.Err)
	}
	return fmt.Sprintf("stage %s: %v", e.Stage, e.Err)
}

// Unwrap returns the error of the stage.
func (e *StageError) Unwrap() error { return e.Err }

// AtStage names the stage of an error that names none yet.
func AtStage(stage string, err error) error {
	if err == nil || Cancelled(err) || IsStage(err) {
		return err
	}
	return &StageError{stage, err}
}

// IsStage reports whether err names its stage already.
func IsStage(err error) bool {
	var s *StageError
	return errors.As(err, &s)
}

// Cancelled reports whether err only says that the run was stopped.
func Cancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
