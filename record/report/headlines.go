package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/record"
)

// Headlines words the headline figures of a run with their verdicts, or says that there are none; all others are on the
// page of the run and in internal/metrics.json. wrap breaks a text into lines of a terminal.
func Headlines(rec *record.Run, declared pipeline.StageFigures, wrap func(string) string) string {
	b := &strings.Builder{}
	f := shownFigures{rec: rec, declared: declared, told: map[string]bool{}, wrap: wrap,
		words: Words(groupsOf(rec, declared), privacyOf(rec))}
	keys := declared.Headlines(valuesOf(rec))
	if len(keys) == 0 {
		if !rec.Compared() && len(rec.Tables) > 0 {
			b.WriteString("How good it is: not known, since no stage compares it with real rows\n\n")
		}
		return b.String()
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
		b.WriteString(f.wrap("  no verdict on " + plaintext.Text(strings.Join(o.keys, ", ")+": "+o.why) + "\n"))
	}
	if more := len(rec.Metrics) - len(keys); more > 0 {
		fmt.Fprintf(b, "  and %d more in internal/metrics.json%s\n", more, meantIn(rec))
	}
	b.WriteString("\n")
	return b.String()
}

// shownFigures prints the figures of a run. What it has told once it does not repeat.
type shownFigures struct {
	rec      *record.Run
	declared pipeline.StageFigures
	words    map[[2]string]Word
	told     map[string]bool
	wrap     func(string) string
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
		b.WriteString(f.wrap("    " + plaintext.Text(line) + "\n"))
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
func groupsOf(rec *record.Run, declared pipeline.StageFigures) []Group {
	byStage, values := map[string][]Figure{}, valuesOf(rec)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		stage, name, part := pipeline.SplitFigureKey(key)
		f := Figure{Name: name, Column: part, Value: values[key], Note: rec.Notes[key]}
		byStage[stage] = append(byStage[stage], f)
	}
	var groups []Group
	for _, s := range rec.Stages {
		if list := byStage[s.ID]; len(list) > 0 {
			groups = append(groups, Group{Stage: s.ID, Kind: s.Kind, Figures: list, Declared: declared[s.ID]})
		}
	}
	return groups
}

// privacyOf returns what verdicts need to know of a run's privacy.
func privacyOf(rec *record.Run) Privacy {
	return Privacy{Proven: rec.Terms.Proven, Claims: rec.Terms.Claims}
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
