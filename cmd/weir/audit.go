package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/runtime"
	"weir/runtime/audit"
)

// auditFlags are the flags of `weir audit`.
type auditFlags struct {
	spec       specFlags
	data, out  string
	neighbours int
	neighbour  []string
	with       string
	alone      bool
	workers    int
	asJSON     bool
	canary     canaryFlags
}

const auditLong = `Carry out a spec on its dataset and on neighbours of it, which differ in the rows of
one privacy unit, and compare all that others would see. The second run gives out what
the mechanisms of the first one gave out, so that nothing may differ: no released byte,
file name, error, total of progress, order of mechanisms or number of draws; what goes
into a mechanism may move by what was paid for, and private tables as their headers say.
Then pairs of runs, on neighbours too: again with new noise, on the rows in another
order under a new version, interrupted and continued, and with a second spec (--with);
no two values may share noise, and no two tables a secret.

weir chooses neighbours that move what mechanisms take in most: without, or with a row
at an end of its domain in place of, the rows that lie farthest out, are rarest, lack
most values or belong to the largest unit, and with rows of nobody. --neighbour asks for
others: rows by number, or a table of rows that come or replace.

This is evidence on the neighbours that were tried, not a proof. Nothing is charged,
since nothing leaves: every run has noise of its own, and a ledger and a folder that are
removed. Which rows were tried is written to OUT/NAME/internal, for the owner alone. Each
neighbour costs a run of all that can differ; --set makes a long training shorter.

` + canaryLong + `

` + specHelp + `

Exit codes: 0 no fault found; 1 a run fails; 2 bad spec or usage; 3 privacy refused; 4 a
fault was found; 130 interrupted.`

func auditCommand(s streams) *cobra.Command {
	var f auditFlags
	c := &cobra.Command{
		Use:   "audit SPEC",
		Short: "Hold a spec to what it promises, on neighbours of its dataset and in pairs of runs",
		Long:  auditLong,
		Example: `  weir audit examples/cardio/quickstart.yaml
  weir audit spec.yaml --data patients.csv --neighbours 20
  weir audit spec.yaml --neighbour 17,203 --neighbour others.csv --json
  weir audit spec.yaml --canary --canaries 10000 --runs 3`,
		Args: exactly(1, "SPEC"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args[0]) },
	}
	c.AddCommand(auditReport(s))
	f.spec.add(c)
	flags := c.Flags()
	flags.StringVar(&f.data, "data", "", "table to audit on (as --set dataset.file=FILE)")
	flags.StringVar(&f.out, "out", "runs", "folder of runs; which rows were tried is written below it")
	flags.IntVar(&f.neighbours, "neighbours", 8, "neighbours that weir chooses (0 with --neighbour: those alone)")
	flags.StringArrayVar(&f.neighbour, "neighbour", nil, "`ROWS` to be without or to replace, by number, such as 17,203; "+
		"or a table of rows that come or replace (may be repeated)")
	flags.StringVar(&f.with, "with", "", "a second spec on the same dataset, run after the first one as a pair")
	flags.BoolVar(&f.alone, "no-pairs", false, "neighbours alone, no pairs of runs")
	flags.IntVar(&f.workers, "workers", goruntime.GOMAXPROCS(0), "stages and goroutines at a time; results do not depend "+
		"on it")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object")
	f.canary.add(c)
	return c
}

// auditFolder begins the names of folders of audits below TMPDIR.
const auditFolder = "weir-audit-"

// run audits a spec.
func (f *auditFlags) run(c *cobra.Command, s streams, arg string) (err error) {
	if err := f.canary.misplaced(c); err != nil {
		return err
	}
	if f.data != "" {
		f.spec.set = append(f.spec.set, "dataset.file="+f.data)
	}
	plan, err := f.spec.compile(arg)
	if err != nil {
		return err
	}
	if plan.Spec.Experiment != nil && !f.asJSON {
		fmt.Fprintln(s.err, "note: the experiment is left out; the spec is audited with its own settings")
	}
	if f.canary.on {
		return f.canaries(c, s, arg, plan)
	}
	dir, remove, err := privateFolder(auditFolder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	began := time.Now()
	progress := newProgress(s.err, f.asJSON)
	report, err := f.audit(c, s, arg, plan, dir, progress)
	progress.Wait()
	if errors.Is(err, audit.ErrStays) || errors.Is(err, audit.ErrOtherDataset) || errors.As(err, new(*audit.NoRowError)) {
		return withCode(exitUsage, err)
	}
	if err != nil {
		return err
	}
	path, err := f.keep(plan, report)
	if err != nil {
		return err
	}
	return errors.Join(f.print(s.out, arg, report, path, time.Since(began)), f.verdict(report))
}

// open holds the dataset of a plan open, with rehearsals in a folder.
func (f *auditFlags) open(c *cobra.Command, s streams, arg string, plan *compile.Plan, dir string) (*audit.Subject,
	error) {
	opts := runtime.Local(dir)
	opts.Disk, opts.Dir, opts.Confine, opts.Workers = diskOf(c, s), f.spec.dir(arg), f.spec.confine, f.workers
	opts.Version, opts.Build = thisVersion().Weir, s.build()
	return audit.Open(plan, opts)
}

// audit tries neighbours and pairs in a folder.
func (f *auditFlags) audit(c *cobra.Command, s streams, arg string, plan *compile.Plan, dir string, p progress) (
	*audit.Report, error) {
	subject, err := f.open(c, s, arg, plan, dir)
	if err != nil {
		return nil, err
	}
	defer subject.Close()
	settings := audit.Settings{Neighbours: f.neighbours, Pairs: !f.alone, Ran: func(done, total int, what string) {
		p.Runs(done, total, fmt.Sprintf("%d of %d: %s", done, total, what))
	}}
	if len(f.neighbour) > 0 && !c.Flags().Changed("neighbours") {
		settings.Neighbours = 0
	}
	if err := f.readNeighbours(c, subject, &settings); err != nil {
		return nil, err
	}
	if f.with != "" {
		if settings.With, err = f.spec.compile(f.with); err != nil {
			return nil, err
		}
	}
	if settings.Seed, err = audit.NewSeed(rand.Reader); err != nil {
		return nil, err
	}
	return subject.Audit(c.Context(), settings)
}

// readNeighbours reads the flags --neighbours and --neighbour into settings.
func (f *auditFlags) readNeighbours(c *cobra.Command, subject *audit.Subject, settings *audit.Settings) error {
	if f.neighbours < 0 || f.neighbours == 0 && len(f.neighbour) == 0 {
		return usage(c, fmt.Errorf("--neighbours: is %d, must be 1 or more, or 0 with --neighbour", f.neighbours))
	}
	for _, text := range f.neighbour {
		if text == "0" {
			return usage(c, errors.New("--neighbour: is row 0, must be a row from 1, or a table"))
		}
		rows, numbers := rowNumbers(text)
		if numbers {
			settings.Places = append(settings.Places, rows...)
			continue
		}
		units, err := subject.ReadUnits(c.Context(), text)
		if err != nil {
			return withCode(exitUsage, fmt.Errorf("--neighbour: %w", err))
		}
		settings.Others = append(settings.Others, units...)
	}
	return nil
}

// rowNumbers reads places of rows, which people count from 1; false where a text is the name of a file.
func rowNumbers(text string) (places []int64, numbers bool) {
	for _, part := range strings.Split(text, ",") {
		row, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || row < 1 {
			return nil, false
		}
		places = append(places, row-1)
	}
	return places, true
}

// keep writes which rows were tried where only the owner reads it.
func (f *auditFlags) keep(plan *compile.Plan, report *audit.Report) (path string, err error) {
	dir := filepath.Join(f.out, plan.Name, "internal")
	path = filepath.Join(dir, time.Now().UTC().Format("audit-20060102-150405.000")+".json")
	data, err := json.MarshalIndent(map[string]any{"spec_digest": plan.Digest, "audit": report, "tried": report.Tried,
		"panics": report.Panics}, "", "  ")
	if err == nil {
		err = disk.Disk{}.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = disk.Disk{}.WriteBytes(path, 0o600, append(data, '\n'))
	}
	return path, err
}

// auditResult is what `weir audit --json` prints.
type auditResult struct {
	Spec  string `json:"spec"`
	Sound bool   `json:"no_fault_found"`
	*audit.Report
	Seconds float64 `json:"seconds"`
	Inside  string  `json:"internal"` // where the rows are that were tried
}

func (f *auditFlags) print(w io.Writer, arg string, report *audit.Report, path string, took time.Duration) error {
	if f.asJSON {
		return printJSON(w, auditResult{arg, report.Sound(), report, took.Seconds(), path})
	}
	_, err := fmt.Fprintf(plainly(w), "%s\n%-16s %s\n%-16s %s (for the owner alone)\n", report.Text(), "took",
		took.Round(100*time.Millisecond), "rows tried", path)
	return err
}

// verdict returns the error of an audit that found something.
func (f *auditFlags) verdict(report *audit.Report) error {
	if report.Sound() {
		return nil
	}
	err := withCode(exitMismatch, fmt.Errorf("the audit found %s", words.Plural(len(report.Faults), "fault")))
	if f.asJSON {
		return silent(err)
	}
	return err
}
