package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy"
	"weir/privacy/account"
	"weir/privacy/ledger"
	"weir/record"
	"weir/runtime"
	"weir/runtime/dataset"
	"weir/runtime/review"
	"weir/runtime/store"
)

const diffLong = `Say how two specs, saved plans, runs or ledgers differ: settings by path with every
default filled in, so that the order of keys, comments and layout count for nothing;
what follows from them in the plan; the bill, stage by stage, published and proven;
of two runs also how their figures moved, and whether beyond their spread. No data
is opened.

Each of A and B is
  SPEC     a path, or specs:NAME for one that is built in
  PLAN     what weir plan --json printed
  RUN      a run: its folder OUT/NAME/ID; its id as weir runs prints it, or its beginning;
           or latest, the newest run that is done (--out: the folder of runs)
  LEDGER   a ledger, or the table beside it; compared with a ledger alone
  REV:PATH a spec or a ledger in git, PATH from the top of the repository
With --, both are read from git, a spec with the domain that was committed beside it:
  REV..REV -- FILE   a spec or a ledger in two revisions (REV...REV: since they parted)
  REV -- FILE        in a revision, and as it is now

Figures of runs are private, since they are computed from real rows: text and --json
show them to whoever may read the run's folder, --format markdown, which is for pull
requests, leaves them out, and --exit-code does not count them.

Exit codes: 0 compared; 2 usage, or a bad spec; 3 a ledger is of an earlier format;
4 they differ, with --exit-code, or a ledger was altered.`

const diffExample = `  weir diff specs:uclanesl-adult spec.yaml
  weir diff --format markdown main..HEAD -- spec.yaml
  weir diff --exit-code HEAD -- spec.yaml
  weir diff runs/study/20261121-052215-74fe39 runs/study/20261121-060112-a1b2c3
  weir diff 20261121-0522 latest
  weir diff old.weir-ledger.jsonl patients.csv.weir-ledger.jsonl`

func diffCommand(s streams) *cobra.Command {
	var d differ
	c := &cobra.Command{
		Use:     "diff A B | diff REV[..REV] -- FILE",
		Short:   "Say how two specs, plans, runs or ledgers differ",
		Long:    diffLong,
		Example: diffExample,
		Args:    d.args,
		RunE: func(c *cobra.Command, args []string) error {
			if d.asJSON {
				d.format = "json"
			}
			draw, ok := diffFormats()[d.format]
			if !ok {
				return usage(c, fmt.Errorf("--format: is %q, must be text, markdown or json", d.format))
			}
			report, err := d.compare(c.Context(), c, args)
			if err != nil {
				return err
			}
			if err := draw(s, report); err != nil || !d.exitCode || !report.Differ {
				return err
			}
			return silent(withCode(exitMismatch, errors.New("they differ")))
		},
	}
	c.Flags().StringVar(&d.format, "format", "text", "text, markdown or json")
	c.Flags().BoolVar(&d.asJSON, "json", false, "print one JSON object (--format json)")
	c.Flags().BoolVar(&d.exitCode, "exit-code", false, "exit with 4 where they differ")
	d.place.add(c, "out")
	c.ValidArgsFunction = d.completeSide
	completeFlag(c, "format", oneOf("text", "markdown", "json"))
	c.Flags().BoolVar(&d.spec.confine, "confine", false, "refuse paths of a spec that leave its folder, through .. or "+
		"links")
	return c
}

// differ is what weir diff was asked.
type differ struct {
	spec             specFlags
	place            runPlace
	format           string
	asJSON, exitCode bool
}

// args wants two things, or a revision and a spec behind --.
func (d *differ) args(c *cobra.Command, args []string) error {
	if n := c.ArgsLenAtDash(); n < 0 {
		return exactly(2, "A B")(c, args)
	} else if n != 1 || len(args) != 2 {
		return usage(c, fmt.Errorf("%s: is given %d arguments before -- and %d after it, must be given one revision or "+
			"range and one FILE", c.CommandPath(), n, len(args)-n))
	}
	return nil
}

func (d *differ) compare(ctx context.Context, c *cobra.Command, args []string) (words.Differences, error) {
	sides := d.sides
	if c.ArgsLenAtDash() == 1 {
		sides = d.revisions
	}
	a, b, err := sides(ctx, c, args)
	if err != nil {
		return words.Differences{}, err
	}
	report, err := words.Compare(a, b)
	return report, withCode(exitUsage, err)
}

func (d *differ) sides(_ context.Context, c *cobra.Command, args []string) (a, b words.Side, err error) {
	a, errA := d.side(c, args[0])
	b, errB := d.side(c, args[1])
	if errA != nil && errB != nil {
		return a, b, withCode(exitCode(c.Context(), errA), fmt.Errorf("%w\n%w", errA, errB))
	}
	return a, b, errors.Join(errA, errB)
}

func diffFormats() map[string]func(streams, words.Differences) error {
	return map[string]func(streams, words.Differences) error{
		"text": func(s streams, r words.Differences) error {
			_, err := io.WriteString(s.out, r.Text(func(t words.Tone, line string) string { return tinted(s.out, t, line) },
				s.columns))
			return err
		},
		"markdown": func(s streams, r words.Differences) error {
			_, err := io.WriteString(s.out, r.Markdown())
			return err
		},
		"json": func(s streams, r words.Differences) error { return printJSON(s.out, r) },
	}
}

func tinted(w io.Writer, t words.Tone, line string) string {
	switch t {
	case words.Heading:
		return paint(w, bold, line)
	case words.Plus:
		return paint(w, green, line)
	case words.Minus:
		return paint(w, reddish, line)
	}
	return line
}

// SGR codes of what was added and removed.
const (
	green   = "32"
	reddish = "31"
)

// commitFile returns the side REV:PATH, as git has it: PATH from the top of the repository that the
// current folder lies in.
func commitFile(c *cobra.Command, rev, name string) (words.Side, error) {
	r, err := review.OpenCommit(c.Context(), ".", rev)
	if err != nil {
		return words.Side{}, usageOf(c, err)
	}
	return revisionSide(c, r, path.Clean(filepath.ToSlash(name)))
}

// revisionSide returns a spec or a ledger of a budget.
func revisionSide(c *cobra.Command, r *review.Commit, name string) (words.Side, error) {
	reg, err := registry()
	if err != nil {
		return words.Side{}, err
	}
	shown := r.Name + ":" + name
	if !strings.HasSuffix(name, dataset.LedgerSuffix) {
		sp, err := r.Spec(name, reg)
		if err != nil {
			return words.Side{}, err
		}
		return sideOf(shown, sp)
	}
	entries, err := r.Ledger(name)
	if err != nil {
		return words.Side{}, err
	}
	return ledgerOfEntries(c, shown, entries)
}

// revisions returns the two sides of a range, or of one revision and the working tree.
func (d *differ) revisions(ctx context.Context, c *cobra.Command, args []string) (a, b words.Side, err error) {
	from, target, isRange := strings.Cut(args[0], "..")
	old, err := review.OpenCommit(ctx, args[1], headOr(from, isRange))
	if err != nil {
		return a, b, usageOf(c, err)
	}
	name, err := old.Inside(args[1])
	if err != nil {
		return a, b, err
	}
	if !isRange {
		if a, err = revisionSide(c, old, name); err == nil {
			b, err = d.side(c, args[1])
		}
		return a, b, err
	}
	target, parted := strings.CutPrefix(target, ".")
	newer, err := review.OpenCommit(ctx, args[1], headOr(target, true))
	if err == nil && parted {
		old, err = old.MergeBase(newer)
	}
	if err != nil {
		return a, b, usageOf(c, err)
	}
	if a, err = revisionSide(c, old, name); err == nil {
		b, err = revisionSide(c, newer, name)
	}
	return a, b, err
}

// headOr returns HEAD where a range leaves an end out, as git has it.
func headOr(rev string, isRange bool) string {
	if rev == "" && isRange {
		return "HEAD"
	}
	return rev
}

// usageOf points at the help where a revision is not one.
func usageOf(c *cobra.Command, err error) error {
	if errors.Is(err, review.ErrRevision) {
		return usage(c, err)
	}
	return err
}

// side reads what an argument names, by what lies there.
func (d *differ) side(c *cobra.Command, arg string) (words.Side, error) {
	if strings.HasPrefix(arg, "specs:") {
		return d.specSide(arg)
	}
	arg, err := d.place.find(arg)
	if err != nil {
		return words.Side{}, err
	}
	info, err := os.Stat(arg)
	table := dataset.IsTable(arg)
	rev, name, inGit := strings.Cut(arg, ":")
	switch {
	case err != nil && !table && inGit && rev != "":
		return commitFile(c, rev, name)
	case table || strings.HasSuffix(arg, dataset.LedgerSuffix):
		return ledgerSide(c, arg)
	case err != nil:
		return words.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w: must be a spec, a saved plan, a run (its folder, its "+
			"id or latest) or a ledger; a spec in git is named as REV..REV -- SPEC", arg, store.Reason(err)))
	case info.IsDir():
		return runSide(arg)
	case filepath.Base(arg) == "run.json":
		return runSide(filepath.Dir(arg))
	}
	return d.fileSide(c, arg)
}

// fileSide tells a saved plan and a ledger of another name from a spec.
func (d *differ) fileSide(c *cobra.Command, arg string) (words.Side, error) {
	data, err := disk.ReadFile(arg, dataset.MostOfLedger)
	if err != nil {
		return words.Side{}, withCode(exitUsage, fmt.Errorf("%s: %w", arg, store.Reason(err)))
	}
	if words.IsPlan(data) {
		return words.Side{Name: arg, Kind: words.PlanSide, Plan: data, Digest: words.Digest(data)}, nil
	}
	first, _, _ := strings.Cut(string(data), "\n")
	var line struct{ Prev, Hash string }
	if json.Unmarshal([]byte(first), &line) == nil && line.Prev != "" && line.Hash != "" {
		return ledgerSide(c, arg)
	}
	return d.specSide(arg)
}

func (d *differ) specSide(arg string) (words.Side, error) {
	sp, err := d.spec.load(arg)
	if err != nil {
		return words.Side{}, err
	}
	return sideOf(arg, sp)
}

// sideOf compiles a spec, and all runs of its experiment. One that says something without a
// plan, such as a budget that cannot be met, is compared by its settings.
func sideOf(name string, sp *spec.Spec) (words.Side, error) {
	text, err := sp.Canonical()
	if err != nil {
		return words.Side{}, err
	}
	side := words.Side{Name: name, Kind: words.SpecSide, Canonical: text, Digest: sp.Digest}
	plan, err := compile.Compile(sp)
	if err != nil {
		side.Why = err.Error()
		return side, nil
	}
	if side.Plan, err = json.Marshal(plan); err != nil || sp.Experiment == nil {
		return side, err
	}
	side.Experiment, err = together(sp)
	if err != nil {
		side.Why, err = "of its experiment: "+err.Error(), nil
	}
	return side, err
}

// together returns what the runs of an experiment cost as one plan.
func together(sp *spec.Spec) (*words.Experiment, error) {
	runs, err := review.Runs(sp)
	if err != nil {
		return nil, err
	}
	trials := make([]runtime.Trial, len(runs))
	for i, r := range runs {
		trials[i] = r.Trial
	}
	total, _, err := runtime.Together(trials, false)
	return &words.Experiment{Runs: len(runs), Proven: orNil(total.Epsilon)}, err
}

// runSide returns a run with its figures and the figures of its repeats.
func runSide(dir string) (words.Side, error) {
	rec, err := readRun(dir)
	if err != nil {
		return words.Side{}, err
	}
	declared, err := declaredOf(rec)
	if err != nil {
		return words.Side{}, err
	}
	figures := &words.Figures{Cell: cell(rec), Values: rec.Metrics, Declared: declared}
	figures.Repeats, err = repeats(dir, rec)
	return words.Side{Name: dir, Kind: words.RunSide, Digest: rec.SpecDigest, Canonical: []byte(rec.Spec), Plan: rec.Plan,
		Figures: figures}, err
}

// cell returns what runs have in common that differ by their noise alone.
func cell(rec *record.Run) string {
	return fmt.Sprintf("%s %s %s %v", rec.SpecDigest, rec.Dataset.ID, rec.Dataset.Version, rec.Insecure)
}

// repeats returns the figures of all finished runs of a run's cell that lie beside it, its own
// among them. A record that cannot be read is not a repeat.
func repeats(dir string, rec *record.Run) (all []map[string]float64, err error) {
	folders, err := store.Runs(filepath.Dir(filepath.Clean(dir)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, folder := range folders {
		if other, err := store.ReadRecord(folder); err == nil && cell(other) == cell(rec) && other.Status == record.Done {
			all = append(all, other.Metrics)
		}
	}
	return all, nil
}

// ledgerSide reads a ledger that lies at path.
func ledgerSide(c *cobra.Command, arg string) (words.Side, error) {
	_, entries, err := dataset.ReadLedgerOf(arg)
	if err != nil {
		return words.Side{}, err
	}
	return ledgerOfEntries(c, arg, entries)
}

// ledgerOfEntries adds a ledger up as weir ledger show does.
func ledgerOfEntries(c *cobra.Command, arg string, entries []ledger.Entry) (words.Side, error) {
	t, err := (&ledgerFlags{accountant: account.Default}).overview(c, entries)
	if err != nil {
		return words.Side{}, err
	}
	charges := &words.Charges{Total: words.LedgerTotal{Epsilon: orNil(t.Fixed.Epsilon), Delta: t.Fixed.Delta,
		Adjacency: string(t.Fixed.Adjacency),
		Unit:      t.Fixed.Unit.String(), Accountant: t.Fixed.Accountant, Charges: t.Fixed.Charges}}
	if t.Balance != nil {
		charges.Total.Left = &t.Balance.Left
	}
	for i, e := range entries {
		line, err := chargeLine(i+1, e)
		if err != nil {
			return words.Side{}, err
		}
		charges.Dataset, charges.Lines = e.Dataset, append(charges.Lines, line)
	}
	return words.Side{Name: arg, Kind: words.LedgerSide, Charges: charges}, nil
}

func chargeLine(n int, e ledger.Entry) (words.Charge, error) {
	event := "no proven bound: " + e.Unproven
	if e.Event.Event != nil {
		text, err := privacy.MarshalEvent(e.Event.Event)
		if err != nil {
			return words.Charge{}, err
		}
		event = string(text)
	}
	return words.Charge{Identity: e.Identity(), Hash: e.Hash, Line: n, Time: e.Time.Format("2006-01-02 15:04"), Run: e.Run,
		Stage: e.Stage, Name: e.Name, Event: event}, nil
}

// orNil returns nil for no bound, which JSON has no number for.
func orNil(x float64) *float64 {
	if math.IsInf(x, 1) {
		return nil
	}
	return &x
}
