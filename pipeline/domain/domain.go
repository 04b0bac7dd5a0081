// Package domain holds what is publicly known of a table: its columns, their bounds, categories and
// spellings, and the rules between them. Check judges a domain, whether a person declared it, a program
// drafted it or a model brought it along.
//
// ReadRules reads the rules: which rows keep them, whether any row can, and what they leave possible inside
// given sets of values. Values of a row are numbers there: categories by their place in the column's list, dates
// by day, NaN where one is missing.
package domain

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"gopkg.in/yaml.v3"

	"weir/schema"
)

// ColumnType is the declared type of a column, and with it its Arrow type in
// every table of the pipeline:
//
//	numeric                       float64
//	integer                       int64
//	date                          int64, days since 1970-01-01
//	datetime                      int64, seconds since 1970-01-01T00:00, in UTC where the column has a zone
//	time                          int64, seconds since midnight
//	categorical, ordinal, boolean int32, index into Categories
//	text                          string; an open set of values, unusable by models
//
// Missing values are Arrow nulls. After the stage `encode` a column is float32
// (min_max, standard) or int32 codes (one_hot), as its Encoding says.
type ColumnType string

const (
	Numeric     ColumnType = "numeric"
	Integer     ColumnType = "integer"
	Date        ColumnType = "date"
	Datetime    ColumnType = "datetime"
	Time        ColumnType = "time"
	Categorical ColumnType = "categorical"
	Ordinal     ColumnType = "ordinal"
	Boolean     ColumnType = "boolean"
	Text        ColumnType = "text"
)

// FirstDay and LastDay are the dates that a file can spell, 0000-01-01 and 9999-12-31, as
// days since 1970-01-01. What may hold others can be computed and never written, which
// would show when a model has been paid for: no bounds of dates are wider.
const FirstDay, LastDay = -719528, 2932896

// FirstSecond and LastSecond are the date-times that a file can spell, as seconds since 1970-01-01T00:00.
const FirstSecond, LastSecond = FirstDay * secondsOfDay, LastDay*secondsOfDay + secondsOfDay - 1

// Coded reports whether values are indexes into Categories.
func (t ColumnType) Coded() bool { return t == Categorical || t == Ordinal || t == Boolean }

// Calendar reports whether values are dates or times: whole numbers of days or seconds that a file spells otherwise.
func (t ColumnType) Calendar() bool { return t == Date || t.Moment() }

// Moment reports whether values are date-times or times of day, which are whole numbers of seconds.
func (t ColumnType) Moment() bool { return t == Datetime || t == Time }

// Numbered reports whether values are numbers, dates and times included.
func (t ColumnType) Numbered() bool { return t == Numeric || t == Integer || t.Calendar() }

// Span returns the least and the greatest value of a calendar type.
func (t ColumnType) Span() (least, greatest float64) {
	switch t {
	case Date:
		return FirstDay, LastDay
	case Time:
		return 0, secondsOfDay - 1
	}
	return FirstSecond, LastSecond
}

// Domain is what is publicly known of each column of a table, in column order.
type Domain struct {
	Columns []Column `json:"columns" yaml:"columns" doc:"What is publicly known of each column, in the order of the table." required:"true"`
	// Constraints are public rules between columns; ReadRules reads them.
	Constraints []Constraint `json:"constraints,omitempty" yaml:"constraints,omitempty" doc:"What is publicly known of columns together: combinations that cannot occur, functions, orders, totals."`
	// History lists the invertible transforms that led from the source to this
	// table, oldest first; sampling walks it backwards.
	History []Transform `json:"history,omitempty" yaml:"-"`
}

// Column is one column of a Domain. Bounds of dates are days since 1970-01-01; bounds and step of date-times and times
// are seconds.
type Column struct {
	Name       string      `json:"name" yaml:"name" required:"true" doc:"The column's name in the file."`
	Type       ColumnType  `json:"type" yaml:"type" required:"true" enum:"numeric|integer|date|datetime|time|categorical|ordinal|boolean|text" doc:"What the values are."`
	Bounds     *[2]float64 `json:"bounds,omitempty" yaml:"bounds,omitempty" words:"true" doc:"Least and greatest plausible value, publicly known; of a date, dates such as 2019-04-30 (or days since 1970-01-01), of a datetime or time such as 2019-04-30T08:00 or 08:00 (or seconds)." example:"[0, 120]"`
	Categories Categories  `json:"categories,omitempty" yaml:"categories,omitempty" doc:"All values, spelled as in the file, in order; required for categorical and ordinal. private (of type categorical): the list is not public knowledge, and a stage of kind dp_categories has to release one for a charge before a model can use the column." example:"[\"no\", \"yes\", \"unknown\"]"`
	Aliases    Aliases     `json:"aliases,omitempty" yaml:"aliases,omitempty" doc:"Other spellings of categories in the file, by the category that they are: {yes: [Yes, YES, y]}. They are one value from the first step on, of a privacy unit too."`
	Missing    Spellings   `json:"missing,omitempty" yaml:"missing,omitempty" doc:"Spellings that stand for a missing value, beside the empty cell." example:"[\"NA\", \"-9\"]"`
	Step       float64     `json:"step,omitempty" yaml:"step,omitempty" min:"0" words:"true" doc:"Values are multiples of step, counted from the lower bound; sampled values are rounded to it. A datetime or time needs one: second, minute, hour or day (or seconds that divide a day); values between are read as the step before them."`
	Format     string      `json:"format,omitempty" yaml:"format,omitempty" doc:"How text files spell the values: a date as DD.MM.YYYY or M/D/YYYY, a datetime as DD.MM.YYYY HH:mm or M/D/YYYY h:mm AM, a time as HH:mm, a number by the example 1234.5 or 1.5, such as 1.234,5 or $1,234.5 or 1,5 % (what stands around it is its unit, and scales nothing). Left out: dates as YYYY-MM-DD, date-times as YYYY-MM-DDTHH:mm with or without seconds, numbers with a decimal point."`
	Zone       string      `json:"zone,omitempty" yaml:"zone,omitempty" enum:"UTC" doc:"UTC: a datetime is an instant; cells have an offset such as Z or +02:00 (unless format has none), timestamps a zone, and all become and leave as UTC. Left out: clock times without a zone, and a file that has one is refused."`
	Source     string      `json:"source,omitempty" yaml:"source,omitempty" doc:"public (declared), or the budgeted stage that found the bounds or categories; the plan and PRIVACY.md of a run repeat what is not public."`
	Doc        string      `json:"doc,omitempty" yaml:"doc,omitempty" doc:"Meaning and unit of the column."`
	// Nullable says whether the table may hold nulls here.
	Nullable bool      `json:"nullable,omitempty" yaml:"nullable,omitempty" doc:"Values may be missing in the table."`
	Encoding *Encoding `json:"encoding,omitempty" yaml:"-"`
	// OfUnit says that the value is a function of the row's privacy unit alone, so
	// that all rows of a unit share it. The source sets it on the column that names
	// the unit. A new column does not have it, so what a stage writes over that column
	// cannot pass for it.
	OfUnit bool `json:"-" yaml:"-"`
	// FromUnit names the column of the privacy unit that the value was computed from, alone or
	// with others; on that column it is its own name, and "" on all others. It proves nothing, as
	// OfUnit does: whatever a stage does to the value, it is never lost but with the column.
	FromUnit string `json:"-" yaml:"-"`
	// Late says that bounds or categories are not known yet: the stage that Source names
	// releases them when it runs. No table of a run has it (see Header.Filled).
	Late bool `json:"-" yaml:"-"`
}

// Undecided is the Source of bounds or categories that `weir domain infer` read
// from the data and that a person has to decide on.
const Undecided = "UNDECIDED"

// EncodingForm says how the stage encode stored a column.
type EncodingForm string

const (
	OneHot   EncodingForm = "one_hot"  // int32 codes, expanded to Width indicators when a batch is gathered
	MinMax   EncodingForm = "min_max"  // float32 in Range
	Standard EncodingForm = "standard" // float32, (x-mean)/sd of declared values
)

// Encoding describes an encoded column: a model sees Width numbers for it.
type Encoding struct {
	Form  EncodingForm `json:"form"`
	Width int          `json:"width"`
	Range [2]float64   `json:"range,omitempty"` // of min_max; of one_hot zero, or SeparateCells
}

// SeparateCells returns the range of one_hot where a model puts out each indicator as a number of its own; zero is the
// range of indicators that it puts out as the probabilities of one choice.
func SeparateCells() [2]float64 { return [2]float64{0, 1} }

// Separate reports whether a model puts out each indicator as a number of its own.
func (e *Encoding) Separate() bool { return e.Form == OneHot && e.Range == SeparateCells() }

// Transform is one invertible preprocessing step: the kind that applied it and
// its parameters as that kind wrote them. Parameters are public.
type Transform struct {
	Kind   string  `json:"kind"`
	Params []byte  `json:"params"` // JSON
	Before *Domain `json:"before"` // columns before the step, without history
}

// TellsUnit reports whether the value may tell whose a row is.
func (c *Column) TellsUnit() bool { return c.OfUnit || c.FromUnit != "" }

// RefuseUnit adds a problem where a stage is to learn or count a column that tells whose a row is, and reports
// whether it did.
func (c *Column) RefuseUnit(ps *schema.Problems, path string) bool {
	if c.TellsUnit() {
		ps.Add(path, UnitWords(*c)+", which names the privacy unit", "a column of values that many units share")
	}
	return c.TellsUnit()
}

// Column returns the named column, or nil.
func (d *Domain) Column(name string) *Column {
	if i := d.Index(name); i >= 0 {
		return &d.Columns[i]
	}
	return nil
}

// Names lists the column names in order.
func (d *Domain) Names() []string {
	names := make([]string, len(d.Columns))
	for i, c := range d.Columns {
		names[i] = c.Name
	}
	return names
}

// Clone returns a copy that shares nothing that a stage may change.
func (d *Domain) Clone() *Domain {
	return &Domain{Columns: append([]Column(nil), d.Columns...), Constraints: append([]Constraint(nil), d.Constraints...),
		History: append([]Transform(nil), d.History...)}
}

// DeepClone returns a copy of a domain with all that it points to; of nil it is nil.
func (d *Domain) DeepClone() *Domain {
	if d == nil {
		return nil
	}
	c := &Domain{Columns: slices.Clone(d.Columns), Constraints: cloned(d.Constraints), History: slices.Clone(d.History)}
	for i := range c.Columns {
		column := &c.Columns[i]
		column.Categories, column.Missing = slices.Clone(column.Categories), slices.Clone(column.Missing)
		column.Aliases = maps.Clone(column.Aliases)
		column.Bounds, column.Encoding = copied(column.Bounds), copied(column.Encoding)
	}
	for i := range c.History {
		step := &c.History[i]
		step.Params, step.Before = slices.Clone(step.Params), step.Before.DeepClone()
	}
	return c
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Index returns the place of the named column, or -1.
func (d *Domain) Index(name string) int {
	for i := range d.Columns {
		if d.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Pick returns the places of named columns, in the order given. A name that is unknown or a duplicate adds a problem
// at PATH[i].
func (d *Domain) Pick(ps *schema.Problems, path string, names []string) []int {
	var picked []int
	seen := map[string]bool{}
	for i, name := range names {
		pos := d.Index(name)
		switch {
		case pos < 0:
			ps.Unknown(fmt.Sprintf("%s[%d]", path, i), "column of the table", name, d.Names())
		case seen[name]:
			ps.Add(fmt.Sprintf("%s[%d]", path, i), fmt.Sprintf("%q, a duplicate column", name), "named once")
		default:
			picked = append(picked, pos)
		}
		seen[name] = true
	}
	return picked
}

// ArrowSchema returns the schema of a table of domain d (see ColumnType).
func (d *Domain) ArrowSchema() *arrow.Schema {
	fields := make([]arrow.Field, len(d.Columns))
	for i, c := range d.Columns {
		fields[i] = arrow.Field{Name: c.Name, Type: c.ArrowType(), Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

// ArrowType returns the Arrow type of the column's values.
func (c Column) ArrowType() arrow.DataType {
	switch {
	case c.Encoding != nil && c.Encoding.Form == OneHot:
		return arrow.PrimitiveTypes.Int32
	case c.Encoding != nil:
		return arrow.PrimitiveTypes.Float32
	case c.Type.Coded():
		return arrow.PrimitiveTypes.Int32
	case c.Type == Numeric:
		return arrow.PrimitiveTypes.Float64
	case c.Type == Text:
		return arrow.BinaryTypes.String
	}
	return arrow.PrimitiveTypes.Int64
}

// StageSource returns the Source of what a stage of a run releases. It does not name the run or
// its spec: a later one may have the same release again.
func StageSource(stage string) string { return stageSource + stage + " of a run" }

// IsStageSource reports whether a stage of some run, not public knowledge, is the Source.
func IsStageSource(source string) bool { return strings.HasPrefix(source, stageSource) }

const stageSource = "stage "

// UnitWords names columns that tell whose a row is, and the column that each was computed from.
func UnitWords(columns ...Column) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		if names[i] = c.Name; c.FromUnit != "" && c.FromUnit != c.Name {
			names[i] += " (computed from " + c.FromUnit + ")"
		}
	}
	return strings.Join(names, ", ")
}

// YAML returns a domain as dataset.domain of a spec reads it; bounds of dates and times are dates and times, and steps
// of times are words.
func (d *Domain) YAML() ([]byte, error) {
	text, err := schema.Canonical(d)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	spelled := false
	for i := range d.Columns {
		if c := &d.Columns[i]; c.Type.Calendar() {
			spelled = true
			c.spell(valueOf(doc.Content[0], "columns").Content[i])
		}
	}
	if !spelled {
		return text, nil
	}
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	err = e.Encode(&doc)
	return out.Bytes(), err
}

// spell puts words in place of the numbers of a calendar column.
func (c *Column) spell(column *yaml.Node) {
	for k, n := range valueOf(column, "bounds").Content {
		text := c.Show(c.Bounds[k])
		if is, ok := c.ReadValue(text); ok && is == c.Bounds[k] { // part of a day has no date
			n.Tag, n.Value = "!!str", text
			if c.Type == Date {
				n.Tag = "!!timestamp"
			}
		}
	}
	for word, seconds := range Steps() {
		if n := valueOf(column, "step"); c.Type.Moment() && seconds == c.Step {
			n.Tag, n.Value = "!!str", word
		}
	}
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return &yaml.Node{}
}
