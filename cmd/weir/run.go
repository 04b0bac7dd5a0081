package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime"
	"weir/runtime/lock"
	"weir/runtime/payment"
	"weir/runtime/review"
)

// runFlags are the flags of `weir run`.
type runFlags struct {
	spec     specFlags
	out      string
	ledger   string
	workers  int
	counting pipeline.Counting
	fresh    bool
	yes      bool
	dropKey  bool
	insecure uint64
	verbose  bool
	asJSON   bool
	events   bool
	locked   bool
	lock     *lock.Spec    // of --locked
	plan     *compile.Plan // of a run that is not an experiment
	commit   string        // at which the spec stands so
}

const runLong = `Carry out a spec: open the data, run the stages, write the release and the record.

The plan and its bill are what "weir plan" prints. Each charge is written to the
ledger of the dataset before its first noise is drawn. Nothing is paid for twice: a
stage that an earlier run of this dataset has charged (the same kind, settings,
inputs, seed, noise, unit and adjacency, in whichever spec) is taken from there,
so that new rows, plots or evaluations cost nothing. An interrupted run is
continued by running it again; a finished one is shown again; one that another
process works on is waited for. --fresh draws new noise, which is a new charge.

In a terminal weir shows what will be charged, what is spent and what remains of the
budget of the dataset, and asks before it charges (--yes: does not ask). Generated
rows (dataset.demo) are charged unasked. A program that starts weir is asked as a
person is by --events: JSON objects on stderr, a line each, that say what happens; after
one whose event is charge, weir waits for a line on stdin, y to charge or any other.

` + specsHelp + `

OUT/NAME/ID/release holds what may leave: the synthetic table, the model, the
domain and PRIVACY.md. OUT/NAME/ID/internal holds what may not: metrics against
real rows, the report and the noise key.

Exit codes: 0 done; 1 a stage failed; 2 bad spec or usage; 3 privacy refused or
over budget; 4 the ledger was altered, or --locked and something differs; 130 interrupted, or
the answer was no.`

func runCommand(s streams) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run SPEC...",
		Short: "Run a spec: synthetic table, report, record and ledger",
		Long:  runLong,
		Example: `  weir run examples/cardio/quickstart.yaml
  weir run spec.yaml --set dataset.file=patients.csv --out /secure/runs
  weir run spec.yaml --json > result.json
  weir run specs:ganad --set experiment.repeats=2`,
		Args: atLeastOne,
		RunE: func(c *cobra.Command, args []string) error {
			if f.events {
				e := newEvents(s.err)
				s.err, f.asJSON = e, true
				return e.end(c.Context(), f.start(c, s, args))
			}
			return f.start(c, s, args)
		},
	}
	f.spec.add(c)
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "runs", "folder of runs")
	flags.StringVar(&f.ledger, "ledger", "", "ledger of the dataset (default: beside the dataset)")
	flags.IntVar(&f.workers, "workers", goruntime.GOMAXPROCS(0),
		"stages and goroutines at a time; results do not depend on it")
	flags.Func("count", "how models of marginals count, `held|passes`: rows in memory, or read again and again in "+
		"memory that does not grow with them (default: by public rows, as the plan says); results do not depend on it",
		f.setCounting)
	flags.BoolVar(&f.fresh, "fresh", false, "draw new noise, as a new charge, even where a finished run exists")
	flags.BoolVar(&f.yes, "yes", false, "charge without asking")
	flags.BoolVar(&f.dropKey, "drop-noise-key", false, "do not keep the noise key: nobody can replay the run or "+
		"subtract its noise")
	flags.Uint64Var(&f.insecure, "insecure-noise-seed", 0, "noise from a seed, for tests: the result is NOT PRIVATE")
	flags.BoolVar(&f.locked, "locked", false, "refuse, with exit code 4, where spec, data or version differ from "+
		"weir.lock beside the spec")
	flags.BoolVar(&f.verbose, "verbose", false, "log every stage on stderr")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object on stdout; logs go to stderr")
	flags.BoolVar(&f.events, "events", false, "--json, and say on stderr what happens as JSON objects, a line each; "+
		"a charge is asked for")
	return c
}

func (f *runFlags) setCounting(how string) error {
	f.counting = pipeline.Counting(how)
	if f.counting != pipeline.CountHeld && f.counting != pipeline.CountPasses {
		return fmt.Errorf("must be %s or %s", pipeline.CountHeld, pipeline.CountPasses)
	}
	return nil
}

func (f *runFlags) start(c *cobra.Command, s streams, args []string) error {
	if args = several(args); len(args) > 1 {
		return f.several(c, s, args)
	}
	return f.run(c, s, args[0])
}

func (f *runFlags) run(c *cobra.Command, s streams, arg string) error {
	plan, err := f.spec.compile(arg)
	if err != nil {
		return err
	}
	if err := f.openLock(c, arg, plan); err != nil {
		return err
	}
	if f.commit, err = f.committed(c.Context(), arg, plan); err != nil {
		return err
	}
	if !f.asJSON {
		printWarnings(s.err, s.wrap, plan)
	}
	if plan.Spec.Experiment != nil {
		return f.experiment(c, s, arg, plan)
	}
	f.plan = plan
	progress := newProgress(s.err, f.asJSON)
	result, err := runtime.Run(c.Context(), plan, f.options(c, s, arg, progress))
	progress.Wait()
	if err != nil {
		f.printAsked(c.Context(), s, arg, plan, err)
		return f.failure(c.Context(), err, result)
	}
	if f.asJSON {
		return printJSON(s.out, resultJSON(result))
	}
	if err := printResult(s, result); err != nil {
		return err
	}
	return f.printLeft(c.Context(), s, arg, plan, result.Record.Insecure)
}

// committed returns the commit that has the spec of a run; none has one with settings of the command line.
func (f *runFlags) committed(ctx context.Context, arg string, plan *compile.Plan) (string, error) {
	reg, err := registry()
	if err != nil || len(f.spec.set) > 0 {
		return "", err
	}
	return review.CommittedAt(ctx, arg, plan.Spec.Digest, reg), nil
}

func (f *runFlags) options(c *cobra.Command, s streams, arg string, progress progress) runtime.Options {
	opts := runtime.Local(f.out)
	opts.Disk, opts.Dir, opts.Confine, opts.Ledger = diskOf(c, s), f.spec.dir(arg), f.spec.confine, f.ledger
	opts.Workers, opts.Counting, opts.Fresh, opts.DropKey = f.workers, f.counting, f.fresh, f.dropKey
	opts.Version, opts.Build = thisVersion().Weir, s.build()
	opts.Commit = f.commit
	opts.Log, opts.Progress, opts.Looking, opts.Confirm = newLog(s.err, f.verbose), progress, progress.Looking,
		f.ask(c.Context(), s)
	if c.Flags().Changed("insecure-noise-seed") {
		opts.Insecure, opts.Confirm = &f.insecure, nil
	}
	if f.lock != nil {
		opts.Locked = func(d runtime.Data) error { return lockCode(f.lock.Check(d)) }
	}
	return opts
}

// printWarnings says before a run what weir check would; the plan knew it, so once
// the noise is paid for it is too late.
func printWarnings(w io.Writer, wrap func(string) string, plan *compile.Plan) {
	printNotes(w, wrap, plan)
	for _, f := range plan.Findings {
		if f.Warns() {
			fmt.Fprint(w, wrap(words.Finding(f)))
		}
	}
}

// printNotes says what overrides change beyond what they say.
func printNotes(w io.Writer, wrap func(string) string, plan *compile.Plan) {
	for _, note := range plan.Spec.Notes {
		fmt.Fprint(w, wrap("note: "+note+"\n"))
	}
}

// runResult is what `weir run --json` prints.
type runResult struct {
	Run      string              `json:"run"`
	Reused   bool                `json:"reused"`
	Charged  []string            `json:"charged"`                  // ids of the charges of this run
	Before   []string            `json:"charged_before,omitempty"` // of those, what was paid before the run was continued or made again
	From     map[string]string   `json:"reused_stages,omitempty"`  // paid stages, and the run that charged each
	Epsilon  map[string]*float64 `json:"epsilon"`
	Delta    float64             `json:"delta"`
	Release  []string            `json:"release"`
	Inside   []string            `json:"internal"`
	Metrics  map[string]float64  `json:"metrics"`
	Notes    map[string]string   `json:"notes,omitempty"`
	Remarks  []record.Remark     `json:"remarks,omitempty"` // what stages say of what they released
	Ledger   string              `json:"ledger"`
	Insecure bool                `json:"not_private,omitempty"`
}

func resultJSON(r *runtime.Result) runResult {
	rec := r.Record
	charged, from := payment.ChargedBy(rec)
	return runResult{Run: r.Path, Reused: r.Reused, Charged: charged, Before: r.Before, From: from, Delta: rec.Terms.Delta,
		Metrics: rec.Metrics, Notes: rec.Notes, Remarks: rec.Remarks, Ledger: rec.Dataset.Ledger,
		Epsilon: map[string]*float64{"published": rec.Terms.Published, "proven": rec.Terms.Proven},
		Release: paths(r.Path, rec.Release), Inside: paths(r.Path, rec.Internal), Insecure: rec.Insecure}
}

func paths(dir string, files []record.File) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = filepath.Join(dir, f.Path)
	}
	return list
}

// printLeft ends a run by what the budget of its dataset has left, as the ledger says now.
// Where the ledger cannot be read the run, which is done, says nothing of it; noise from a
// test seed has a ledger of its own.
func (f *runFlags) printLeft(ctx context.Context, s streams, arg string, plan *compile.Plan, insecure bool) error {
	if plan.Dataset.Budget == nil || insecure {
		return nil
	}
	place := ledgerPlaceFlags{out: f.out, ledger: f.ledger}
	quotes, _ := place.foresee(ctx, s, &f.spec, arg, []runtime.Trial{{Plan: plan}})
	for _, q := range quotes {
		if q.Cap == nil {
			continue
		}
		line := fmt.Sprintf("epsilon %.6g; %s remains%s", *q.Cap, privacy.Room(max(0, *q.Cap-q.Spent.Epsilon)),
			review.RoomText(q))
		if _, err := fmt.Fprintf(s.out, "%-16s %s\n", "budget", line); err != nil {
			return err
		}
	}
	return nil
}

// printAsked says on stderr what a run that the budget refused would have charged, and which edit makes it a new
// charge.
func (f *runFlags) printAsked(ctx context.Context, s streams, arg string, plan *compile.Plan, refusal error) {
	if !errors.Is(refusal, ledger.ErrOverBudget) {
		return
	}
	place := ledgerPlaceFlags{out: f.out, ledger: f.ledger, fresh: f.fresh}
	quotes, _ := place.foresee(ctx, s, &f.spec, arg, []runtime.Trial{{Plan: plan}})
	why := f.because(quotes)
	for _, q := range quotes {
		fmt.Fprint(s.err, plaintext.Text("This run would charge\n"+review.DueText(q.Dues, why)))
	}
}

// failure says what is left of runs that did not end well; results may be nil.
func (f *runFlags) failure(ctx context.Context, err error, results ...*runtime.Result) error {
	if errors.Is(err, errDeclined) {
		return err
	}
	err = f.alsoLocked(err)
	if ctx.Err() != nil || errors.Is(err, context.Canceled) {
		return withCode(exitInterrupted, fmt.Errorf("interrupted%s; run the same command again to continue", stops(results)))
	}
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; make room and run the same command again: it continues, and what is paid is not charged again",
			err)
	}
	err = overBudget(err)
	if paid := strings.Join(paidFor(results), " and "); paid != "" {
		return fmt.Errorf("%w\nThe charge of %s stands. It is not made again where %[2]s and what lies before stay as they "+
			"are: correct the rest of the spec and run it again, without --fresh; what %[2]s made is used again for nothing",
			err, paid)
	}
	return err
}

// paidFor returns the stages that runs have charged: public facts of their ledgers.
func paidFor(results []*runtime.Result) (stages []string) {
	for _, r := range results {
		if r == nil || r.Record == nil || r.Reused {
			continue
		}
		for _, c := range r.Record.Charges {
			if c.Run == "" && !slices.Contains(stages, c.Stage) {
				stages = append(stages, c.Stage)
			}
		}
	}
	return stages
}

// stops says where stages stood, and what the same command does with them.
func stops(results []*runtime.Result) string {
	var b strings.Builder
	for _, r := range results {
		if r == nil {
			continue
		}
		for _, s := range r.Stops {
			next := "before its first checkpoint: it will begin anew, with the same noise"
			if s.Checkpoint {
				next = "with a checkpoint to go on from"
			}
			fmt.Fprintf(&b, ", %s at %d of %d (%s)", s.Stage, s.Done, s.Total, next)
		}
	}
	return b.String()
}

// errDeclined is the answer no.
var errDeclined = errors.New("nothing was charged and nothing was run")

// ask shows what is about to be charged and waits for a yes. Rows that a generator makes up
// are nobody's, so they are charged unasked, and so is noise from a test seed.
func (f *runFlags) ask(ctx context.Context, s streams) func([]payment.Quote) error {
	e, started := s.err.(*events)
	if f.yes || !s.terminal && !started {
		return nil
	}
	return func(quotes []payment.Quote) error {
		text := review.QuoteText(quotes, f.because(quotes))
		if started {
			if err := e.ask(text, quotes); err != nil {
				return err
			}
		} else {
			fmt.Fprint(s.err, s.folded(text), "Charge it? [y/N] ")
		}
		if answeredYes(ctx, s.in) {
			return nil
		}
		return withCode(exitInterrupted, errDeclined)
	}
}

// answeredYes reads a line. Where ctx is done before it comes nothing is begun, so there is nothing to continue.
func answeredYes(ctx context.Context, in io.Reader) bool {
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false
	case a := <-answer:
		return a == "y" || a == "yes"
	}
}

// because says what makes the stages of the run new charges; nothing where that cannot be found out, which stops
// nobody.
func (f *runFlags) because(quotes []payment.Quote) map[string]review.Because {
	if f.plan == nil {
		return nil
	}
	why, _ := review.Becauses(f.out, f.plan, quotes)
	return why
}

// foresee says what runs would charge, by ledgers alone, and refuses as they would.
func (f *ledgerPlaceFlags) foresee(ctx context.Context, s streams, spec *specFlags, arg string,
	trials []runtime.Trial) ([]payment.Quote, error) {
	opts := f.options(s)
	opts.Dir, opts.Confine = spec.dir(arg), spec.confine
	quotes, err := runtime.Foresee(ctx, trials, opts)
	return quotes, overBudget(err)
}

// overBudget gives a refusal of the ledger its exit code.
func overBudget(err error) error {
	if errors.Is(err, ledger.ErrOverBudget) || errors.Is(err, ledger.ErrFilter) || errors.Is(err, privacy.ErrUnsupported) {
		return withCode(exitPrivacy, err)
	}
	return err
}

// printQuotes adds to a plan what the ledger says of it.
func printQuotes(s streams, quotes []payment.Quote, why map[string]review.Because) error {
	if !review.HasHistory(quotes) {
		return nil
	}
	_, err := io.WriteString(s.out, "\n"+s.folded(review.QuoteText(quotes, why)))
	return err
}
