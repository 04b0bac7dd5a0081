package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"weir/internal/plaintext"
	"weir/pipeline/compile"
	"weir/pipeline/figure"
	"weir/pipeline/spec"
	"weir/record/report"
	"weir/record/sweep"
	"weir/runtime"
	"weir/runtime/book"
)

// billOf is what the runs of an experiment cost together. A charge that several runs share
// counts once, but for the naive sum, which takes each run for itself; runs without privacy
// charge nothing and are counted apart.
func billOf(runs []runtime.Trial, fresh bool) (sweep.Bill, error) {
	total, shared, err := runtime.Together(runs, fresh)
	if err != nil {
		return sweep.Bill{}, err
	}
	b := sweep.Bill{Runs: len(runs), Delta: total.Delta, Adjacency: string(total.Adjacency), Accountant: total.Accountant, Reason: total.Reason}
	if !math.IsInf(total.Epsilon, 1) {
		b.Proven = &total.Epsilon
	}
	b.Naive, b.Published = new(float64), new(float64)
	for i, r := range runs {
		if r.Plan.Budget.Infinite() {
			b.Unprotected++
			continue
		}
		b.NaiveDelta += r.Plan.Delta
		b.Naive = plus(b.Naive, r.Plan.Epsilon.Proven)
		b.Published = plus(b.Published, ownPublished(r.Plan, func(s *compile.Step) bool { return shared(i, s) }))
	}
	if b.Unprotected == b.Runs {
		b.Naive, b.Published = nil, nil
	}
	if !alike(runs) {
		b.Naive = nil // epsilons of other adjacencies or units say other things
	}
	return b, nil
}

// alike reports whether what the runs with privacy prove is said of the same neighbours.
func alike(runs []runtime.Trial) bool {
	var first *compile.Plan
	for _, r := range runs {
		switch p := r.Plan; {
		case p.Budget.Infinite():
		case first == nil:
			first = p
		case p.Adjacency != first.Adjacency || book.Unit(p.Spec.Dataset.PrivacyUnit) != book.Unit(first.Spec.Dataset.PrivacyUnit):
			return false
		}
	}
	return true
}

// ownPublished adds up the published epsilons of what a plan charges and shares with none before.
func ownPublished(p *compile.Plan, shared func(*compile.Step) bool) *float64 {
	if p.Epsilon.Published == nil {
		return nil
	}
	sum := new(float64)
	for i := range p.Steps {
		if s := &p.Steps[i]; len(s.Spends) > 0 && !shared(s) {
			sum = plus(sum, s.Published)
		}
	}
	return sum
}

// plus is none where either is none.
func plus(sum, x *float64) *float64 {
	if sum == nil || x == nil {
		return nil
	}
	total := *sum + *x
	return &total
}

// tableOf makes the table of an experiment's runs.
func tableOf(base *compile.Plan, bill sweep.Bill, trials []spec.Trial, plans []*compile.Plan, done []*runtime.Result) *sweep.Table {
	x := base.Spec.Experiment
	if x == nil {
		x = &spec.Experiment{} // one of several specs, a single run
	}
	e := sweep.Experiment{Name: base.Name, Grid: []string{}, Own: []string{}, Cells: []string{}, Baseline: x.Baseline, Bill: bill,
		Dataset: datasetName(base), Claims: string(base.Spec.Privacy.Claims), Figures: x.Figures, Printed: printedOf(x)}
	for _, axis := range x.Grid {
		e.Grid = append(e.Grid, axis.Name)
	}
	if level := x.LevelPaths(); len(level) > 0 {
		e.Grid, e.Own = append(e.Grid, level[0]), append(e.Own, level[1:]...)
	}
	for _, cell := range x.Cells {
		e.Cells = append(e.Cells, cell.Name)
		for _, setting := range cell.Value {
			if !slices.Contains(e.Own, setting.Name) {
				e.Own = append(e.Own, setting.Name)
			}
		}
	}
	all, took, declared := map[string]float64{}, secondsOf(done), figure.ByStage{}
	for _, s := range base.Steps {
		e.Stages = append(e.Stages, s.ID)
	}
	for i, t := range trials {
		maps.Copy(declared, plans[i].Figures())
		run := runOf(t, plans[i], done[i], took)
		run.Notes = notesOn(x.Figures, done[i].Record.Notes)
		e.Runs = append(e.Runs, run)
		e.Insecure = e.Insecure || done[i].Record.Insecure
		for name, value := range done[i].Record.Metrics {
			all[name] = value
		}
	}
	if e.Headline = x.Figures; len(e.Headline) == 0 {
		e.Headline = declared.Headlines(all)
	}
	e.References = references(declared, e.Headline)
	return sweep.Of(e)
}

// notesOn are the notes of a run on figures, or on what these are means of.
func notesOn(figures []string, notes map[string]string) map[string]string {
	on := map[string]string{}
	for name, why := range notes {
		for _, f := range figures {
			if name == f || strings.HasPrefix(name, f+".") {
				on[name] = why
			}
		}
	}
	return on
}

// printedOf is what a paper prints; nil for nothing.
func printedOf(x *spec.Experiment) map[string]map[string][]float64 {
	if len(x.Printed) == 0 {
		return nil
	}
	all := map[string]map[string][]float64{}
	for _, cell := range x.Printed {
		all[cell.Name] = map[string][]float64{}
		for _, at := range cell.Value {
			all[cell.Name][at.Name] = at.Value
		}
	}
	return all
}

// secondsOf is how long each recipe took where one of the runs computed it.
func secondsOf(done []*runtime.Result) map[string]float64 {
	took := map[string]float64{}
	for _, r := range done {
		for _, s := range r.Record.Stages {
			if !s.Reused {
				took[s.Recipe] = s.Seconds
			}
		}
	}
	return took
}

func runOf(t spec.Trial, plan *compile.Plan, done *runtime.Result, took map[string]float64) sweep.Run {
	rec := done.Record
	r := sweep.Run{ID: rec.ID, Path: done.Path, Cell: t.Cell, Settings: t.Settings(), Repeat: t.Repeat + 1,
		Seed: runtime.PublicSeed(plan.Seed, t.Repeat), Delta: rec.Terms.Delta, Published: rec.Terms.Published, Proven: rec.Terms.Proven, Metrics: rec.Metrics, Seconds: map[string]float64{}}
	for _, s := range rec.Stages {
		if x, has := took[s.Recipe]; has && s.Reused {
			r.Seconds[s.ID] = x
		} else if !s.Reused {
			r.Seconds[s.ID] = s.Seconds
		}
	}
	if page := reportOf(rec); page != "" {
		r.Report = path.Join("..", "..", rec.ID, page)
	}
	return r
}

// writeTable puts the table into the folder of the experiments.
func writeTable(ctx context.Context, opts runtime.Options, t *sweep.Table, done []*runtime.Result) (string, error) {
	page, err := report.Sweep(t)
	if err != nil {
		return "", err
	}
	return runtime.WriteSweep(ctx, opts.Disk, opts.Out, t, latest(done), page)
}

// latest is when the last of runs began.
func latest(done []*runtime.Result) (began time.Time) {
	for _, r := range done {
		if r.Record.Started.After(began) {
			began = r.Record.Started
		}
	}
	return began
}

// mostWide is the width that the table on a terminal keeps to.
const mostWide = 100

func (r experimentResult) print(w io.Writer) error {
	if r.Table.Insecure {
		fmt.Fprint(w, paint(w, red, "NOT PRIVATE")+": noise from --insecure-noise-seed; do not release.\n\n")
	}
	reused := 0
	for _, run := range r.Runs {
		if run.Reused {
			reused++
		}
	}
	if reused > 0 {
		fmt.Fprintf(w, "%d of the runs were made before; they are shown, and nothing was charged for them.\n\n", reused)
	}
	if err := r.Table.Print(plainly(w), mostWide); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%-16s %s\n", "charged", r.charged())
	_, err := fmt.Fprintf(w, "%-16s %s\n%-16s %s\n%-16s %s\n", "page", plaintext.Text(path.Join(r.Folder, "sweep.html")), "table",
		plaintext.Text(path.Join(r.Folder, "table.csv")), "single runs", plaintext.Text(path.Join(r.Folder, "runs.csv")))
	return err
}

// charged says what the runs that were made now charged, and what they took from others.
func (r experimentResult) charged() string {
	charged, before, taken := 0, 0, 0
	for _, run := range r.Runs {
		if !run.Reused {
			charged, before, taken = charged+len(run.Charged)-len(run.Before), before+len(run.Before), taken+len(run.From)
		}
	}
	text := plural(charged, "charge") + ", by the runs that were made or continued now"
	if before > 0 {
		text += fmt.Sprintf("; %s paid before, when those were begun", plural(before, "charge"))
	}
	if taken > 0 {
		text += fmt.Sprintf("; %s reused, charged in other runs", plural(taken, "stage"))
	}
	return text
}
