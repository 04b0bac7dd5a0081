package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"weir/internal/bitmath"
	"weir/internal/plaintext"
)

// Together is several experiments that were run as one.
type Together struct {
	Name   string   `json:"name"`
	Bills  []OnOne  `json:"bills"`
	Tables []*Table `json:"-"`
	Files  []string `json:"folders"` // of the experiments' own tables
}

// OnOne is the bill of all runs on one dataset: what different persons' rows cost does not add up.
type OnOne struct {
	Dataset string `json:"dataset"`
	Part    string `json:"part,omitempty"` // which of the runs; "" is all
	Bill
}

// Text are the bills.
func (o OnOne) Text() string {
	name := o.Dataset
	if o.Part != "" {
		name += ", " + o.Part
	}
	return "DATASET     " + plaintext.Text(name) + "\n" + o.Bill.Text()
}

// Markdown has the matrix of each experiment, means of differences over the experiments of one dataset,
// and the verdict on all.
func (t *Together) Markdown() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n**Internal**: computed from real rows, which no epsilon here covers. Do not publish.\n\n", t.Name)
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
		of.about(&b)
	}
	return []byte(plaintext.Text(b.String()))
}

// about is what an experiment says in the document of several: its matrix and how its cells differ.
func (t *Table) about(b *strings.Builder) {
	if len(t.Figures) == 0 {
		b.WriteString("No figures: the spec has no experiment.figures; its own table has all.\n")
		return
	}
	fmt.Fprintf(b, "Claims %s; %s.\n\n", t.Claims, t.epsilons())
	t.matrix(b)
	var lines [][]string
	each([]*Table{t}, func(_ *Table, d Difference) {
		lines = append(lines, []string{t.Label(Row{Cell: d.Cell, Settings: d.Settings}), d.Metric, strings.ReplaceAll(d.words(), "*", `\*`), fmt.Sprint(d.N)})
	})
	if len(lines) > 0 {
		b.WriteString("\n")
		pipes(b, []string{"less " + t.baseline(), "figure", "paired difference", "pairs"}, lines)
	}
}

// epsilons are the proven and published epsilons of the runs, from least to most.
func (t *Table) epsilons() string {
	span := func(of func(Row) *float64) string {
		low, high, none := math.Inf(1), math.Inf(-1), false
		for _, r := range t.Rows {
			if x := of(r); x != nil {
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
	return "epsilon proven " + span(func(r Row) *float64 { return r.Proven }) + ", published " + span(func(r Row) *float64 { return r.Published })
}

// groups are the tables on one dataset under the same claims, two or more.
func (t *Together) groups() (list [][]*Table) {
	for _, of := range t.Tables {
		at := slices.IndexFunc(list, func(g []*Table) bool { return g[0].Dataset == of.Dataset && g[0].Claims == of.Claims })
		if at < 0 {
			list, at = append(list, nil), len(list)
		}
		list[at] = append(list[at], of)
	}
	return slices.DeleteFunc(list, func(g []*Table) bool { return len(g) < 2 })
}

// meanDifferences is, for each cell and combination, the mean over experiments of the mean difference, with
// half its interval by Student's t, as if experiments were fixed and their repeats independent.
func meanDifferences(b *strings.Builder, of []*Table) {
	means := map[string][]Difference{}
	var order []string
	each(of, func(t *Table, d Difference) {
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
	for _, t := range of {
		names = append(names, t.Name)
	}
	fmt.Fprintf(b, "\n## Mean differences on %s, claims %s\n\nOver %s.\n\n", of[0].Dataset, of[0].Claims, strings.Join(names, ", "))
	var lines [][]string
	for _, key := range order {
		row, metric, _ := strings.Cut(key, "\x00")
		lines = append(lines, []string{row, metric, meanOf(means[key]), fmt.Sprint(len(means[key]))})
	}
	pipes(b, []string{"less the baseline", "figure", "mean difference", "experiments"}, lines)
	b.WriteString("\n± is half the 95 % interval by Student's t, with degrees of freedom by Welch and Satterthwaite: the repeats vary in it, the experiments do not; " +
		"detectors that experiments share are not counted.\n")
}

// meanOf is the mean of independent mean differences of unequal variances, and half its interval: Student's t
// with the degrees of freedom of Welch (Biometrika 34, 1947) and Satterthwaite (Biometrics Bulletin 2, 1946).
// Without spread there is no interval.
func meanOf(list []Difference) string {
	mean, variance, over, n := 0.0, 0.0, 0.0, float64(len(list))
	for _, d := range list {
		own := *d.SD / n * *d.SD / n / float64(d.N)
		mean += *d.Mean / n
		variance += own
		over += float64(own * own / float64(d.N-1))
	}
	text := fmt.Sprintf("%+.4f", mean)
	if over > 0 {
		text += fmt.Sprintf(" ±%.4f", bitmath.StudentQuantile(variance*variance/over, (1+Level)/2)*math.Sqrt(variance))
	}
	return text
}
