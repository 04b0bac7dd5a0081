package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/bitmath"
	"weir/internal/plaintext"
	"weir/privacy"
)

// Markdown returns the table of headline metrics, the differences and the bill, for people.
func (t *Table) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", t.Name)
	if t.Insecure {
		b.WriteString("**NOT PRIVATE**: noise from a seed that anyone can repeat.\n\n")
	}
	b.WriteString("**Internal**: computed from real rows, which no epsilon here covers. Do not publish.\n\n")
	b.WriteString("```\n" + t.Bill.Text() + "```\n\n")
	if len(t.Figures) > 0 {
		b.WriteString("## Figures\n\n")
		t.matrix(&b)
		b.WriteString("\n" + Judge([]*Table{t}).Text() + "\n")
	}
	b.WriteString("## Means over repeats\n\n")
	names, rows := t.leading()
	for i, r := range rows {
		for _, m := range t.Headline {
			rows[i] = append(r, t.Rows[i].Metrics[m].Words(t.Rows[i].Runs))
			r = rows[i]
		}
	}
	pipes(&b, append(lower(names), t.Headline...), rows)
	b.WriteString("\n" + t.intervalNote() + "\n")
	if list := t.HeadlineDifferences(); len(list) > 0 {
		var lines [][]string
		for _, d := range list {
			lines = append(lines, []string{t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Against, d.Metric,
				strings.ReplaceAll(d.words(), "*", `\*`), fmt.Sprint(d.N)})
		}
		b.WriteString("\n## Paired differences\n\n")
		pipes(&b, []string{"runs of", "against", "metric", "difference", "pairs"}, lines)
		b.WriteString("\n" + strings.Replace(pairsNote, "*", `\*`, 1) + "\n")
	}
	if stages := t.Longest(); len(stages) > 0 {
		b.WriteString("\n## Seconds\n\n")
		names, lines := t.leading()
		for i := range lines {
			for _, stage := range stages {
				lines[i] = append(lines[i], t.Rows[i].SecondsOf(stage))
			}
		}
		pipes(&b, append(lower(names), stages...), lines)
		b.WriteString("\n" + timesNote + "\n")
	}
	return []byte(plaintext.Text(b.String()))
}

func lower(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = strings.ToLower(n)
	}
	return list
}

// inert escapes what would end a cell or a line of Markdown, or be read as HTML or code.
func inert(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "&", "&amp;", "<", "&lt;", "`", "\\`").Replace(text)
}

// pipes writes a table of Markdown.
func pipes(b *strings.Builder, head []string, rows [][]string) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + inert(c) + " ")
		}
		b.WriteString("|\n")
	}
	line(head)
	b.WriteString(strings.Repeat("| --- ", len(head)) + "|\n")
	for _, r := range rows {
		line(r)
	}
}

// Text returns the bill of an experiment.
func (b Bill) Text() string {
	runs := fmt.Sprintf("%d runs", b.Runs)
	if b.Runs == 1 {
		runs = "1 run"
	}
	text := fmt.Sprintf("EXPERIMENT  %s at delta %g, %s, %s\n", runs, b.Delta, b.Adjacency, b.Accountant)
	text += fmt.Sprintf("  epsilon of all together (proven)     %s\n", bound(b.Proven))
	if b.Unprotected > 0 {
		text += fmt.Sprintf("    without the %d that have no privacy (epsilon: inf): what they make stays internal\n",
			b.Unprotected)
	}
	if b.Reason != "" {
		text += "    " + b.Reason + "\n"
	}
	text += fmt.Sprintf("  by naive addition of the runs        %s at delta %s\n", bound(b.Naive),
		privacy.Bound(b.NaiveDelta))
	if b.Published != nil {
		text += fmt.Sprintf("  published epsilons, added up         %s; not a claim of these runs\n", bound(b.Published))
	}
	return text
}

// Series is several experiments that were run as one.
type Series struct {
	Name   string        `json:"name"`
	Bills  []DatasetBill `json:"bills"`
	Tables []*Table      `json:"-"`
	Files  []string      `json:"folders"` // of the experiments' own tables
}

// DatasetBill is the bill of all runs on one dataset: what different persons' rows cost does not add up.
type DatasetBill struct {
	Dataset string `json:"dataset"`
	Part    string `json:"part,omitempty"` // which of the runs; "" is all
	Bill
}

// Text returns the bills.
func (o DatasetBill) Text() string {
	name := o.Dataset
	if o.Part != "" {
		name += ", " + o.Part
	}
	return "DATASET     " + plaintext.Text(name) + "\n" + o.Bill.Text()
}

// Markdown has the matrix of each experiment, means of differences over the experiments of one dataset,
// and the verdict on all.
func (t *Series) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**Internal**: computed from real rows, which no epsilon here covers. Do not publish.\n\n",
		t.Name)
	if slices.ContainsFunc(t.Tables, func(t *Table) bool { return t.Insecure }) {
		b.WriteString("**NOT PRIVATE**: noise from a seed that anyone can repeat.\n\n")
	}
	b.WriteString("```\n")
	for _, bill := range t.Bills {
		b.WriteString(bill.Text())
	}
	b.WriteString("```\n\n## Verdict\n\n" + Judge(t.Tables).Text())
	for _, of := range t.groups() {
		meanDifferences(&b, of)
	}
	for _, of := range t.Tables {
		fmt.Fprintf(&b, "\n## %s\n\n", of.Name)
		if part := of.Part(); part != "" {
			b.WriteString(part + "\n\n")
		}
		of.about(&b)
	}
	return []byte(plaintext.Text(b.String()))
}

// about writes what an experiment says in the document of several: its matrix and how its cells differ.
func (t *Table) about(b *strings.Builder) {
	if len(t.Figures) == 0 {
		b.WriteString("No figures: the spec has no experiment.figures; its own table has all.\n")
		return
	}
	fmt.Fprintf(b, "Claims %s; %s.\n\n", t.Claims, t.epsilons())
	t.matrix(b)
	var lines [][]string
	each([]*Table{t}, func(_ *Table, d Difference) {
		lines = append(lines, []string{t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Metric,
			strings.ReplaceAll(d.words(), "*", `\*`), fmt.Sprint(d.N)})
	})
	if len(lines) > 0 {
		b.WriteString("\n")
		pipes(b, []string{"less " + t.baseline(), "figure", "paired difference", "pairs"}, lines)
	}
}

// epsilons returns the proven and published epsilons of the runs, from least to most.
func (t *Table) epsilons() string {
	span := func(lookup func(Row) *float64) string {
		low, high, none := math.Inf(1), math.Inf(-1), false
		for _, r := range t.Rows {
			if x := lookup(r); x != nil {
				low, high = min(low, *x), max(high, *x)
			} else {
				none = true
			}
		}
		switch {
		case low > high:
			return "none"
		case none:
			return fmt.Sprintf("%.4g to %.4g, of some runs none", low, high)
		}
		return fmt.Sprintf("%.4g to %.4g", low, high)
	}
	return "epsilon proven " + span(func(r Row) *float64 { return r.Proven }) + ", published " +
		span(func(r Row) *float64 { return r.Published })
}

// groups returns the tables on one dataset under the same claims, two or more.
func (t *Series) groups() (list [][]*Table) {
	for _, table := range t.Tables {
		i := slices.IndexFunc(list, func(g []*Table) bool {
			return g[0].Dataset == table.Dataset &&
				g[0].Claims == table.Claims
		})
		if i < 0 {
			list, i = append(list, nil), len(list)
		}
		list[i] = append(list[i], table)
	}
	return slices.DeleteFunc(list, func(g []*Table) bool { return len(g) < 2 })
}

// meanDifferences is, for each cell and combination, the mean over experiments of the mean difference, with
// half its interval by Student's t, as if experiments were fixed and their repeats independent.
func meanDifferences(b *strings.Builder, tables []*Table) {
	means := map[string][]Difference{}
	var order []string
	each(tables, func(t *Table, d Difference) {
		key := strings.Join([]string{t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Metric}, "\x00")
		if means[key] == nil {
			order = append(order, key)
		}
		means[key] = append(means[key], d)
	})
	order = slices.DeleteFunc(order, func(key string) bool { return len(means[key]) < 2 })
	if len(order) == 0 {
		return
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	fmt.Fprintf(b, "\n## Mean differences on %s, claims %s\n\nOver %s.\n\n", tables[0].Dataset, tables[0].Claims,
		strings.Join(names, ", "))
	var lines [][]string
	for _, key := range order {
		row, metric, _ := strings.Cut(key, "\x00")
		lines = append(lines, []string{row, metric, meanOf(means[key]), fmt.Sprint(len(means[key]))})
	}
	pipes(b, []string{"less the baseline", "figure", "mean difference", "experiments"}, lines)
	b.WriteString("\n± is half the 95 % interval by Student's t, with degrees of freedom by Welch and Satterthwaite: " +
		"the repeats vary in it, the experiments do not; " +
		"detectors that experiments share are not counted.\n")
}

// meanOf returns the mean of independent mean differences of unequal variances, and half its interval: Student's t
// with the degrees of freedom of Welch (Biometrika 34, 1947) and Satterthwaite (Biometrics Bulletin 2, 1946).
// Without spread there is no interval.
func meanOf(list []Difference) string {
	mean, variance, sum, n := 0.0, 0.0, 0.0, float64(len(list))
	for _, d := range list {
		ownValue := *d.SD / n * *d.SD / n / float64(d.N)
		mean += *d.Mean / n
		variance += ownValue
		sum += float64(ownValue * ownValue / float64(d.N-1))
	}
	text := fmt.Sprintf("%+.4f", mean)
	if sum > 0 {
		text += fmt.Sprintf(" ±%.4f", bitmath.StudentQuantile(variance*variance/sum, (1+Level)/2)*math.Sqrt(variance))
	}
	return text
}
