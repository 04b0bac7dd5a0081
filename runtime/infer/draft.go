// Package infer drafts a domain from a table. What it reads from the data is
// private, and a draft is not a declaration: every bound and every category list
// is marked for a person to decide, and `weir check` refuses it until then.
package infer

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
	"weir/schema"
)

const confirm = " # read from the data: confirm from public knowledge or replace"

// draft writes columns and rules as YAML. Of rows it says nothing but what is UNDECIDED.
func (f *finding) draft() []byte {
	var b bytes.Buffer
	csv, drafts := f.csv, f.columns
	b.WriteString("# Draft of a domain. PRIVATE: what is marked below was read from the data.\n")
	b.WriteString("# Replace each by what is publicly known (a code book, a law of nature, the form\n")
	b.WriteString("# that was filled in) and write `source: public`; weir check refuses the draft as it is.\n")
	if slices.ContainsFunc(drafts, func(c domain.Column) bool { return c.Type == domain.Categorical }) {
		b.WriteString("# A list that nobody can make public: `categories: private`, and a stage of kind\n# dp_categories " +
			"releases one for a charge (weir init --from writes it).\n")
	}
	if s := settings(csv); s != "" {
		fmt.Fprintf(&b, "# The spec needs: dataset: {%s: ..., csv: {%s}}\n", f.of.Source, s)
	}
	unread(&b, f.skipped)
	b.WriteString("columns:\n")
	for i, c := range drafts {
		f.write(&b, c, i)
	}
	f.writeRules(&b)
	return b.Bytes()
}

// writeRules writes the rules that every row keeps, for a person to sign or to take out.
func (f *finding) writeRules(b *bytes.Buffer) {
	started := false
	for _, c := range f.rules {
		if c.rule == nil {
			continue
		}
		if !started {
			b.WriteString("# Rules that every row keeps. Sign those that hold by definition (source: public) and take the " +
				"others out.\nconstraints:\n")
			started = true
		}
		fmt.Fprintf(b, "  - %s\n    source: %s\n", ruleYAML(c.rule), c.rule.Source)
	}
}

// settings returns dataset.csv as far as it differs from the defaults.
func settings(c *pipeline.CSV) string {
	var list []string
	add := func(key, value string) {
		if value != "" {
			list = append(list, key+": "+plaintext.YAML(value))
		}
	}
	add("sheet", c.Sheet)
	add("range", c.Range)
	add("encoding", strings.TrimPrefix(c.Encoding, "utf-8"))
	add("delimiter", strings.TrimPrefix(c.Delimiter, ","))
	if c.Header != nil && !*c.Header {
		list = append(list, "header: false")
	}
	if c.Trim {
		list = append(list, "trim: true")
	}
	add("comment", c.Comment)
	add("quote", c.Quote)
	add("strip_suffix", c.StripSuffix)
	add("extra", c.Extra)
	return strings.Join(list, ", ")
}

func (f *finding) write(b *bytes.Buffer, c domain.Column, i int) {
	p := f.profiles[i]
	fmt.Fprintf(b, "  - name: %s\n    type: %s%s\n", plaintext.YAML(c.Name), c.Type, p.remark(c))
	for _, r := range f.rules {
		if r.rule == nil && r.columns[len(r.columns)-1] == i {
			fmt.Fprintf(b, "    # %s\n", plaintext.Text(r.remark))
		}
	}
	if c.Bounds != nil {
		remark := confirm
		if c.Type == domain.Time {
			remark = " # the whole day"
		}
		fmt.Fprintf(b, "    bounds: [%s, %s]%s\n", bound(&c, 0), bound(&c, 1), remark)
	}
	if len(c.Categories) > 0 {
		fmt.Fprintf(b, "    categories: [%s]%s\n", plaintext.YAMLList(c.Categories), confirm)
	}
	if len(c.Aliases) > 0 {
		b.WriteString("    aliases: # spelled alike in the file: confirm that each is one value\n")
		for _, category := range slices.Sorted(maps.Keys(c.Aliases)) {
			fmt.Fprintf(b, "      %s: [%s]\n", plaintext.YAML(category), plaintext.YAMLList(c.Aliases[category]))
		}
	}
	if len(c.Missing) > 0 {
		fmt.Fprintf(b, "    missing: [%s]%s\n", plaintext.YAMLList(c.Missing), p.coded())
	}
	if c.Step > 0 {
		step := number(c.Step)
		if c.Type.Moment() {
			step = stepWord(c.Step)
		}
		fmt.Fprintf(b, "    step: %s%s\n", step, p.rounded(c))
	}
	if c.Format != "" {
		fmt.Fprintf(b, "    format: %s\n", plaintext.YAML(c.Format))
	}
	if c.Zone != "" {
		fmt.Fprintf(b, "    zone: %s\n", c.Zone)
	}
	if c.Source != "" {
		fmt.Fprintf(b, "    source: %s\n", c.Source)
	}
	if c.Nullable {
		b.WriteString("    nullable: true\n")
	}
}

// rounded says of a step that not all numbers or times keep it, and of numbers without one that none does.
func (p *profile) rounded(c domain.Column) string {
	if c.Type.Moment() && len(p.forms.moments) == 1 {
		if _, all := p.forms.moments[0].usual(); !all {
			return " # a few times are finer: each is read as the step before it"
		}
	}
	if c.Type == domain.Numeric && c.Format == "" && p.numbers.decimals > decimalsOf(c.Step) {
		return " # a few numbers have more digits: sampled ones will not"
	}
	return ""
}

// coded says of spellings of missing which are numbers.
func (p *profile) coded() string {
	if len(p.sentinels) == 0 {
		return ""
	}
	return fmt.Sprintf(" # %s: apart from all other numbers, as codes for missing are; a value if it is one",
		strings.Join(p.sentinels, ", "))
}

func (p *profile) remark(c domain.Column) string {
	if p.reason != "" {
		return " # " + p.reason
	}
	if told := p.forms.unclear(); told != "" && c.Format == "" && !p.numbers.all && !p.dates {
		return told
	}
	if len(p.unnamed()) > 0 && (c.Type == domain.Text || c.Type == domain.Categorical) {
		return " # nearly all cells are numbers: where the others mean missing, draft again with --missing and their " +
			"spelling, which the private page has"
	}
	switch c.Type {
	case domain.Numeric:
		if c.Step == 0 {
			return " # of more than six digits behind the point: declare a step, or sampled numbers have as many"
		}
	case domain.Text:
		if !p.many && p.hidden() {
			return " # values with control characters or marks of direction, which are not categories: clean the file, or " +
				"leave the column out (kind drop)"
		}
		return " # more values than a list of categories holds, or none at all; models cannot use it, unless many rows " +
			"share values: then type categorical, categories: private, which a stage of kind dp_categories releases for a charge"
	case domain.Categorical:
		return remarkOnList(c.Categories)
	case domain.Date:
		if c.Format != "" {
			return " # days; written as " + c.Format + " in files, as 2019-04-30 in bounds and constraints"
		}
		return " # days; written as 2019-04-30 in files, bounds and constraints"
	case domain.Datetime:
		return remarkOnMoments(c, "2019-04-30T08:00")
	case domain.Time:
		return remarkOnMoments(c, "08:00")
	}
	return ""
}

// remarkOnMoments says how times are written, and that the step was seen in the file.
func remarkOnMoments(c domain.Column, example string) string {
	form := c.Format
	if form == "" {
		form = c.ISOForm()
	}
	return fmt.Sprintf(" # written as %s in files, as %s in bounds and constraints; a coarser step is easier to learn",
		form, example)
}

// remarkOnList names what a list from the data cannot tell: whether numbers are codes, and
// which values the file happens not to hold.
func remarkOnList(values []string) string {
	switch {
	case len(values) == 1:
		return " # the file holds one value: list all that may occur, or leave the column out (kind drop)"
	case slices.ContainsFunc(values, zeroFirst) && !slices.ContainsFunc(values, notNumber):
		return " # codes with leading zeros, which stay as they are; ordinal if their order means something"
	case !slices.ContainsFunc(values, notNumber):
		return fmt.Sprintf(" # few numbers, taken for codes; ordinal if their order means something; of a year, an age or "+
			"a count: type integer, bounds such as [%s, %s], read from the data", values[0], values[len(values)-1])
	case fullNames(values):
		return " # written as names of persons are, which are never public categories: type text leaves them out; of " +
			"breeds, places or products: categorical"
	}
	return " # ordinal if the order of the values means something"
}

func notNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err != nil
}

// zeroFirst reports whether a number is written as codes are, such as 01067.
func zeroFirst(s string) bool {
	return len(s) > 1 && s[0] == '0' && strings.Trim(s, "0123456789") == ""
}

func bound(c *domain.Column, pos int) string {
	if c.Type.Calendar() {
		return c.Show(c.Bounds[pos])
	}
	return number(c.Bounds[pos])
}

// decimalsOf counts the digits behind the point of a step.
func decimalsOf(step float64) int { return decimals(number(step)) }

// number writes a number as people do, without an exponent where it has at most 15 digits.
func number(x float64) string {
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e15) {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// Dialect guesses how a table in text is written where given says no more than its encoding, as settings of dataset.csv
// in YAML; "" where the defaults serve.
func Dialect(ctx context.Context, subject Table, given *pipeline.CSV) (string, error) {
	csv, err := subject.Guess(ctx, given)
	if err != nil {
		return "", err
	}
	if raw, err := subject.Raw(ctx, csv, nil); err == nil { // else a run says what is wrong
		csv = subject.passing(csv, raw)
	}
	return settings(csv), nil
}

// Drafted is what is found in a file.
type Drafted struct {
	Domain []byte   // as YAML, marked for a person to decide; private until then
	Page   []byte   // what the rows look like, as Markdown; private for good
	Hints  []string // what to know or to try next, by names of columns
}

// finding is what is known of a table while its domain is drafted.
type finding struct {
	of         Table
	csv        *pipeline.CSV
	rows       int64
	profiles   []*profile
	columns    []domain.Column      // drafts
	sample     *sample              // nil where the draft does not read its table
	unread     error                // why not
	skipped    []table.UnreadColumn // columns that no domain can declare
	units      []int                // columns that may say whose a row is
	perUnit    []map[float64]int64
	rules      []*candidate
	unproposed int // further rules
}

// Draft reads a whole table and drafts its domain, with
// `source: UNDECIDED` wherever something comes from the data (rules
// W01 and W02). Where csv is nil or names no delimiter, that, and what else of header, blanks and comments it leaves
// open, is guessed (Table.Guess); the guess stands at the top of the draft. Spellings in csv.Missing are missing in
// every column.
func Draft(ctx context.Context, subject Table, csv *pipeline.CSV) (*Drafted, error) {
	name := subject.Name
	csv, err := subject.settled(ctx, csv)
	if err != nil {
		return nil, err
	}
	var hints []string
	raw, err := subject.Raw(ctx, csv, func(note string) { hints = append(hints, note) })
	if err != nil {
		return nil, err
	}
	if err := bounded(name, raw.Names); err != nil {
		return nil, err
	}
	csv = subject.passing(csv, raw)
	columns, rows, err := profileAll(raw, name, csv.Missing)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s: holds no rows", name)
	}
	f := &finding{of: subject, csv: csv, rows: rows, skipped: raw.Unread, profiles: columns, columns: make([]domain.Column,
		len(columns))}
	for i, p := range columns {
		f.columns[i] = p.column()
	}
	if problems := domain.CheckDraft(name, &domain.Domain{Columns: f.columns}); len(problems) > 0 {
		return nil, named(problems)
	}
	if err := f.look(ctx); err != nil {
		return nil, err
	}
	text, err := fits(name, f.draft())
	if err != nil {
		return nil, err
	}
	return &Drafted{Domain: text, Page: f.page(), Hints: append(hints, f.hints()...)}, nil
}

// Outline drafts the domain of a table whose rows may not be read, as YAML: names and types of the columns as the
// database stores them, and marks where bounds and categories belong. It holds nothing of rows, so nothing is
// UNDECIDED.
func Outline(ctx context.Context, subject Table) (*Drafted, error) {
	var hints []string
	raw, err := subject.Raw(ctx, &pipeline.CSV{}, func(note string) { hints = append(hints, note) })
	if err == nil {
		err = bounded(subject.Name, raw.Names)
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("# Outline of a domain: names and stored types. Rows stay in the database, and none was looked at.\n" +
		"# Write what is publicly known (a code book, the form that was filled in): bounds of numbers, dates and times,\n" +
		"# categories of texts. No model measures a column without. Take nullable out where no value is missing.\n")
	unread(&b, raw.Unread)
	b.WriteString("columns:\n")
	for i, c := range raw.Stored {
		outline(&b, raw.Names[i], c)
	}
	text, err := fits(subject.Name, b.Bytes())
	return &Drafted{Domain: text, Hints: hints}, err
}

// outline writes what is known of a column whose rows are not read.
func outline(b *bytes.Buffer, name string, c domain.Column) {
	fmt.Fprintf(b, "  - name: %s\n    type: %s\n", plaintext.YAML(name), c.Type)
	switch c.Type {
	case domain.Boolean:
	case domain.Categorical:
		fmt.Fprintf(b, "    categories: [%s] # of the stored type; confirm that they are publicly known, and no list made "+
			"of rows\n", plaintext.YAMLList(c.Categories))
	case domain.Text:
		b.WriteString("    # or type: categorical, with categories: [...]\n")
	case domain.Time:
		b.WriteString("    bounds: [00:00, 23:59] # the whole day\n    step: minute # or second, hour\n")
	case domain.Datetime:
		b.WriteString("    # bounds: [LEAST, GREATEST]\n    step: day # or second, minute, hour: times between are read as " +
			"the step before\n")
	default:
		b.WriteString("    # bounds: [LEAST, GREATEST]\n")
	}
	if c.Zone != "" {
		fmt.Fprintf(b, "    zone: %s\n", c.Zone)
	}
	b.WriteString("    nullable: true\n")
}

// unread names columns that no domain declares.
func unread(b *bytes.Buffer, columns []table.UnreadColumn) {
	for _, c := range columns {
		cure := "Leave it out, or write single values in its place."
		if c.Type == arrow.FixedWidthTypes.Duration_us.Name() {
			cure = "Leave it out, or write it as a number of seconds, hours or days, which its name then says."
		}
		fmt.Fprintf(b, "# Not drafted: column %d, %s, is stored as %s, which no domain declares. %s\n", c.Place,
			plaintext.YAML(c.Name), c.Type, cure)
	}
}

// look reads the rows by the draft, for what a column alone does not show.
func (f *finding) look(ctx context.Context) error {
	d := &domain.Domain{Columns: slices.Clone(f.columns)}
	d.Complete()
	t, err := f.of.Open(f.csv, d, nil)
	if err == nil {
		f.sample, err = draw(ctx, t)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// such as a column of a type that no table has: the draft stands, and the page says why there is no more
	if err != nil {
		f.sample, f.unread = nil, err
		return nil
	}
	f.identify()
	return f.propose(ctx, t)
}

// hints names the columns that a second draft would read better.
func (f *finding) hints() (list []string) {
	for i, p := range f.profiles {
		if c := &f.columns[i]; len(p.unnamed()) > 0 && p.reason == "" && (c.Type == domain.Text ||
			c.Type == domain.Categorical) {
			list = append(list, fmt.Sprintf("%s: nearly all cells are numbers. Where the others mean missing, draft again "+
				"with --missing and their spelling, which the private page has.", plaintext.Text(c.Name)))
		}
	}
	return list
}

// named leaves out what was found but for names of columns: values are private.
func named(problems schema.Problems) schema.Problems {
	for i := range problems {
		if !strings.HasSuffix(problems[i].Path, ".name") {
			problems[i].Found = ""
		}
	}
	return problems
}

// bounded refuses, before a row is read, a file whose domain could not be checked
// however short its columns are declared.
func bounded(name string, columns []string) error {
	least := 0
	for _, c := range columns {
		least += len("  - {name: , type: text}\n") + len(c)
	}
	if least <= schema.MaxBytes {
		return nil
	}
	return fmt.Errorf("%s: has %d columns, whose domain would be longer than 1 MiB, the most that weir check reads; "+
		"infer a file of fewer columns", name, len(columns))
}

// fits refuses a draft that weir check would not read.
func fits(name string, draft []byte) ([]byte, error) {
	if len(draft) <= schema.MaxBytes {
		return draft, nil
	}
	return nil, fmt.Errorf("%s: its draft would be %d bytes long, and weir check reads at most %d (1 MiB); infer a file "+
		"of fewer columns", name, len(draft), schema.MaxBytes)
}

// profileAll looks at every row; cells spelled as in missing are missing.
func profileAll(raw *table.Raw, name string, missing []string) ([]*profile, int64, error) {
	var columns []*profile
	rows := int64(0)
	for i, n := range raw.Names {
		columns = append(columns, newProfile(n, i, missing))
		if raw.Stored != nil {
			columns[i].stored = raw.Stored[i]
		}
	}
	for row, err := range raw.Rows {
		if err != nil {
			return nil, 0, err
		}
		if columns == nil {
			for i := range row {
				columns = append(columns, newProfile("", i, missing))
			}
		}
		if rows++; len(row) != len(columns) {
			return nil, 0, fmt.Errorf("%s: row %d: has %d values where the file has %d columns", name, rows, len(row),
				len(columns))
		}
		for i, v := range row {
			columns[i].see(v)
		}
	}
	return columns, rows, nil
}
