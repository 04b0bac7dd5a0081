package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/words"
	"weir/record"
	"weir/runtime"
)

// printResult ends a run: figures, epsilon, and where everything is.
func printResult(w io.Writer, r *runtime.Result) error {
	rec := r.Record
	reg, err := registry()
	if err != nil {
		return err
	}
	var b strings.Builder
	if rec.Insecure {
		b.WriteString(paint(w, red, "NOT PRIVATE") + ": noise from --insecure-noise-seed; do not release.\n\n")
	}
	if r.Reused {
		b.WriteString("This spec was run on this data before; that run is shown, and nothing was charged. --fresh draws new noise, as a new charge.\n\n")
	}
	figures(&b, rec, reg.Figures(kindsOf(rec)))
	for _, remark := range rec.Remarks {
		b.WriteString(words.Wrap(plaintext.Text(remark.Stage+": "+remark.Text)+"\n") + "\n")
	}
	epsilons(&b, w, rec.Terms)
	if len(rec.Charges) > 0 && !r.Reused {
		fmt.Fprintf(&b, "charged              %s\n\n", plaintext.Text(chargeText(r)))
	}
	places(&b, r, reg)
	_, err = io.WriteString(w, b.String())
	return err
}

func epsilons(b *strings.Builder, w io.Writer, t record.Terms) {
	proven := fmt.Sprintf("none: %s", cmp.Or(t.Reason, "no proven bound"))
	if t.Proven != nil {
		proven = fmt.Sprintf("%s at delta %g, %s", record.Bound(*t.Proven), t.Delta, t.Adjacency)
	}
	text := words.Wrap(fmt.Sprintf("epsilon (proven)     %s\n", proven))
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
	text := words.Plural(len(ids)-len(r.Before), "new charge")
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

// tableWord says what the rows of a table are: of people, of a model, or counts.
func tableWord(rec *record.Run, reg *pipeline.Registry, f record.File) string {
	kind := reg.Kind(kindsOf(rec)[f.Table()])
	if kind == nil { // of another version of weir
		kind = &pipeline.Kind{}
	}
	if strings.HasPrefix(f.Path, "internal/") && !kind.Draws {
		return "PRIVATE table"
	}
	return cmp.Or(kind.Called, "released table")
}

// listWord names a released list by what its file is called after the stage.
func listWord(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".csv")
	return "listed " + name[strings.LastIndexByte(name, '.')+1:]
}

func places(b *strings.Builder, r *runtime.Result, reg *pipeline.Registry) {
	rec := r.Record
	line := func(what, path string) { fmt.Fprintf(b, "%-16s %s\n", what, plaintext.Text(path)) }
	shown := map[string]bool{} // tables, of which one format will do
	for _, f := range append(append([]record.File(nil), rec.Release...), rec.Internal...) {
		switch {
		case strings.HasSuffix(f.Path, ".csv") && f.What == "":
			line(listWord(f.Path), filepath.Join(r.Path, f.Path))
		case shown[f.Table()]:
		case f.Table() != "":
			shown[f.Table()] = true
			line(tableWord(rec, reg, f), filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, ".html"):
			line("report", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "BILL.txt"):
			line("bill", filepath.Join(r.Path, f.Path))
		case strings.HasSuffix(f.Path, "PRIVACY.md"):
			line("privacy", filepath.Join(r.Path, f.Path))
		}
	}
	if r.Left != nil {
		line("left out", fmt.Sprintf("%s beyond max_rows of their unit (private: stays with you)", words.Plural(int(*r.Left), "row")))
	}
	line("record", filepath.Join(r.Path, "run.json"))
	if rec.Dataset.Ledger != "" {
		line("ledger", rec.Dataset.Ledger)
	}
}
