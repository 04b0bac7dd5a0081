package auditreport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/internal/plaintext"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/record"
)

// section is a part of the report, which each form of it shows in its own way.
type section struct {
	Title  string
	Lead   []string // paragraphs
	Head   []string // of a table; nil: there is none
	Rows   [][]string
	Course *Account // whose course of epsilon stands here, where there is room for a picture
}

// sections words the report.
func (r Report) sections() []section {
	list := []section{r.summary(), r.disagreements(), r.warnings()}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		list = append(list, a.spent(), a.runs(), a.charges())
	}
	return append(list, section{Title: "What this report cannot say", Lead: []string{
		"Who started a run and who wrote its spec is not recorded; the commit, where it was recorded, is the one at which " +
			"the spec stood so. A commit is recorded where the file of the spec was as git has it and nothing was overridden " +
			"(--set).",
		"That noise was drawn as charged: weir verify replays a run. What was charged on copies of the data that weir does " +
			"not know as this dataset. No figure of this report was computed from rows.",
	}})
}

// summary has a line for each dataset.
func (r Report) summary() section {
	s := section{Title: "Budgets", Head: []string{"dataset", "charges", "runs", "composed epsilon", "delta", "budget",
		"spent of it", "left"}}
	for _, a := range r.Accounts {
		budget, spent, left := "none", "", ""
		if b := a.Budget; b != nil {
			budget, spent, left = fmt.Sprintf("%.6g at delta %g", b.Epsilon, b.Delta), b.Spent.text(), privacy.Room(b.Left)
		}
		s.Rows = append(s.Rows, []string{a.title(), fmt.Sprint(len(a.Charges)), fmt.Sprint(len(a.Runs)), a.Fixed.text(),
			fmt.Sprintf("%g", a.Delta), budget, spent, left})
	}
	return s
}

// title names an account: by what its specs read, by its id, and by its ledger where that is not the only one of it.
func (a Account) title() string {
	if a.Dataset == "" {
		return a.Ledger
	}
	title := a.Dataset
	if len(a.Names) > 0 {
		title = strings.Join(a.Names, ", ") + " (" + a.Dataset + ")"
	}
	if a.oneOfMany {
		title += ", ledger " + a.Ledger
	}
	return title
}

// asOf says up to when the report tells. It is not a time of the clock: equal files give equal reports.
func (r Report) asOf() string {
	if r.AsOf == nil {
		return "It tells of no charge and no run."
	}
	return "Its last charge or start of a run is of " + day(*r.AsOf) + " UTC."
}

// text returns a bound, or none.
func (e Epsilon) text() string {
	if e.Value == nil {
		return "none"
	}
	return record.Bound(*e.Value)
}

// disagreements lists what does not fit together.
func (r Report) disagreements() section {
	s := section{Title: "What disagrees"}
	for _, a := range r.Accounts {
		for _, why := range a.Disagree {
			s.Rows = append(s.Rows, []string{a.title(), why})
		}
	}
	switch {
	case s.Rows == nil && !r.Looked:
		s.Lead = []string{"Nothing in the ledgers. No record and no release was looked at: no folder of runs is here, or " +
			"was named (--runs)."}
		return s
	case s.Rows == nil:
		s.Lead = []string{"Nothing: the records, the ledgers and the releases that were looked at say the same."}
		return s
	}
	s.Head = []string{"dataset", "what was found"}
	return s
}

// warnings lists warnings of specs, those that nobody gave a reason for in front. Runs of one spec share their lines.
func (r Report) warnings() section {
	s := section{Title: "Warnings of the specs", Head: []string{"spec", "rule", "stage", "warning",
		"reason for accepting it", "runs"}}
	counts, order := map[[5]string]int{}, [][5]string{}
	for _, a := range r.Accounts {
		for _, run := range a.Runs {
			for _, w := range run.Warnings {
				row := [5]string{run.spec(), w.Rule, w.Stage, w.Message, w.Acknowledged}
				if counts[row]++; counts[row] == 1 {
					order = append(order, row)
				}
			}
		}
	}
	slices.SortStableFunc(order, func(a, b [5]string) int { return min(len(a[4]), 1) - min(len(b[4]), 1) })
	for _, row := range order {
		cells := append(slices.Clone(row[:]), fmt.Sprint(counts[row]))
		if row[4] == "" {
			cells[4] = "NO REASON GIVEN"
		}
		s.Rows = append(s.Rows, cells)
	}
	if s.Rows == nil {
		return section{Title: s.Title, Lead: []string{"None."}}
	}
	return s
}

// spec names the spec of a run and the beginning of its digest.
func (r Run) spec() string { return strings.TrimSpace(r.Name + " " + short(r.Spec)) }

// spent says what the charges of a dataset come to.
func (a *Account) spent() section {
	s := section{Title: "Spent on " + a.title(), Course: a}
	if len(a.Charges) == 0 {
		s.Lead, s.Course = []string{"The ledger " + a.Ledger + " has no charge that can be read."}, nil
		return s
	}
	lead := fmt.Sprintf("Ledger %s: all charges compose to epsilon %s at delta %g (%s, unit: %s) if they had been fixed "+
		"in advance.", a.Ledger, a.Fixed.text(), a.Delta, a.Adjacency, a.Unit)
	s.Lead = []string{lead}
	for _, more := range []string{a.DeltaFrom, a.Fixed.Reason} {
		if more != "" {
			s.Lead = append(s.Lead, sentence(more))
		}
	}
	if b := a.Budget; b != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("Budget: epsilon %.6g at delta %g; by its filter (%s) %s is spent, however runs "+
			"were chosen, and %s is left.", b.Epsilon, b.Delta, b.Filter, b.Spent.text(), privacy.Room(b.Left)))
	} else {
		s.Lead = append(s.Lead, "No charge was made under a budget of the dataset: nothing bounds runs that were chosen "+
			"after a look at earlier ones.")
	}
	if !a.Copied {
		s.Lead = append(s.Lead, "No copy that its owner keeps lies beside this ledger: a charge that was cut from its end "+
			"is not missed unless a run here names it.")
	}
	for _, r := range a.Runs {
		if r.Former != "" {
			s.Lead = append(s.Lead, fmt.Sprintf("Before run %s the dataset was charged in %s, which was gone then: where the "+
				"data had been copied, the other copy may have charged a ledger of its own since.", r.ID, r.Former))
		}
	}
	s.Head = []string{"after the run", "on", "composed epsilon"}
	for _, p := range a.Course {
		s.Rows = append(s.Rows, []string{p.Run, day(p.Time), number(p.Fixed)})
	}
	if a.Budget != nil {
		s.Head = append(s.Head, "by the filter of the budget")
		for i, p := range a.Course {
			s.Rows[i] = append(s.Rows[i], number(p.Filter))
		}
	}
	return s
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

func number(x *float64) string {
	if x == nil {
		return "none"
	}
	return record.Bound(*x)
}

// runs lists the runs of a dataset.
func (a *Account) runs() section {
	s := section{Title: "Runs on " + a.title(), Head: []string{"run", "spec", "commit of the spec", "status", "promise",
		"charges", "released"}}
	for _, r := range a.Runs {
		s.Rows = append(s.Rows, []string{r.ID, r.spec(), orUnrecorded(short(r.Commit)),
			r.Status, r.promise(), fmt.Sprint(r.Charges), r.released()})
	}
	if s.Rows == nil {
		s.Head, s.Lead = nil, []string{"None was found."}
	}
	return s
}

// released says how much a run released.
func (r Run) released() string {
	if r.Status == NoRecord {
		return ""
	}
	return fmt.Sprintf("%d files", len(r.Release))
}

// promise says what a run promises.
func (r Run) promise() string {
	switch {
	case r.Status == NoRecord:
		return ""
	case r.Test:
		return "NOT PRIVATE"
	case r.Proven == nil:
		return "none proven (claims: " + r.Claims + ")"
	}
	return fmt.Sprintf("epsilon %s at delta %g", record.Bound(*r.Proven), r.Delta)
}

// short returns the beginning of a digest or a commit.
func short(digest string) string {
	name := strings.TrimPrefix(digest, "sha256:")
	return name[:min(12, len(name))]
}

func orUnrecorded(s string) string {
	if s == "" {
		return "not recorded"
	}
	return s
}

// charges lists the lines of a ledger.
func (a *Account) charges() section {
	s := section{Title: "Charges on " + a.title(), Head: []string{"line", "on", "run", "stage", "spend", "version",
		"event"}}
	for _, c := range a.Charges {
		event := "no proven bound: " + c.Why
		if text, err := privacy.MarshalEvent(c.Event.Event); c.Event.Event != nil && err == nil {
			event = string(text)
		}
		s.Rows = append(s.Rows, []string{fmt.Sprint(c.Line), day(c.Time), c.Run, c.Stage, c.Spend,
			c.Version, event})
	}
	if s.Rows == nil {
		s.Head, s.Lead = nil, []string{"None."}
	}
	return s
}

// Text returns the report for a terminal of the given number of columns; 0 is none, where a line of a table is one
// line.
func (r Report) Text(columns int) string {
	var b strings.Builder
	line := func(text string) {
		if columns > 0 {
			text = words.WrapTo(text, columns)
		}
		b.WriteString(text)
	}
	line("Audit report. " + r.asOf() + "\n")
	for _, s := range r.sections() {
		line("\n" + s.Title + "\n")
		for _, p := range s.Lead {
			b.WriteString(words.WrapTo("  "+p+"\n", columns))
		}
		b.WriteString(s.table(columns))
	}
	return plaintext.Text(b.String())
}

// table returns the table of a section. On a terminal without room for it each row is a paragraph with a line for each
// cell, in which names and digests are whole.
func (s section) table(columns int) string {
	rows := slices.Concat(heads(s.Head, strings.ToUpper), s.Rows)
	for i := range rows {
		rows[i] = slices.Concat([]string{"  " + rows[i][0]}, rows[i][1:])
	}
	if words.Readable(rows, columns) {
		return words.Table(rows, columns)
	}
	text := words.Paragraphs("  ", s.Head, s.Rows, columns)
	if s.Lead != nil && text != "" {
		text = "\n" + text
	}
	return text
}

// heads returns the head of a table as its first row, each name as a form writes it.
func heads(names []string, write func(string) string) [][]string {
	if names == nil {
		return nil
	}
	var row []string
	for _, name := range names {
		row = append(row, write(name))
	}
	return [][]string{row}
}

// Markdown returns the report as Markdown.
func (r Report) Markdown() string {
	var b strings.Builder
	b.WriteString("# Audit report\n\n" + r.asOf() + "\n")
	cell := strings.NewReplacer("|", `\|`, "\n", " ", "`", "'", "<", "&lt;").Replace
	for _, s := range r.sections() {
		b.WriteString("\n## " + cell(s.Title) + "\n")
		for _, p := range s.Lead {
			b.WriteString("\n" + cell(p) + "\n")
		}
		for i, row := range slices.Concat(heads(s.Head, strings.TrimSpace), s.Rows) {
			if i == 0 {
				b.WriteString("\n")
			}
			for _, text := range row {
				b.WriteString("| " + cell(text) + " ")
			}
			b.WriteString("|\n")
			if i == 0 {
				b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
			}
		}
	}
	return plaintext.Text(b.String())
}
