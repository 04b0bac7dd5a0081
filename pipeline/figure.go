package pipeline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Figure declares a number that a kind writes, and what readers make of it: the end of a run,
// `weir evaluate`, lists, differences, experiments and the report know no figure but by this.
type Figure struct {
	Name  string // as in a metric; the ends of its interval and its references are named after it (Match)
	Parts string // what the column of a metric names, such as column or learner; "" where the figure is about tables alone
	Doc   string // what the value means and which one is best, as words behind it

	Better   Better
	Learnt   bool   // a score of what is learnt from the synthetic rows; its references are learnt from theirs
	Interval bool   // NAME_low and NAME_high are the ends of its interval of 95 %
	Beside   []Role // references that may stand beside it, each as NAME_ROLE
	Real     string // the figure that says the same of the real rows; "" where none does
	Verdict  *Verdict

	Headline bool   // shown at the end of a run and in lists of runs, in the order of the declarations
	Few      bool   // its parts are few, so that they are shown with the figures of whole tables
	Worst    bool   // its parts are ranked by its size, or by its distance from Real where it has one
	Loss     bool   // what a part, a column, has lost: 0 is nothing, 1 everything
	Rows     bool   // counts the rows of the table that the part names
	Pair     string // title of the scatter, part by part, against Real, or else against ROLE real_train; "" for none
}

// Better says which values of a figure are good.
type Better string

const (
	BetterLow    Better = "low"    // the less, the better
	BetterHigh   Better = "high"   // the more, the better
	BetterHalf   Better = "half"   // 0.5 is best: nobody can tell
	BetterChance Better = "chance" // an attack: at chance it found nothing, which proves nothing
	BetterPlain  Better = "plain"  // a fact that is neither good nor bad by itself
)

// Verdict says how the report judges a figure about whole tables. Good and Fair bound its
// loss where no references span a scale. They are conventions: no standard fixes them.
type Verdict struct {
	Label      string
	Joint      bool     // about several columns together, which independent columns lose
	Chance     *float64 // the value of a table that has nothing to tell; nil where none is known
	Best       *float64 // the best value that there is; nil where none is known
	Good, Fair float64  // the largest losses that are kept and partly kept
}

// KnownValue returns a value of Verdict that is known.
func KnownValue(value float64) *float64 { return &value }

// Role says what a figure of other rows, or of a guess, is to the one that it stands beside.
type Role string

const (
	RealTrain   Role = "real_train"  // other real rows: those that the model learnt from
	Independent Role = "independent" // columns drawn independently from real rows, without noise
	Baseline    Role = "baseline"    // independent columns at the same epsilon
	Majority    Role = "majority"    // always guessing the commonest class
)

// Roles lists the roles in the order in which references are shown.
func Roles() []Role { return []Role{RealTrain, Independent, Baseline, Majority} }

// Name returns the name of the reference of this role of a figure.
func (r Role) Name(figure string) string { return figure + "_" + string(r) }

// Words returns what a reference of this role is: other rows, or what is learnt from them.
func (r Role) Words(learnt bool) string {
	words := map[Role]string{RealTrain: "other real rows", Independent: "independent columns without noise",
		Baseline: "independent columns at the same epsilon", Majority: "always guessing the commonest class"}[r]
	switch {
	case learnt && r == RealTrain:
		return "learnt from real rows"
	case learnt && r != Majority:
		return "learnt from " + words
	}
	return words
}

// Shown returns the roles of the references that stand beside a figure wherever it is shown, in their order: of those
// that are there all but independent columns without noise where there are some at the same epsilon, which are the
// fairer comparison.
func (f Figure) Shown(there func(Role) bool) (roles []Role) {
	for _, r := range Roles() {
		if slices.Contains(f.Beside, r) && there(r) {
			roles = append(roles, r)
		}
	}
	if slices.Contains(roles, Baseline) {
		return slices.DeleteFunc(roles, func(r Role) bool { return r == Independent })
	}
	return roles
}

// IntervalEnds returns the names of the ends of the interval of a figure or reference.
func IntervalEnds(name string) (low, high string) { return name + "_low", name + "_high" }

// FigurePlace says what a name is to the figure that matches it.
type FigurePlace struct {
	Role Role   // "" where it is the figure itself, or an end of its interval
	Of   string // the figure or reference of whose interval it is an end; "" where it is none
}

// Itself reports whether the name is the figure's own.
func (p FigurePlace) Itself() bool { return p == FigurePlace{} }

// Match reports whether a name is the figure's own, a reference of it or an end of the
// interval of either, and which.
func (f Figure) Match(name string) (p FigurePlace, matches bool) {
	if !strings.HasPrefix(name, f.Name) {
		return p, false
	}
	whole := map[string]Role{f.Name: ""}
	for _, r := range f.Beside {
		whole[r.Name(f.Name)] = r
	}
	if r, is := whole[name]; is {
		return FigurePlace{Role: r}, true
	}
	for of, r := range whole {
		if low, high := IntervalEnds(of); f.Interval && (name == low || name == high) {
			return FigurePlace{r, of}, true
		}
	}
	return p, false
}

// Takes reports whether the declaration covers a number of this name and part; part is "" where it has none.
func (f Figure) Takes(name, part string) bool {
	_, matches := f.Match(name)
	return matches && (part == "" || f.Parts != "")
}

// Metric is one figure of an evaluation. NaN is undefined, and Note says why.
type Metric struct {
	Name   string // such as total_variation or auroc
	Column string // the column, pair or model that it is about; "" where it is about the table
	Value  float64
	Note   string
}

// Key returns NAME or NAME.COLUMN.
func (m Metric) Key() string {
	if m.Column == "" {
		return m.Name
	}
	return m.Name + "." + m.Column
}

// MetricsSchema returns the schema of FormMetrics.
func MetricsSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "metric", Type: arrow.BinaryTypes.String},
		{Name: "column", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "note", Type: arrow.BinaryTypes.String},
	}, nil)
}

// WriteMetrics returns the table of metrics, of header h with schema MetricsSchema.
func WriteMetrics(h Header, metrics []Metric) Table {
	h.Form, h.Schema = FormMetrics, MetricsSchema()
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for _, m := range metrics {
		b.Field(0).(*array.StringBuilder).Append(m.Name)
		b.Field(1).(*array.StringBuilder).Append(m.Column)
		if math.IsNaN(m.Value) {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(m.Value)
		}
		b.Field(3).(*array.StringBuilder).Append(m.Note)
	}
	return FromRecords(h, b.NewRecord())
}

// ReadMetrics undoes WriteMetrics.
func ReadMetrics(ctx context.Context, t Table) ([]Metric, error) {
	var metrics []Metric
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		names, ok1 := rec.Column(0).(*array.String)
		columns, ok2 := rec.Column(1).(*array.String)
		values, ok3 := rec.Column(2).(*array.Float64)
		notes, ok4 := rec.Column(3).(*array.String)
		if !ok1 || !ok2 || !ok3 || !ok4 {
			return nil, fmt.Errorf("a table of metrics is of schema %s", rec.Schema())
		}
		for i := range names.Len() {
			m := Metric{names.Value(i), columns.Value(i), math.NaN(), notes.Value(i)}
			if values.IsValid(i) {
				m.Value = values.Value(i)
			}
			metrics = append(metrics, m)
		}
	}
	return metrics, nil
}
