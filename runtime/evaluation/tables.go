package evaluation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/runtime"
	"weir/runtime/infer"
	"weir/runtime/store"
	"weir/schema"
)

// Open opens the tables by the domain and notes what it does not cover. The caller closes the
// evaluation.
func Open(ctx context.Context, request Request) (*Evaluation, error) {
	e := &Evaluation{Request: request, Metrics: map[string]float64{}, Notes: []string{}, opened: pipeline.Tables{}}
	if err := e.open(ctx); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func (e *Evaluation) open(ctx context.Context) error {
	data, err := disk.ReadFile(e.Domain, schema.MaxBytes)
	if err != nil {
		return runtime.Misused(fmt.Errorf("%s: %w", e.Domain, store.Reason(err)))
	}
	domain, err := spec.ParseDomain(e.Domain, data)
	if err != nil {
		return err
	}
	list, err := e.find(ctx, domain)
	e.tables = list
	if err != nil {
		return err
	}
	domain, left, err := common(domain, list)
	if err != nil {
		return err
	}
	e.Notes, e.left = append(e.Notes, left...), left
	for _, t := range list {
		opened, err := t.Open(t.csv, nullable(domain), func(note string) { e.Notes = append(e.Notes, note) })
		if err == nil {
			err = noteMissing(ctx, t.port, opened, domain, e)
		}
		if err == nil {
			err = t.unlisted(ctx, opened, domain, e)
		}
		if err != nil {
			return err
		}
		e.opened[t.port] = opened
	}
	return nil
}

// csv returns how the text file of a table is read: a file that others made is compared all the same. Tables of real
// rows have the encoding of --encoding and lie where --sheet and --range say; what weir writes is UTF-8.
func (e *Evaluation) csv(name string) *pipeline.CSV {
	csv := &pipeline.CSV{Delimiter: e.Delimiter, Missing: e.Missing, Unknown: "missing", Extra: "ignore"}
	if name == "real" || name == "real_train" {
		csv.Encoding, csv.Sheet, csv.Range = e.Encoding, e.Sheet, e.Range
	}
	return csv
}

// asSaid returns how the table of a YAML file is read to be compared: as it says, whatever its cells and columns are.
func asSaid(t *infer.Named, missing []string) *pipeline.CSV {
	csv := t.CSV()
	csv.Missing, csv.Unknown, csv.Extra = append(csv.Missing, missing...), "missing", "ignore"
	return csv
}

// nullable lets every column be missing: a file that others made may hold
// values that the domain does not list, and is compared all the same.
func nullable(d *domain.Domain) *domain.Domain {
	open := d.Clone()
	for i := range open.Columns {
		open.Columns[i].Nullable = true
	}
	return open
}

// noteMissing reads a table once and says in which columns values are missing
// that the domain does not allow to be.
func noteMissing(ctx context.Context, name string, t pipeline.Table, d *domain.Domain, e *Evaluation) error {
	nulls, rows := make([]int, len(d.Columns)), int64(0)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return err
		}
		rows += rec.NumRows()
		for i := range nulls {
			nulls[i] += rec.Column(i).NullN()
		}
	}
	if rows == 0 {
		e.Notes = append(e.Notes, name+": holds no rows")
	}
	for i, c := range d.Columns {
		if nulls[i] > 0 && !c.Nullable {
			e.countAsMissing(name, c.Name, nulls[i], "missing or outside the declared ones")
		}
	}
	return nil
}

// countAsMissing notes that values of a column count as missing and, once of each table of real rows, which domain
// knows more spellings.
func (e *Evaluation) countAsMissing(port, column string, n int, why string) {
	e.Notes = append(e.Notes, fmt.Sprintf("%s: column %s: %d values are %s, and count as missing", port, column, n, why))
	hint := port + ": a released domain has the spellings of released rows alone; where the spec reads others (aliases, " +
		"missing), --domain must be the domain that it names"
	if (port == "real" || port == "real_train") && !slices.Contains(e.Notes, hint) {
		e.Notes = append(e.Notes, hint)
	}
}

// compared is a table that is compared, as it will be opened.
type compared struct {
	*infer.Named
	port  string
	csv   *pipeline.CSV
	names []string // of its columns; nil where the table cannot be read, which opening it says
}

// find lists the tables that are compared, each with the delimiter of its own header. The caller closes them, after an
// error too.
func (e *Evaluation) find(ctx context.Context, d *domain.Domain) (list []compared, err error) {
	named := [][2]string{{"real", e.Real}, {"synthetic", e.Synthetic}, {"real_train", e.Train}, {"baseline", e.Baseline}}
	for _, t := range named {
		if t[1] == "" {
			continue
		}
		table, err := infer.OpenNamed(ctx, t[1], e.Registry)
		if err != nil {
			return list, err
		}
		c := compared{Named: table, port: t[0], csv: e.csv(t[0])}
		if table.Dataset != nil {
			c.csv = asSaid(table, e.Missing)
		}
		c.readHeader(ctx, d)
		list = append(list, c)
	}
	return list, nil
}

// readHeader finds the delimiter that cuts most columns of the domain out of the header: the one that --delimiter names
// (a comma without it, a tab in .tsv), or another one where that finds more.
func (c *compared) readHeader(ctx context.Context, d *domain.Domain) {
	best := -1
	for _, delimiter := range []string{c.csv.Delimiter, ",", ";", "\t", "|"} {
		csv := *c.csv
		csv.Delimiter = delimiter
		raw, err := c.Raw(ctx, &csv, nil)
		if err != nil {
			continue
		}
		found := 0
		for _, name := range d.Names() {
			if slices.Contains(raw.Names, name) {
				found++
			}
		}
		if found > best {
			best, c.csv, c.names = found, &csv, raw.Names
		}
		if raw.Stored != nil || c.Dataset != nil {
			break // no text, which alone has a delimiter, or one that says its own
		}
	}
}

// common returns the domain without the columns that a file lacks, with a word on each; an error where no column is
// left.
func common(d *domain.Domain, list []compared) (*domain.Domain, []string, error) {
	var removed, words []string
	for _, c := range d.Columns {
		for _, t := range list {
			if t.names == nil || slices.Contains(t.names, c.Name) {
				continue
			}
			removed = append(removed, c.Name)
			word := fmt.Sprintf("column %s: is not in %s, so it is left out", c.Name, t.Name)
			if near := schema.Suggest(c.Name, t.names); near != "" {
				word += " (did you mean " + near + "?)"
			}
			words = append(words, word)
			break
		}
	}
	out := d.DeepClone()
	out.Lift(removed...)
	absent := func(c domain.Column) bool { return slices.Contains(removed, c.Name) }
	out.Columns = slices.DeleteFunc(out.Columns, absent)
	if len(out.Columns) == 0 {
		return nil, nil, runtime.Misused(fmt.Errorf("the files have no column of the domain in common: %s",
			strings.Join(words, "; ")))
	}
	return out, words, nil
}

// unlisted notes, of columns that may be missing, how many values the domain does not
// list: they count as missing and cannot be told from missing ones in the table that is
// compared. So the file is read once more with these columns as text, of which only the
// spellings of missing are missing. A file that stores them otherwise than as text gets
// no count.
func (c *compared) unlisted(ctx context.Context, coded pipeline.Table, d *domain.Domain, e *Evaluation) error {
	plain, any := asText(d)
	if !any {
		return nil
	}
	text, err := c.Open(c.csv, plain, nil)
	if err != nil {
		return nil // coded was opened: the file is there, its columns hold no text
	}
	all, err := nullsOf(ctx, coded, len(d.Columns))
	if err != nil {
		return err
	}
	missing, err := nullsOf(ctx, text, len(d.Columns))
	if err != nil {
		return nil // as above, told when the rows are read
	}
	for i, column := range d.Columns {
		if n := all[i] - missing[i]; plain.Columns[i].Type != column.Type && n > 0 {
			e.countAsMissing(c.port, column.Name, n, "outside the declared ones")
		}
	}
	return nil
}

// asText returns the domain with its nullable lists as text, and whether there are any.
func asText(d *domain.Domain) (*domain.Domain, bool) {
	plain, found := nullable(d), false
	for i := range plain.Columns {
		if c := &plain.Columns[i]; d.Columns[i].Nullable && c.Type.Coded() {
			c.Type, c.Categories, found = domain.Text, nil, true
		}
	}
	return plain, found
}

// nullsOf counts the missing values of each column of a table, which may have no rows.
func nullsOf(ctx context.Context, t pipeline.Table, columns int) ([]int, error) {
	nulls := make([]int, columns)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range nulls {
			nulls[i] += rec.Column(i).NullN()
		}
	}
	return nulls, nil
}
