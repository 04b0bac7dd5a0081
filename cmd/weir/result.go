package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/words"
	"weir/record"
	"weir/record/report"
	"weir/runtime"
	"weir/runtime/payment"
)

// printResult ends a run: figures, epsilon, and where everything is.
func printResult(s streams, r *runtime.Result) error {
	w, rec := s.out, r.Record
	reg, err := registry()
	if err != nil {
		return err
	}
	var b strings.Builder
	if rec.Insecure {
		b.WriteString(paint(w, red, "NOT PRIVATE") + ": noise from --insecure-noise-seed; do not release.\n\n")
	}
	if r.Reused {
		b.WriteString(s.folded("This spec was run on this data before; that run is shown, and nothing was charged. --fresh " +
			"draws new noise, as a new charge.\n\n"))
	}
	b.WriteString(report.Headlines(rec, reg.Figures(rec.Kinds()), s.wrap))
	for _, remark := range rec.Remarks {
		b.WriteString(s.wrap(plaintext.Text(remark.Stage+": "+remark.Text)+"\n") + "\n")
	}
	epsilons(&b, s, rec.Terms)
	if len(rec.Charges) > 0 && !r.Reused {
		fmt.Fprintf(&b, "charged              %s\n\n", plaintext.Text(payment.ChargedText(rec, r.Before)))
	}
	places(&b, r, reg)
	_, err = io.WriteString(w, b.String())
	return err
}

func epsilons(b *strings.Builder, s streams, t record.Terms) {
	proven := fmt.Sprintf("none: %s", cmp.Or(t.Reason, "no proven bound"))
	if t.Proven != nil {
		proven = fmt.Sprintf("%s at delta %g, %s", record.Bound(*t.Proven), t.Delta, t.Adjacency)
	}
	text := s.wrap(fmt.Sprintf("epsilon (proven)     %s\n", proven))
	b.WriteString(strings.Replace(text, "epsilon (proven)", paint(s.out, bold, "epsilon (proven)"), 1))
	if t.Published != nil {
		fmt.Fprintf(b, "epsilon (published)  %s by the paper's own accounting; not a claim of this run\n",
			record.Bound(*t.Published))
	}
	b.WriteString("\n")
}

// tableWord says what the rows of a table are: of people, of a model, or counts.
func tableWord(rec *record.Run, reg *pipeline.Registry, f record.File) string {
	kind := reg.Kind(rec.Kinds()[f.Table()])
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
		line("left out", fmt.Sprintf("%s beyond max_rows of their unit (private: stays with you)", words.Plural(int(*r.Left),
			"row")))
	}
	line("record", filepath.Join(r.Path, "run.json"))
	if rec.Dataset.Ledger != "" {
		line("ledger", rec.Dataset.Ledger)
	}
}

// declaredOf returns what the kinds of a run's stages declare of its figures. A record names the
// kinds alone, so that records of any age are read with the words of this program.
func declaredOf(rec *record.Run) (pipeline.StageFigures, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	return reg.Figures(rec.Kinds()), nil
}
