package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline/compile"
	"weir/pipeline/words"
	"weir/runtime/audit"
)

// canaryFlags are the flags of `weir audit --canary`.
type canaryFlags struct {
	on           bool
	number, runs int
}

const canaryLong = `With --canary, weir makes up rows that nobody has, tosses a coin for each, carries the spec
out with what the coins say among the rows, and guesses the coins from what is released.
How many guesses are right is a lower bound on epsilon, printed beside the proven one: at
confidence .95, and at a rate of false alarms of 1e-6, at which a bill that is exceeded
ends the audit with exit code 4. A bound far below the proven epsilon says that this attack
is weak, and nothing else. What was found is written to OUT/NAME/internal, for the owner.
Where one run has no room for many canaries (--canaries 1), runs are repeated with one.`

func (f *canaryFlags) add(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVar(&f.on, "canary", false, "bound epsilon from below by made-up rows, in place of neighbours and pairs")
	flags.IntVar(&f.number, "canaries", 1000, "made-up rows in each run: 1, or 20 or more")
	flags.IntVar(&f.runs, "runs", 10, "runs with canaries; each has noise of its own")
}

// misplaced refuses flags that the audit which is asked for would leave unread, and numbers that no audit is played
// with, before a note says how long it takes.
func (f *canaryFlags) misplaced(c *cobra.Command) error {
	names, found, accepted := []string{"canaries", "runs"}, "without", "with it"
	if f.on {
		names, found, accepted = []string{"neighbours", "neighbour", "with", "no-pairs"}, "with", "without it"
	}
	var problems []error
	for _, name := range names {
		if c.Flags().Changed(name) {
			problems = append(problems, fmt.Errorf("--%s: is given %s --canary, must be given %s", name, found, accepted))
		}
	}
	if f.on {
		game := audit.Game{Canaries: f.number, Runs: f.runs}
		problems = append(problems, prefixed("--", game.Check()))
	}
	if err := errors.Join(problems...); err != nil {
		return usage(c, err)
	}
	return nil
}

// play audits a spec by canaries.
func (f *canaryFlags) play(c *cobra.Command, subject *audit.Subject, ran func(done, total int, words string)) (
	*audit.Canaries, error) {
	began, done := time.Now(), 0
	return subject.Canaries(c.Context(), audit.Game{Canaries: f.number, Runs: f.runs, Random: rand.Reader,
		Ran: func(run, runs int) {
			done = run
			text := fmt.Sprintf("%d of %d runs done", run, runs)
			if run < runs {
				left := time.Duration(float64(time.Since(began)) / float64(run) * float64(runs-run))
				text += fmt.Sprintf(", about %s left", coarse(left))
			}
			ran(run, runs, text)
		},
		Compared: func(n, of int) {
			ran(done, f.runs, fmt.Sprintf("run %d of %d: %d of %d canaries compared", done+1, f.runs, n, of))
		}})
}

// outlook says what an audit by canaries is about to do, which can take hours.
func (f *canaryFlags) outlook(plan *compile.Plan) string {
	var paid []string
	for i := range plan.Steps {
		if step := &plan.Steps[i]; len(step.Spends) > 0 {
			paid = append(paid, step.ID+" ("+step.Kind+")")
		}
	}
	return fmt.Sprintf("%s with %s each; each carries out the stages that pay: %s; the first shows how long all take",
		words.Plural(f.runs, "run"), words.Plural(f.number, "canary row"), strings.Join(paid, ", "))
}

// canaryResult is what `weir audit --canary --json` prints.
type canaryResult struct {
	Spec string `json:"spec"`
	*audit.Canaries
	Seconds float64 `json:"seconds"`
	Inside  string  `json:"internal"` // where it is kept
}

// keepCanaries writes what was found where only the owner reads it.
func keepCanaries(out string, plan *compile.Plan, found *audit.Canaries) (path string, err error) {
	dir := filepath.Join(out, plan.Name, "internal")
	path = filepath.Join(dir, time.Now().UTC().Format("canary-20060102-150405.000")+".json")
	data, err := json.MarshalIndent(map[string]any{"spec_digest": plan.Digest, "canaries": found}, "", "  ")
	if err == nil {
		err = disk.Disk{}.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = disk.Disk{}.WriteBytes(path, 0o600, append(data, '\n'))
	}
	return path, err
}

func printCanaries(w io.Writer, asJSON bool, r canaryResult) error {
	if asJSON {
		return printJSON(w, r)
	}
	_, err := fmt.Fprintf(plainly(w), "%s%-16s %.1fs\n%-16s %s (for the owner alone)\n", r.Text(), "took", r.Seconds,
		"kept in", r.Inside)
	return err
}

// canaries audits a spec by canaries in a folder that is removed.
func (f *auditFlags) canaries(c *cobra.Command, s streams, arg string, plan *compile.Plan) (err error) {
	dir, remove, err := privateFolder(auditFolder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	subject, err := f.open(c, s, arg, plan, dir)
	if errors.Is(err, audit.ErrStays) {
		return withCode(exitUsage, err)
	}
	if err != nil {
		return err
	}
	defer subject.Close()
	if !f.asJSON {
		fmt.Fprint(s.err, s.wrap("note: "+f.canary.outlook(plan)+"\n"))
	}
	began, progress := time.Now(), newProgress(s.err, f.asJSON)
	found, err := f.canary.play(c, subject, progress.Runs)
	progress.Wait()
	if errors.As(err, new(*audit.GameError)) {
		return withCode(exitUsage, err)
	}
	if err != nil {
		return err
	}
	kept, err := keepCanaries(f.out, plan, found)
	if err == nil {
		err = printCanaries(s.out, f.asJSON, canaryResult{arg, found, time.Since(began).Seconds(), kept})
	}
	return errors.Join(err, f.refuted(found))
}

// refuted returns the error of canaries that tell more than was paid for.
func (f *auditFlags) refuted(found *audit.Canaries) error {
	if !found.Refuted {
		return nil
	}
	err := withCode(exitMismatch, errors.New("the canaries refute the bill at a rate of false alarms of 1e-6"))
	if f.asJSON {
		return silent(err)
	}
	return err
}
