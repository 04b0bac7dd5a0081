package sweep

import (
	"fmt"
	"strings"

	"weir/internal/plaintext"
	"weir/privacy"
)

// Markdown is the table of headline metrics, the differences and the bill, for people.
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
	b.WriteString("\n" + intervalNote + "\n")
	if list := t.HeadlineDifferences(); len(list) > 0 {
		var lines [][]string
		for _, d := range list {
			lines = append(lines, []string{t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Against, d.Metric, strings.ReplaceAll(d.words(), "*", `\*`), fmt.Sprint(d.N)})
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

// Text is the bill of an experiment.
func (b Bill) Text() string {
	runs := fmt.Sprintf("%d runs", b.Runs)
	if b.Runs == 1 {
		runs = "1 run"
	}
	text := fmt.Sprintf("EXPERIMENT  %s at delta %g, %s, %s\n", runs, b.Delta, b.Adjacency, b.Accountant)
	text += fmt.Sprintf("  epsilon of all together (proven)     %s\n", bound(b.Proven))
	if b.Unprotected > 0 {
		text += fmt.Sprintf("    without the %d that have no privacy (epsilon: inf): what they make stays internal\n", b.Unprotected)
	}
	if b.Reason != "" {
		text += "    " + b.Reason + "\n"
	}
	text += fmt.Sprintf("  by naive addition of the runs        %s at delta %s\n", bound(b.Naive), privacy.Bound(b.NaiveDelta))
	if b.Published != nil {
		text += fmt.Sprintf("  published epsilons, added up         %s; not a claim of these runs\n", bound(b.Published))
	}
	return text
}
