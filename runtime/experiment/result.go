package experiment

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/record"
	"weir/runtime"
)

// Result is an experiment whose runs are done.
type Result struct {
	Plan   *Plan
	Bill   Bill
	Runs   []*runtime.Result // in the order of the trials
	Table  *Table
	Folder string // of the table as files; internal
}

// Result makes the table of an experiment whose runs are done, and keeps it in the folder of the experiments.
func (p *Plan) Result(ctx context.Context, opts runtime.Options, bill Bill, done []*runtime.Result) (r Result,
	err error) {
	r = Result{Plan: p, Bill: bill, Runs: done, Table: p.Table(bill, done)}
	r.Folder, err = r.Table.Write(ctx, opts.Disk, opts.Out, latest(done))
	return r, err
}

// SeriesResult is several experiments that were run as one.
type SeriesResult struct {
	Series
	Results []Result
	Folder  string // of the document on all of them; internal
}

// Results keeps the table of each of several experiments, and the document on all of them. done has the results of all
// runs, in the order of list and trials.
func Results(ctx context.Context, opts runtime.Options, list []*Plan, bills []DatasetBill, done []*runtime.Result,
) (r SeriesResult, err error) {
	r.Bills = bills
	names := datasetNames(list)
	var specs []string
	rest := done
	for _, p := range list {
		bill, err := BillOf(p.Runs(), opts.Fresh)
		if err != nil {
			return r, err
		}
		one, err := p.Result(ctx, opts, bill, rest[:len(p.Trials)])
		if err != nil {
			return r, err
		}
		rest = rest[len(p.Trials):]
		one.Table.Dataset = names[runtime.SourceKey(p.Base)]
		r.Results, specs = append(r.Results, one), append(specs, p.Base.Name)
		r.Tables, r.Files = append(r.Tables, one.Table), append(r.Files, one.Folder)
	}
	r.Name = commonName(specs)
	r.Folder, err = r.Series.write(opts.Disk, opts.Out, latest(done))
	return r, err
}

// commonName returns what names begin with, up to a hyphen.
func commonName(names []string) string {
	common := names[0]
	for _, n := range names[1:] {
		for !strings.HasPrefix(n+"-", common+"-") {
			hyphen := strings.LastIndexByte(common, '-')
			if hyphen < 0 {
				return "together"
			}
			common = common[:hyphen]
		}
	}
	return common
}

// Table makes the table of runs that are done, in the order of the trials.
func (p *Plan) Table(bill Bill, done []*runtime.Result) *Table {
	e := p.experiment(bill)
	took, declared, all := secondsOf(done), pipeline.StageFigures{}, map[string]float64{}
	for i, t := range p.Trials {
		maps.Copy(declared, p.Plans[i].Figures())
		run := runOf(t, p.Plans[i], done[i], took)
		run.Notes = notesOn(e.Figures, done[i].Record.Notes)
		e.Runs = append(e.Runs, run)
		e.Insecure = e.Insecure || done[i].Record.Insecure
		maps.Copy(all, done[i].Record.Metrics)
	}
	if e.Headline = e.Figures; len(e.Headline) == 0 {
		e.Headline = declared.Headlines(all)
	}
	e.References = References(declared, e.Headline)
	return Tabulate(e)
}

// experiment returns what the spec says of its experiment, without runs.
func (p *Plan) experiment(bill Bill) Experiment {
	base, x := p.Base, p.Base.Spec.Experiment
	if x == nil {
		x = &spec.Experiment{} // one of several specs, a single run
	}
	e := Experiment{Name: base.Name, Grid: []string{}, Own: []string{}, Cells: []string{}, Baseline: x.Baseline,
		Bill:    bill,
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
	for _, s := range base.Steps {
		e.Stages = append(e.Stages, s.ID)
	}
	return e
}

// References returns what real rows reach in metrics, by metric.
func References(declared pipeline.StageFigures, metrics []string) map[string]Reference {
	list := map[string]Reference{}
	for _, key := range metrics {
		if metric, words := declared.Reference(key); metric != "" {
			list[key] = Reference{Metric: metric, Words: words}
		}
	}
	return list
}

// notesOn returns the notes of a run on figures, or on what these are means of.
func notesOn(figures []string, notes map[string]string) map[string]string {
	enabled := map[string]string{}
	for name, why := range notes {
		for _, f := range figures {
			if name == f || strings.HasPrefix(name, f+".") {
				enabled[name] = why
			}
		}
	}
	return enabled
}

// printedOf returns what a paper prints; nil for nothing.
func printedOf(x *spec.Experiment) map[string]map[string][]float64 {
	if len(x.Printed) == 0 {
		return nil
	}
	all := map[string]map[string][]float64{}
	for _, cell := range x.Printed {
		all[cell.Name] = map[string][]float64{}
		for _, combination := range cell.Value {
			all[cell.Name][combination.Name] = combination.Value
		}
	}
	return all
}

// secondsOf returns how long each recipe took where one of the runs computed it.
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

func runOf(t spec.Trial, plan *compile.Plan, done *runtime.Result, took map[string]float64) RunRow {
	rec := done.Record
	r := RunRow{ID: rec.ID, Path: done.Path, Cell: t.Cell, Settings: t.Settings(), Repeat: t.Repeat + 1,
		Seed: runtime.PublicSeed(plan.Seed, t.Repeat), Delta: rec.Terms.Delta, Published: rec.Terms.Published,
		Proven: rec.Terms.Proven, Metrics: rec.Metrics, Seconds: secondsOfStages(rec, took)}
	if page := rec.Page(); page != "" {
		r.Report = path.Join("..", "..", rec.ID, page)
	}
	return r
}

// secondsOfStages returns how long each stage of a run took; a stage that was reused took what it did in the run that
// computed it, if that is one of the experiment.
func secondsOfStages(rec *record.Run, took map[string]float64) map[string]float64 {
	all := map[string]float64{}
	for _, s := range rec.Stages {
		if x, known := took[s.Recipe]; known && s.Reused {
			all[s.ID] = x
		} else if !s.Reused {
			all[s.ID] = s.Seconds
		}
	}
	return all
}

// latest returns when the last of runs began.
func latest(done []*runtime.Result) (began time.Time) {
	for _, r := range done {
		if r.Record.Started.After(began) {
			began = r.Record.Started
		}
	}
	return began
}
