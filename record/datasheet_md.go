package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/internal/plaintext"
	"weir/privacy"
)

// Table is a released table as it was planned: public facts alone.
type Table struct {
	Stage   string   `json:"stage"`
	Rows    int64    `json:"rows,omitempty"` // 0: not fixed in advance
	Columns []Column `json:"columns"`
	// SpreadsheetSafe says that cells which are formulas to a spreadsheet have an
	// apostrophe in front in CSV files.
	SpreadsheetSafe bool `json:"spreadsheet_safe,omitempty"`
}

// Column is what is publicly known of a released column.
type Column struct {
	Name       string      `json:"name"`
	Type       string      `json:"type"`
	Format     string      `json:"format,omitempty"` // how text files spell it; "" as the type is spelled
	Zone       string      `json:"zone,omitempty"`   // of a datetime
	Bounds     *[2]float64 `json:"bounds,omitempty"`
	Categories []string    `json:"categories,omitempty"`
	Missing    bool        `json:"missing,omitempty"` // values may be missing
	Source     string      `json:"source,omitempty"`  // who declared bounds and categories; "" is public
	Doc        string      `json:"doc,omitempty"`
}

// Datasheet returns DATASHEET.md (after Gebru et al. 2021), from public and released
// facts only. Equal specs give equal bytes: what a single run promises stands in
// PRIVACY.md.
func Datasheet(r *Run) string {
	plan, err := r.planned()
	var b strings.Builder
	fmt.Fprintf(&b, "# Datasheet of %s\n\n", r.Name)
	if r.Insecure {
		b.WriteString("**" + NotPrivate + "**\n\n")
	}
	b.WriteString(r.invented())
	b.WriteString("Synthetic data, made by weir from a private table. `PRIVACY.md` beside this page says what is " +
		"promised and what was charged.\n")
	if err != nil {
		fmt.Fprintf(&b, "\nThe plan in this record cannot be read: %v.\n", err)
	}
	section(&b, "Motivation", owner)
	section(&b, "Composition", composition(r))
	for _, t := range r.Tables {
		b.WriteString(t.describe())
	}
	b.WriteString(unruled(plan) + conditioned(plan) + formulas(r))
	section(&b, "Collection", collection(r, plan))
	section(&b, "How it was made", making(plan))
	section(&b, "Uses", uses(plan))
	section(&b, "Distribution and maintenance", fmt.Sprintf("The spec has the digest %s; with it anyone can check the "+
		"bill (`weir plan`), and the owner, who has\n"+
		"the data and the noise key, can replay the run (`weir verify`). Licence, contact and plans for updates:\n",
		r.SpecDigest)+owner)
	return plaintext.Text(b.String())
}

const owner = "Not known to weir; the owner of the data has to fill this in.\n"

func section(b *strings.Builder, title, text string) {
	fmt.Fprintf(b, "\n## %s\n\n%s", title, text)
}

func composition(r *Run) string {
	if len(r.Tables) == 0 {
		return "No table is released.\n"
	}
	return "Each row is synthetic and describes no real person. " + coincidence(r)
}

func (t Table) describe() string {
	var b strings.Builder
	rows := "a number of rows not fixed in advance"
	if t.Rows > 0 {
		rows = fmt.Sprintf("%d rows", t.Rows)
	}
	fmt.Fprintf(&b, "\n### `%s`: %s, %d columns\n\n", t.Stage, rows, len(t.Columns))
	b.WriteString("| column | type | values | may be missing | known from | meaning |\n|---|---|---|---|---|---|\n")
	for _, c := range t.Columns {
		missing := "no"
		if c.Missing {
			missing = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", cell(c.Name), cell(c.kind()), cell(c.values()), missing,
			cell(cmp.Or(c.Source, "public")), cell(c.Doc))
	}
	return b.String()
}

// kind returns the type, and how text files spell it.
func (c Column) kind() string {
	text := c.Type
	if c.Zone != "" {
		text += " in " + c.Zone
	}
	if c.Format != "" {
		text += ", as " + c.Format + " in text files"
	}
	return text
}

// show writes a value, a date or time as such.
func (c Column) show(x float64) string {
	if text, ok := Calendar(c.Type, x); ok {
		return text
	}
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return fmt.Sprintf("%.0f", x) // an income of 1341000 is not 1.341e+06
	}
	return fmt.Sprintf("%g", x)
}

// mostListed categories of a column are written out.
const mostListed = 12

func (c Column) values() string {
	switch {
	case len(c.Categories) > mostListed:
		return fmt.Sprintf("%s and %d more", distinctNote(c.Categories[:mostListed]), len(c.Categories)-mostListed)
	case len(c.Categories) > 0:
		return distinctNote(c.Categories)
	case c.Bounds != nil:
		return c.show(c.Bounds[0]) + " to " + c.show(c.Bounds[1])
	}
	return "no bounds declared"
}

// distinctNote lists categories, each in quotes where a comma or a blank at an end would hide where it begins and ends.
func distinctNote(categories []string) string {
	list := slices.Clone(categories)
	for i, name := range list {
		if name == "" || strings.ContainsAny(name, `,"`) || strings.TrimSpace(name) != name {
			list[i] = strconv.Quote(name)
		}
	}
	return strings.Join(list, ", ")
}

func collection(r *Run, p planned) string {
	if r.Dataset.Invented != "" {
		return fmt.Sprintf("The source is %s: invented rows, not people.\n", r.Dataset.Invented)
	}
	text := fmt.Sprintf("The source is a private table of %d columns; privacy unit: %s.", p.Dataset.Columns,
		r.Dataset.Unit)
	if p.Dataset.RowsPublic > 0 {
		text += fmt.Sprintf(" Its row count, %d, is public.", p.Dataset.RowsPublic)
	}
	if p.Dataset.Stays != "" {
		text += fmt.Sprintf(" Its rows stayed in %s, which counted them; `PRIVACY.md` says what left.", p.Dataset.Stays)
	}
	return text + " How it was collected:\n" + owner
}

// making lists the stages with their settings, as the spec has them.
func making(p planned) string {
	var b strings.Builder
	for i, s := range p.Stages {
		fmt.Fprintf(&b, "%d. `%s`, kind %s (%s)", i+1, s.ID, s.Kind, s.Class)
		if text := s.settings(); text != "{}" {
			fmt.Fprintf(&b, ": `%s`", text)
		}
		b.WriteString("\n")
	}
	if b.Len() == 0 {
		return "No stage is on record.\n"
	}
	return b.String()
}

// settings returns the stage's JSON on one line, fit to stand between back quotes.
func (s plannedStage) settings() string { return strings.ReplaceAll(string(s.public()), "`", "'") }

// public returns the stage's settings without paths of files, which say how the owner's machine is laid out.
func (s plannedStage) public() json.RawMessage {
	keys := map[string]json.RawMessage{}
	if json.Unmarshal(s.Settings, &keys) != nil {
		return json.RawMessage("{}")
	}
	delete(keys, "file")
	text, err := json.Marshal(keys)
	if err != nil {
		return json.RawMessage("{}")
	}
	return text
}

// uses says what the tables are for, and whom to ask how good they are.
func uses(p planned) string {
	const fit = "Suitable for development and teaching on data of this shape, and for exploratory analyses that are " +
		"repeated on the real\n" +
		"table before anything relies on them. Not suitable for statements about any person, for groups that are too small " +
		"to show\n" +
		"through the noise, or as evidence "
	if !p.judged() {
		return fit + "of a relation: this run compared none with the real table.\n"
	}
	real := "real rows"
	if rows := p.sample(); rows > 0 {
		real = fmt.Sprintf("a sample of at most %d real rows", rows)
	}
	return fit + "where the owner's private evaluation says that the relation in question was lost. Ask\n" +
		"the owner, who has figures against " + real + " that may not be published.\n"
}

// Number shows a figure with six significant digits; +Inf is none, because no
// finite bound exists.
func Number(x float64) string {
	if math.IsInf(x, 1) {
		return "none"
	}
	return fmt.Sprintf("%.6g", x)
}

// Bound shows an upper bound with five significant digits, rounded up.
func Bound(x float64) string { return privacy.Bound(x) }

// Calendar writes a value of a column of type date, datetime or time for people: a number of days since 1970-01-01, of
// seconds since 1970-01-01T00:00, or of seconds since midnight. ok is false of other types, and of what no file spells.
func Calendar(kind string, x float64) (text string, ok bool) {
	const secondsOfDay = 24 * 60 * 60
	layout := "2006-01-02T15:04"
	switch {
	case math.IsNaN(x):
		return "", false
	case kind == "date":
		layout, x = time.DateOnly, math.Floor(x)*secondsOfDay
	case kind == "time" && x >= 0 && x < secondsOfDay:
		layout = "15:04"
	case kind != "datetime":
		return "", false
	}
	if math.Abs(x) > 2.5e11 { // beyond the years 0 to 9999
		return "", false
	}
	moment := time.Unix(int64(math.Floor(x)), 0).UTC()
	if kind != "date" && moment.Second() != 0 {
		layout += ":05"
	}
	return moment.Format(layout), moment.Year() >= 0 && moment.Year() <= 9999
}
