package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
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
			if err := draw(s.out, report); err != nil || !d.exitCode || !report.Differ {
				return err
			}
			return silent(withCode(exitMismatch, errors.New("they differ")))
		},
	}
	c.Flags().StringVar(&d.format, "format", "text", "text, markdown or json")
	c.Flags().BoolVar(&d.asJSON, "json", false, "print one JSON object (--format json)")
	c.Flags().BoolVar(&d.exitCode, "exit-code", false, "exit with 4 where they differ")
	d.place.add(c, "out")
	c.Flags().BoolVar(&d.spec.confine, "confine", false, "refuse paths of a spec that leave its folder, through .. or links")
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
		return usage(c, fmt.Errorf("%s: is given %d arguments before -- and %d after it, must be given one revision or range and one FILE", c.CommandPath(), n, len(args)-n))
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

func diffFormats() map[string]func(io.Writer, words.Differences) error {
	return map[string]func(io.Writer, words.Differences) error{
		"text": func(w io.Writer, r words.Differences) error {
			_, err := io.WriteString(w, r.Text(func(t words.Tone, line string) string { return tinted(w, t, line) }))
			return err
		},
		"markdown": func(w io.Writer, r words.Differences) error {
			_, err := io.WriteString(w, r.Markdown())
			return err
		},
		"json": func(w io.Writer, r words.Differences) error { return printJSON(w, r) },
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
