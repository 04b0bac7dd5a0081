package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/experiment"
	"weir/runtime/source"
)

const whatIfLong = `Say before anything is paid how large the errors of a release would be.

The spec runs, at every epsilon and number of rows that is asked for, on rows that are made up
from its domain alone (dataset.demo: domain): from columns, categories, bounds and public
rules, with shapes that tables of people have. The figures are those that the report of a real
run would show; stages that give none, such as the report, are left out. No private file is
opened, nothing is charged and nothing is kept.

What the made-up rows cannot know is how your columns are shaped and how strongly they depend
on each other: errors that come from noise and from the number of rows are told well, what a
model misses of strong relations is not. A spec of generated rows (dataset.demo) keeps its own.

` + specHelp + `

Exit codes: 0 done; 2 bad spec or usage; 3 privacy refused.`

// whatIfFlags are the flags of `weir what-if`.
type whatIfFlags struct {
	spec             specFlags
	epsilons         []float64
	rows             []int64
	repeats, workers int
	page             string
	asJSON           bool

	left runsLeft
}

func whatIfCommand(s streams) *cobra.Command {
	var f whatIfFlags
	c := &cobra.Command{
		Use:   "what-if SPEC",
		Short: "Foretell errors by epsilon and rows, on made-up rows; reads no data",
		Long:  whatIfLong,
		Example: "  weir what-if pipeline.yaml\n" +
			"  weir what-if pipeline.yaml --epsilon 0.5,2 --rows 1000,10000 --html what-if.html",
		Args: exactly(1, "SPEC"),
		RunE: func(c *cobra.Command, args []string) error { return f.answer(c, s, args[0]) },
	}
	f.spec.add(c)
	c.Flags().Float64SliceVar(&f.epsilons, "epsilon", []float64{0.1, 1, 10}, "`budgets` to try")
	c.Flags().Lookup("epsilon").DefValue = "0.1,1,10"
	c.Flags().Int64SliceVar(&f.rows, "rows", nil, "`numbers` of rows to try (default: the number that the spec declares, "+
		"else 1000 and 10000)")
	c.Flags().Lookup("rows").DefValue = ""
	c.Flags().IntVar(&f.repeats, "repeats", 3, "runs of each, with noise and shapes of columns of their own")
	c.Flags().IntVar(&f.workers, "workers", goruntime.GOMAXPROCS(0),
		"stages and goroutines at a time; results do not depend on it")
	c.Flags().StringVar(&f.page, "html", "", "write curves and tables to this file")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func (f *whatIfFlags) answer(c *cobra.Command, s streams, arg string) error {
	if err := pageFits(f.page); err != nil {
		return err
	}
	base, err := f.spec.compile(arg)
	if err != nil {
		return err
	}
	if err := f.settle(base); err != nil {
		return usage(c, err)
	}
	table, err := f.simulate(c, s, arg, base)
	if err != nil {
		return err
	}
	if len(table.Headline) == 0 {
		return withCode(exitUsage, noFigure())
	}
	if f.page != "" {
		page, err := experiment.Page(table)
		if err != nil {
			return err
		}
		if err := (disk.Disk{}).WriteBytes(f.page, 0o644, page); err != nil {
			return err
		}
	}
	if f.asJSON {
		return printJSON(s.out, table)
	}
	return f.print(s, table)
}

func noFigure() error {
	return errors.New("what-if: finds no figure, must have a stage that compares rows, such as one of kind marginals")
}

// settle fills in what the flags leave to the spec, and refuses what cannot be tried.
func (f *whatIfFlags) settle(base *compile.Plan) error {
	var problems []error
	switch n := base.Spec.Dataset.RowsPublic; {
	case len(f.rows) == 0 && n > 0:
		f.rows = []int64{n}
	case len(f.rows) == 0:
		f.rows = []int64{1000, 10000} // of a table whose number of rows is private
	}
	for _, n := range f.rows {
		if n < 1 {
			problems = append(problems, fmt.Errorf("--rows: is %d, must be at least 1", n))
		}
	}
	for _, e := range f.epsilons {
		if !(e > 0) {
			problems = append(problems, fmt.Errorf("--epsilon: is %g, must be a number above 0", e))
		}
	}
	if !slices.ContainsFunc(base.Steps, func(s compile.Step) bool { return len(s.Figures) > 0 }) {
		problems = append(problems, noFigure())
	}
	if f.repeats < 1 {
		problems = append(problems, fmt.Errorf("--repeats: is %d, must be at least 1", f.repeats))
	}
	for _, step := range base.Steps {
		for _, file := range step.Work.Files {
			if !file.Public {
				problems = append(problems, fmt.Errorf("stages.%s: reads rows of %s, must read none: what-if opens no "+
					"private file; hold out a part by a stage of kind split", step.ID, file.Path))
			}
		}
	}
	return errors.Join(problems...)
}

// sets have the spec run on the given number of made-up rows at every epsilon, without the stages that have no part in
// a figure.
func (f *whatIfFlags) sets(base *compile.Plan, rows int64, repeat int) []string {
	var epsilons []string
	for _, e := range f.epsilons {
		epsilons = append(epsilons, decimal(e))
	}
	sets := append(slices.Clone(f.spec.set), "dataset.budget=null", fmt.Sprintf("seed=%d", repeat),
		fmt.Sprintf("experiment={grid: {privacy.epsilon: [%s]}}", strings.Join(epsilons, ", ")))
	for _, stage := range experiment.Unmeasured(base) {
		sets = append(sets, "stages."+stage+"=off")
	}
	if base.Spec.Dataset.RowsPublic > 0 {
		sets = append(sets, fmt.Sprintf("dataset.rows_public=%d", rows))
	}
	return append(sets, source.Invented(base.Spec.Dataset.Declared, rows)...)
}

// rowsAxis is how the table calls the number of rows.
const rowsAxis = "rows"

func decimal(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// simulate makes one table of runs on made-up rows in a folder that it removes.
func (f *whatIfFlags) simulate(c *cobra.Command, s streams, arg string, base *compile.Plan) (*experiment.Table, error) {
	folder, err := os.MkdirTemp("", "weir-what-if-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	f.left = runsLeft{began: time.Now(), total: len(f.rows) * f.repeats * len(f.epsilons)}
	var all experiment.Experiment
	for _, rows := range f.rows {
		for repeat := range f.repeats {
			own := filepath.Join(folder, fmt.Sprintf("%d-%d", rows, repeat))
			f.announce(s.err, rows, repeat)
			t, err := f.tried(c, s, arg, own, f.sets(base, rows, repeat), uint64(repeat))
			if err != nil {
				return nil, err
			}
			for i := range t.Runs {
				t.Runs[i].Report, t.Runs[i].Repeat = "", repeat+1 // the page is gone with the folder
				t.Runs[i].Settings[rowsAxis] = strconv.FormatInt(rows, 10)
			}
			t.Runs = append(all.Runs, t.Runs...)
			all = t.Experiment
		}
	}
	all.Grid, all.Foretold, all.Insecure = append(all.Grid, rowsAxis), true, false
	return experiment.Tabulate(all), nil
}

// announce says which runs come next, by the numbers that progress has for them.
func (f *whatIfFlags) announce(w io.Writer, rows int64, repeat int) {
	for i, e := range f.epsilons {
		fmt.Fprintf(w, "run %d of %d: epsilon %g, %d rows, repeat %d of %d\n", f.left.done+i+1, f.left.total, e, rows,
			repeat+1, f.repeats)
	}
}

// tried runs the spec with these settings, noise from a seed.
func (f *whatIfFlags) tried(c *cobra.Command, s streams, arg, folder string, sets []string, noise uint64,
) (*experiment.Table, error) {
	flags := f.spec
	flags.set = sets
	base, err := flags.compile(arg)
	if err != nil {
		return nil, err
	}
	x, err := flags.plan(arg, base)
	if err != nil {
		return nil, err
	}
	progress := newProgress(s.err, f.asJSON)
	opts := runtime.Local(folder)
	opts.Ledger, opts.Dir, opts.Confine = filepath.Join(folder, "ledger.jsonl"), f.spec.dir(arg), f.spec.confine
	opts.Workers, opts.Insecure, opts.Version, opts.Build = f.workers, &noise, thisVersion().Weir, s.build()
	opts.Log, opts.Progress = newLog(s.err, false), progress
	f.left.show, opts.Ran, opts.RunsDone = progress.Runs, f.left.ran, f.left.done
	done, err := experiment.Run(c.Context(), []*experiment.Plan{x}, opts)
	progress.Wait()
	if err != nil {
		return nil, err
	}
	table := x.Table(experiment.Bill{}, done)
	declared := pipeline.StageFigures(base.Figures())
	if judged := declared.Judged(table.Metrics); len(judged) > 0 {
		table.Headline, table.References = judged, experiment.References(declared, judged)
	}
	return table, nil
}

// print writes a table for each number of rows: a line for each figure, a column for each epsilon.
func (f *whatIfFlags) print(s streams, t *experiment.Table) error {
	w := s.out
	fmt.Fprint(w, s.wrap("Made-up rows of this domain, noise from a seed: nothing was read, charged or kept. Errors "+
		"from noise and from the number of rows carry over to real rows; how strongly your columns "+
		"depend on each other does not.\n"))
	for _, n := range f.rows {
		head := []string{"FIGURE"}
		for _, e := range f.epsilons {
			head = append(head, fmt.Sprintf("EPSILON %g", e))
		}
		var rows [][]string
		for _, key := range t.Headline {
			rows = append(rows, append([]string{key}, f.cells(t, n, key)...))
		}
		text := words.Listing(append(head, "OTHER REAL ROWS"), rows, s.columns)
		if _, err := fmt.Fprintf(w, "\n%d rows\n%s", n, text); err != nil {
			return err
		}
	}
	return nil
}

// cells returns the means of a figure by epsilon with half their intervals, then what rows without noise reach.
func (f *whatIfFlags) cells(t *experiment.Table, n int64, key string) (line []string) {
	rest := "–"
	for _, e := range f.epsilons {
		cell := "–"
		for _, r := range t.Rows {
			if r.Settings["privacy.epsilon"] == decimal(e) && r.Settings[rowsAxis] == strconv.FormatInt(n, 10) {
				cell = r.Metrics[key].Words(r.Runs)
				if of, has := t.References[key]; has && r.Metrics[of.Metric].Mean != nil {
					rest = fmt.Sprintf("%.4f", *r.Metrics[of.Metric].Mean)
				}
			}
		}
		line = append(line, cell)
	}
	return append(line, rest)
}
