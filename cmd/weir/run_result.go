package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"weir/internal/plain"
	"weir/pipeline/show"
	"weir/record"
	"weir/runtime"
)

// printResult ends a run: figures, epsilon, and where everything is.
func printResult(w io.Writer, r *runtime.Result) error {
	rec := r.Record
	var b strings.Builder
	if rec.Insecure {
		b.WriteString(paint(w, red, "NOT PRIVATE") + ": noise from --insecure-noise-seed; do not release.\n\n")
	}
	if r.Reused {
		b.WriteString("This spec was run on this data before; that run is shown, and nothing was charged. --fresh draws new noise, as a new charge.\n\n")
	}
	figures(&b, rec)
	epsilons(&b, w, rec.Terms)
	if len(rec.Charges) > 0 && !r.Reused {
		fmt.Fprintf(&b, "charged              %s\n\n", plain.Text(chargeText(r)))
	}
	places(&b, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// figures shows the headline figures of each evaluating stage; all others are in
// the report and in internal/metrics.json.
func figures(b *strings.Builder, rec *record.Run) {
	keys := headlines(rec.Metrics)
	if len(keys) == 0 {
		return
	}
	b.WriteString("How good it is (private: computed from real rows)\n")
	kinds := map[string]string{}
	for _, s := range rec.Stages {
		kinds[s.ID] = s.Kind
	}
	for _, k := range keys {
		stage, _, _ := strings.Cut(k, ".")
		fmt.Fprintf(b, "  %-40s %.4f%s\n", plain.Text(k), rec.Metrics[k], interval(rec.Metrics, k))
		if words := meaningOf(rec.Metrics, kinds[stage], k); words != "" {
			fmt.Fprintf(b, "    %s\n", words)
		}
	}
	if more := len(rec.Metrics) - len(keys); more > 0 {
		fmt.Fprintf(b, "  and %d more in internal/metrics.json%s\n", more, meantIn(rec))
	}
	b.WriteString("\n")
}

// meantIn says where figures are explained: in the report of the run, if it has one.
func meantIn(rec *record.Run) string {
	if slices.ContainsFunc(rec.Stages, func(s record.Stage) bool { return s.Kind == "report" }) {
		return "; the report says what they mean"
	}
	return ""
}

// headlines picks, for each stage, the figures that people look at first, or
// its first ones where it has none of those.
func headlines(metrics map[string]float64) []string {
	byStage := map[string][]string{}
	for key := range metrics {
		if stage, name, _ := strings.Cut(key, "."); !strings.Contains(name, ".") {
			byStage[stage] = append(byStage[stage], name)
		}
	}
	var keys []string
	for _, stage := range slices.Sorted(maps.Keys(byStage)) {
		names := byStage[stage]
		sort.Strings(names)
		for _, name := range firstOf(names, preferred(), 5) {
			keys = append(keys, stage+"."+name)
		}
	}
	return keys
}

func preferred() []string {
	return []string{"total_variation", "total_variation_2way", "total_variation_3way", "k_marginal_score", "auroc", "accuracy", "r2", "mixed_mean_absolute_difference", "pmse_ratio", "exact_matches",
		"synthetic_wins", "error_tailored", "error_synthetic", "accuracy_tailored", "accuracy_synthetic", "reproduced_share", "mean_standardised_difference"}
}

// interval words the interval of a figure, from the figures NAME_low and NAME_high; ""
// where it has none. Where a figure is of a column or a learner, NAME.COLUMN, the ends
// are NAME_low.COLUMN and NAME_high.COLUMN.
func interval(metrics map[string]float64, key string) string {
	stage, name, _ := strings.Cut(key, ".")
	name, column, of := strings.Cut(name, ".")
	if of {
		column = "." + column
	}
	low, one := metrics[stage+"."+name+"_low"+column]
	high, other := metrics[stage+"."+name+"_high"+column]
	if !one || !other {
		return ""
	}
	return fmt.Sprintf("  (%.4f to %.4f)", low, high)
}

// firstOf keeps the wanted names in their order, at most n; without any, the
// first two names.
func firstOf(names, wanted []string, n int) []string {
	var list []string
	for _, w := range wanted {
		if i := sort.SearchStrings(names, w); i < len(names) && names[i] == w && len(list) < n {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return names[:min(2, len(names))]
	}
	return list
}

func epsilons(b *strings.Builder, w io.Writer, t record.Terms) {
	proven := fmt.Sprintf("none: %s", cmp.Or(t.Reason, "no proven bound"))
	if t.Proven != nil {
		proven = fmt.Sprintf("%s at delta %g, %s", record.Bound(*t.Proven), t.Delta, t.Adjacency)
	}
	text := show.Wrap(fmt.Sprintf("epsilon (proven)     %s\n", proven))
	b.WriteString(strings.Replace(text, "epsilon (proven)", paint(w, bold, "epsilon (proven)"), 1))
	if t.Published != nil {
		fmt.Fprintf(b, "epsilon (published)  %s by the paper's own accounting; not a claim of this run\n", record.Bound(*t.Published))
	}
	b.WriteString("\n")
}

// chargedBy lists the charges that a run made, and the runs that made those which it reused.
func chargedBy(rec *record.Run) (ids []string, from map[string]string) {
	ids, from = []string{}, map[string]string{}
	for _, c := range rec.Charges {
		if c.Run == "" {
			ids = append(ids, c.ID)
		} else {
			from[c.Stage] = c.Run
		}
	}
	return ids, from
}

// chargeText says what was charged now, what before the run was interrupted or removed, and
// what by other runs.
func chargeText(r *runtime.Result) string {
	ids, from := chargedBy(r.Record)
	text := plural(len(ids)-len(r.Before), "new charge")
	for _, stage := range r.Record.Stages {
		paid, of := paidBefore(r, stage.ID)
		switch {
		case paid == 0:
		case paid == of:
			text += fmt.Sprintf("; %s was paid when this run was begun, and is not charged again", stage.ID)
		default:
			text += fmt.Sprintf("; of the %d charges of %s %d had been made when this run was begun, and are not made again", of, stage.ID, paid)
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(from)) {
		text += fmt.Sprintf("; %s reused, charged in run %s", stage, from[stage])
	}
	return text
}

// paidBefore is how many charges of a stage were made before the run was interrupted or removed, of how many.
func paidBefore(r *runtime.Result, stage string) (paid, of int) {
	for _, c := range r.Record.Charges {
		if c.Stage != stage {
			continue
		}
		of++
		if slices.Contains(r.Before, c.ID) {
			paid++
		}
	}
	return paid, of
}

// tableWord says what the rows of a CSV file are: of people, of a model, or counts.
func tableWord(rec *record.Run, f record.File) string {
	stage, of := strings.CutPrefix(f.What, "table of stage ")
	by := func(kind string) bool {
		return slices.ContainsFunc(rec.Stages, func(s record.Stage) bool { return s.ID == stage && s.Kind == kind })
	}
	switch {
	case by("sample"):
		return "synthetic table"
	case by("remove_anomalies") && strings.HasPrefix(f.Path, "release/"):
		return "less anomalies" // of the rows that were drawn, which are released too
	case strings.HasPrefix(f.Path, "internal/"):
		return "PRIVATE table"
	case of:
		return "released table"
	}
	return "noisy counts"
}

func places(b *strings.Builder, r *runtime.Result) {
	rec := r.Record
	line := func(what, path string) { fmt.Fprintf(b, "%-16s %s\n", what, plain.Text(path)) }
	for _, f := range append(append([]record.File(nil), rec.Release...), rec.Internal...) {
		switch {
		case strings.HasSuffix(f.Path, ".csv") && f.What == "":
			line("noisy counts", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, ".csv"):
			line(tableWord(rec, f), filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, ".html"):
			line("report", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "BILL.txt"):
			line("bill", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "PRIVACY.md"):
			line("privacy", filepath.Join(r.Path, f.Path))
		}
	}
	line("record", filepath.Join(r.Path, "run.json"))
	if rec.Dataset.Ledger != "" {
		line("ledger", rec.Dataset.Ledger)
	}
}
