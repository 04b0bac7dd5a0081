package domain

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/schema"
)

// Origin says who stands behind a domain, and with it what Check asks of it.
type Origin int

const (
	Declared Origin = iota // a person: every bound and list is decided on, rules fit their columns
	Drafted                // a program, for a person to decide: columns may be Undecided
	Released               // a model, from anyone: columns may be encoded, and rules may be about forgotten ones
)

// Complete fills in what a file of a domain may leave out: who says so, the values of a boolean, that a
// column with spellings of missing has missing values. Private categories make a column of open text.
func (d *Domain) Complete() {
	for i := range d.Columns {
		c := &d.Columns[i]
		c.Nullable = c.Nullable || len(c.Missing) > 0
		if c.Source == "" {
			c.Source = "public"
		}
		switch {
		case c.Type == Categorical && c.Categories.private():
			c.Type = Text
		case c.Type == Boolean && c.Categories == nil:
			c.Categories = Categories{"0", "1"}
		}
	}
}

// Check returns every problem of a domain, by path, such as columns[2].bounds or constraints[0].order[1]. Rules
// about columns that have a problem are judged once these are solved. The domain of a Released model keeps
// the rules that it still knows (Carry); its history is not judged, see artifact.CheckDomain.
func Check(d *Domain, subject Origin) schema.Problems {
	c := checker{of: subject, seen: map[string]bool{}, wrong: map[string]bool{}}
	if len(d.Columns) == 0 {
		c.problems.Add("columns", "empty", "at least one column")
	}
	for i := range d.Columns {
		before := len(c.problems)
		c.column(fmt.Sprintf("columns[%d]", i), &d.Columns[i])
		if len(c.problems) > before || c.undecided(&d.Columns[i]) {
			c.wrong[d.Columns[i].Name] = true
		}
	}
	if subject == Declared {
		c.nameUndecided(d)
		c.signed(d)
	}
	c.rules(d)
	return c.problems
}

// CheckDraft returns every problem of a domain that a program drafted from a file, whose name they bear. What a file
// of a domain may leave out may be missing.
func CheckDraft(file string, d *Domain) schema.Problems {
	whole := d.Clone()
	whole.Complete()
	problems := Check(whole, Drafted)
	for i := range problems {
		problems[i].File = file
	}
	return problems
}

// checker collects the problems of one domain.
type checker struct {
	of       Origin
	seen     map[string]bool // names of columns
	wrong    map[string]bool // columns with a problem
	problems schema.Problems
}

// rules judges the rules between columns. Of a released table some columns may be forgotten.
func (c *checker) rules(d *Domain) {
	if c.of != Released {
		c.problems = append(c.problems, CheckRules(d, c.wrong)...)
		return
	}
	if len(c.problems) == 0 {
		known := *d
		known.Carry(d)
		_, c.problems = ReadRules(&known)
	}
}

func (c *checker) undecided(col *Column) bool { return c.of == Declared && col.Source == Undecided }

// nameUndecided says once which columns are undecided: a draft has them all.
func (c *checker) nameUndecided(d *Domain) {
	const mostNamed = 8
	var names []string
	first := -1
	for i := range d.Columns {
		if c.undecided(&d.Columns[i]) {
			names = append(names, d.Columns[i].Name)
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		return
	}
	which := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		which += fmt.Sprintf(" and %d more", more)
	}
	c.problems.Add(fmt.Sprintf("columns[%d].source", first),
		fmt.Sprintf("UNDECIDED in %d of %d columns (%s): bounds or categories were read from the data and nobody confirmed "+
			"them (W01, W02)", len(names), len(d.Columns), which),
		"public in each, after a person has replaced them by what is publicly known, or bounds left out for a stage of "+
			"kind dp_bounds, and categories: private for one of kind dp_categories")
}

// signed says once which rules are undecided.
func (c *checker) signed(d *Domain) {
	first, n := 0, 0
	for i := range d.Constraints {
		if d.Constraints[i].Source != Undecided {
			continue
		}
		if n++; n == 1 {
			first = i
		}
	}
	if n > 0 {
		c.problems.Add(fmt.Sprintf("constraints[%d].source", first),
			fmt.Sprintf("UNDECIDED in %d of %d rules: they were found in the data and nobody confirmed them", n,
				len(d.Constraints)),
			"public in each that holds for everybody whom such a table may be about, by what is publicly known, and the "+
				"others taken out")
	}
}

func (c *checker) column(path string, col *Column) {
	if c.seen[col.Name] {
		c.problems.Add(path+".name", c.quote(col.Name)+", a duplicate column", "unique")
	}
	c.seen[col.Name] = true
	if col.Name == "" || !plaintext.Printable(col.Name) {
		c.problems.Add(path+".name", c.quote(col.Name), "a name, of "+plaintext.Accepted)
	}
	if strings.HasPrefix(col.Name, "weir.") {
		c.problems.Add(path+".name", c.quote(col.Name), "a name that does not begin with weir.")
	}
	if types := []ColumnType{Numeric, Integer, Date, Datetime, Time, Categorical, Ordinal, Boolean,
		Text}; !slices.Contains(types, col.Type) {
		c.problems.Add(path+".type", c.quote(string(col.Type)), fmt.Sprintf("one of %v", types))
		return
	}
	c.step(path, col)
	c.encoding(path+".encoding", col.Encoding)
	c.format(path+".format", col)
	c.categories(path+".categories", col)
	c.bounds(path+".bounds", col)
	c.spellings(path, col)
	c.aliases(path+".aliases", col)
}

// step refuses a step that is not a number, and date-times and times without one that divides a day. A zone is for
// date-times.
func (c *checker) step(path string, col *Column) {
	switch {
	case !(col.Step >= 0 && col.Step < math.Inf(1)):
		c.problems.Add(path+".step", fmt.Sprint(col.Step), "a number of at least 0")
	case col.Type.Moment() && col.Encoding == nil && (col.Step < 1 || math.Mod(secondsOfDay, col.Step) != 0):
		found := fmt.Sprint(col.Step)
		if col.Step == 0 {
			found = "missing"
		}
		c.problems.Add(path+".step", found, "second, minute, hour or day, or a number of seconds that divides a day")
	}
	if col.Zone != "" && (col.Type != Datetime || col.Zone != "UTC") {
		c.problems.Add(path+".zone", c.quote(col.Zone)+" of type "+string(col.Type), "UTC for type datetime, or left out")
	}
}

func (c *checker) encoding(path string, e *Encoding) {
	if e == nil {
		return
	}
	if e.Width < 1 {
		c.problems.Add(path+".width", fmt.Sprint(e.Width), "at least 1")
	}
	if forms := []EncodingForm{OneHot, MinMax, Standard}; !slices.Contains(forms, e.Form) {
		c.problems.Add(path+".form", c.quote(string(e.Form)), fmt.Sprintf("one of %v", forms))
	}
}

// categories refuses a list where the type has none, and none where it needs one.
func (c *checker) categories(path string, col *Column) {
	n, kind := len(col.Categories), string(col.Type)
	switch {
	case col.Categories.private() && col.Type != Text:
		c.problems.Add(path, "private for type "+kind,
			"private for type categorical alone: what a stage releases has no order, and is as long as it is")
	case col.Type.Coded() && n == 0:
		c.problems.Add(path, "missing",
			"the list of all values, publicly known (W02), or private and a stage of kind dp_categories")
	case !col.Type.Coded() && n > 0:
		c.problems.Add(path, "given for type "+kind, "left out, or the type categorical, ordinal or boolean")
	case col.Type == Boolean && n != 2:
		c.problems.Add(path, fmt.Sprintf("a list of %d values", n), "two values for type boolean")
	}
}

// bounds refuses an empty range, and ends that no value of the column can be.
func (c *checker) bounds(path string, col *Column) {
	b := col.Bounds
	switch {
	case b == nil:
		return
	case col.Type.Coded() || col.Type == Text:
		c.problems.Add(path, "given for type "+string(col.Type), "left out, or given for a numeric type")
		return
	}
	found := fmt.Sprintf("[%s, %s]", col.Show(b[0]), col.Show(b[1]))
	switch {
	case c.of == Released && b[0] == b[1] && !math.IsInf(b[0], 0): // one value is left, by a filter or a clip
	case !(b[0] < b[1]):
		c.problems.Add(path, found, "[least, greatest], the least below the greatest")
	case col.Type == Integer && (b[0] != math.Trunc(b[0]) || b[1] != math.Trunc(b[1])):
		c.problems.Add(path, found, "whole numbers for type integer")
	case col.Type == Date && (b[0] < FirstDay || b[1] > LastDay):
		c.problems.Add(path, found, fmt.Sprintf("days since 1970-01-01 inside [%d, %d], the years 0 to 9999", FirstDay,
			LastDay))
	case col.Type.Moment():
		c.moments(path, col, found)
	}
}

// moments refuses bounds that no file spells, and bounds between the steps of a column.
func (c *checker) moments(path string, col *Column, found string) {
	least, greatest := col.Type.Span()
	switch b := col.Bounds; {
	case b[0] < least || b[1] > greatest:
		c.problems.Add(path, found, fmt.Sprintf("inside [%s, %s]", col.Show(least), col.Show(greatest)))
	case col.Step >= 1 && (math.Mod(b[0], col.Step) != 0 || math.Mod(b[1], col.Step) != 0):
		down := func(x float64) string { return col.Show(float64(math.Floor(x/col.Step) * col.Step)) }
		c.problems.Add(path, found, fmt.Sprintf("%s, such as [%s, %s]", stepsInWords(col.Step), down(b[0]), down(b[1])))
	}
}

// stepsInWords says which moments have a step: whole hours, or whole steps of 900 seconds, counted from midnight.
func stepsInWords(step float64) string {
	for word, seconds := range Steps() {
		if seconds == step {
			return "whole " + word + "s"
		}
	}
	return fmt.Sprintf("whole steps of %g seconds, counted from midnight", step)
}

// spellings refuses a value that is listed twice, is both a category and missing, or cannot be shown.
func (c *checker) spellings(path string, col *Column) {
	listed := map[string]bool{}
	for i, v := range col.Categories {
		where := fmt.Sprintf("%s.categories[%d]", path, i)
		if listed[v] {
			c.problems.Add(where, c.quote(v)+", a duplicate category", "listed once")
		}
		listed[v] = true
		if !plaintext.Printable(v) {
			c.problems.Add(where, c.quote(v), plaintext.Accepted)
		}
	}
	for i, v := range col.Missing {
		where := fmt.Sprintf("%s.missing[%d]", path, i)
		if listed[v] {
			c.problems.Add(where, c.quote(v)+", which is also a category", "either a category or a spelling of missing")
		}
		if !plaintext.Printable(v) {
			c.problems.Add(where, c.quote(v), plaintext.Accepted)
		}
	}
}

// quote shows the beginning of a text, but none of a draft: what a file has for its header may be a row.
func (c *checker) quote(text string) string {
	if c.of == Drafted {
		return "a text of the file"
	}
	return fmt.Sprintf("%.60q", text)
}
