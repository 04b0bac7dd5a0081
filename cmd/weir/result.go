package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/words"
	"weir/record"
	"weir/record/report"
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
		b.WriteString("This spec was run on this data before; that run is shown, and nothing was charged. --fresh draws " +
			"new noise, as a new charge.\n\n")
	}
	figures(&b, rec, reg.Figures(rec.Kinds()))
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
		fmt.Fprintf(b, "epsilon (published)  %s by the paper's own accounting; not a claim of this run\n",
			record.Bound(*t.Published))
	}
	b.WriteString("\n")
}

// chargedBy lists the charges that a run made, and the runs that made those which it reused.
func chargedBy(rec *record.Run) (ids []string, sources map[string]string) {
	ids, sources = []string{}, map[string]string{}
	for _, c := range rec.Charges {
		if c.Run == "" {
			ids = append(ids, c.ID)
		} else {
			sources[c.Stage] = c.Run
		}
	}
	return ids, sources
}

// chargeText says what was charged now, what before the run was interrupted or removed, and
// what by other runs.
func chargeText(r *runtime.Result) string {
	ids, sources := chargedBy(r.Record)
	text := words.Plural(len(ids)-len(r.Before), "new charge")
	for _, stage := range r.Record.Stages {
		paid, total := paidBefore(r, stage.ID)
		switch {
		case paid == 0:
		case paid == total:
			text += fmt.Sprintf("; %s was paid when this run was begun, and is not charged again", stage.ID)
		default:
			text += fmt.Sprintf("; of the %d charges of %s %d had been made when this run was begun, and are not made again",
				total,
				stage.ID, paid)
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(sources)) {
		text += fmt.Sprintf("; %s reused, charged in run %s", stage, sources[stage])
	}
	return text
}

// paidBefore returns how many charges of a stage were made before the run was interrupted or removed, of how many.
func paidBefore(r *runtime.Result, stage string) (paid, total int) {
	for _, c := range r.Record.Charges {
		if c.Stage != stage {
			continue
		}
		total++
		if slices.Contains(r.Before, c.ID) {
			paid++
		}
	}
	return paid, total
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

// figures shows the headline figures of each evaluating stage with their verdicts, or says that there are none; all
// others are in the report and in internal/metrics.json.
func figures(b *strings.Builder, rec *record.Run, declared pipeline.StageFigures) {
	f := shownFigures{rec: rec, declared: declared, told: map[string]bool{},
		words: report.Words(groupsOf(rec, declared), privacyOf(rec))}
	keys := declared.Headlines(valuesOf(rec))
	if len(keys) == 0 {
		if !rec.Compared() && len(rec.Tables) > 0 {
			b.WriteString("How good it is: not known, since no stage compares it with real rows\n\n")
		}
		return
	}
	if rows := rec.Sample(); rows > 0 {
		fmt.Fprintf(b, "How good it is (private: computed from a sample of at most %d real rows)\n", rows)
	} else if rec.Compared() {
		b.WriteString("How good it is (private: computed from real rows)\n")
	} else {
		b.WriteString("How good it is, by the release alone (no stage compares it with real rows)\n")
	}
	for _, k := range keys {
		f.one(b, k)
	}
	for _, o := range f.open {
		b.WriteString(words.Wrap("  no verdict on " + plaintext.Text(strings.Join(o.keys, ", ")+": "+o.why) + "\n"))
	}
	if more := len(rec.Metrics) - len(keys); more > 0 {
		fmt.Fprintf(b, "  and %d more in internal/metrics.json%s\n", more, meantIn(rec))
	}
	b.WriteString("\n")
}

// shownFigures prints the figures of a run. What it has told once it does not repeat.
type shownFigures struct {
	rec      *record.Run
	declared pipeline.StageFigures
	words    map[[2]string]report.Word
	told     map[string]bool
	open     []openFigures
}

// openFigures are figures that have no verdict for one reason.
type openFigures struct {
	why  string
	keys []string
}

func (f *shownFigures) one(b *strings.Builder, key string) {
	value, defined := f.rec.Metrics[key]
	line := fmt.Sprintf("  %-40s undefined", plaintext.Text(key))
	if defined {
		line = fmt.Sprintf("  %-40s %.4f%s", plaintext.Text(key), value, interval(f.declared, f.rec.Metrics, key))
	}
	b.WriteString(line + f.verdict(key) + "\n")
	for _, line := range f.meaning(key) {
		b.WriteString(words.Wrap("    " + plaintext.Text(line) + "\n"))
	}
}

// verdict returns the word of a figure's verdict, behind the figure; reasons for none are kept for the end.
func (f *shownFigures) verdict(key string) string {
	stage, name, _ := pipeline.SplitFigureKey(key)
	word, judged := f.words[[2]string{stage, name}]
	if !judged {
		return ""
	}
	if word.Open() {
		f.leaveOpen(word.Why, key)
	}
	return "  " + word.Word
}

func (f *shownFigures) leaveOpen(why, key string) {
	for i := range f.open {
		if f.open[i].why == why {
			f.open[i].keys = append(f.open[i].keys, key)
			return
		}
	}
	f.open = append(f.open, openFigures{why, []string{key}})
}

// meaning says in words what a figure is, what it is read beside (the same figure of other real rows, of independent
// columns, of a guess) and what its stage notes of it. Nothing where it is not declared.
func (f *shownFigures) meaning(key string) []string {
	d, place, known := f.declared.Find(key)
	if !known || !place.Itself() {
		return nil
	}
	valueOf := func(r pipeline.Role) string { return pipeline.RenameFigureKey(key, r.Name(d.Name)) }
	lines := []string{d.Doc}
	for _, r := range d.Shown(func(r pipeline.Role) bool { _, there := f.rec.Metrics[valueOf(r)]; return there }) {
		lines = append(lines, fmt.Sprintf("%.4f  %s", f.rec.Metrics[valueOf(r)], r.Words(d.Learnt)))
	}
	if note := f.rec.Notes[key]; note != "" && !f.told[note] {
		f.told[note] = true
		lines = append(lines, strings.ReplaceAll(note, "\n", " "))
	}
	return lines
}

// valuesOf returns the figures of a run; those that are undefined, of which a note says why, are NaN.
func valuesOf(rec *record.Run) map[string]float64 {
	values := map[string]float64{}
	for key := range rec.Notes {
		values[key] = math.NaN()
	}
	maps.Copy(values, rec.Metrics)
	return values
}

// groupsOf returns the figures of a run as its page has them, stage by stage.
func groupsOf(rec *record.Run, declared pipeline.StageFigures) []report.Group {
	byStage, values := map[string][]report.Figure{}, valuesOf(rec)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		stage, name, part := pipeline.SplitFigureKey(key)
		f := report.Figure{Name: name, Column: part, Value: values[key], Note: rec.Notes[key]}
		byStage[stage] = append(byStage[stage], f)
	}
	var groups []report.Group
	for _, s := range rec.Stages {
		if list := byStage[s.ID]; len(list) > 0 {
			groups = append(groups, report.Group{Stage: s.ID, Kind: s.Kind, Figures: list, Declared: declared[s.ID]})
		}
	}
	return groups
}

// privacyOf returns what verdicts need to know of a run's privacy.
func privacyOf(rec *record.Run) report.Privacy {
	return report.Privacy{Proven: rec.Terms.Proven, Claims: rec.Terms.Claims}
}

// meantIn says where figures are explained: in the report of the run, if it has one.
func meantIn(rec *record.Run) string {
	if rec.Page() != "" {
		return "; the report says what they mean"
	}
	return ""
}

// interval words the interval of a figure; "" where it has none.
func interval(declared pipeline.StageFigures, metrics map[string]float64, key string) string {
	ends, has := declared.Interval(metrics, key)
	if !has {
		return ""
	}
	return fmt.Sprintf("  (%.4f to %.4f)", ends[0], ends[1])
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
