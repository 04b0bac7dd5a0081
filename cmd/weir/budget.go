package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/plaintext"
	"weir/runtime/review"
)

func budgetCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "budget",
		Short: "Hold planned spending against the committed budget of a dataset",
		Long: "dataset.budget caps everything that is ever spent on a dataset. It is a line of the spec, so\nwhoever " +
			"edits the spec can raise it; weir budget check is for the CI that sees the edit.",
		Example: "  weir budget check --against origin/main",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("command: is missing, must be check"))
		},
	}
	c.AddCommand(budgetCheck(s))
	return c
}

const budgetCheckLong = `Compile specs as a revision of git has them and as they are now, and refuse planned
spending that grows beyond what the revision's dataset.budget allows. What counts, for
each dataset, by the filter of that budget:

  spent    the charges of the dataset's ledger, if one is committed in the revision or
           lies in its place now; charges that only one of them has count too
  planned  the bills of all specs on the dataset, an experiment with all its runs,
           less what the ledger has of them already; a paid stage that several specs
           share, or that an edit leaves as it was, counts once; one that follows from
           a public file of the repository counts anew where that file has changed

It is the budget of the revision that counts: raising it in the same change does not
help, and is reported, as is removing it or loosening its delta, the privacy unit or the
adjacency: what is planned is read for the unit and the adjacency of the budget. Where
that has several budgets for a dataset, each must hold. A new spec counts from nothing;
one that names another dataset than before counts against both. Names are of one dataset
where they share the table, whatever links or patterns lead there, the ledger, or the
id in it.

A budget whose dataset no spec names any more, as after git mv of a folder without a
ledger, holds for what all datasets that are new in the change plan together, with all
that was spent on its own. Where the table of a new one has the name of a table that is
gone, it is held to that budget and to those that no other takes. Any other dataset
without a budget in the revision is bounded by nothing, which is said. To approve
another budget, merge it first, in a change that plans no more.

Without SPEC, the specs are all files *.yaml and *.yml of the repository that are
tracked now or in the revision and have the keys weir and stages; one that cannot run
as it is now plans nothing, and is named. Budgets are looked for in all specs of the
revision even where SPEC names some. No data is opened.

Exit codes: 0 within the budget, or without growth; 2 usage, or a bad SPEC; 3 planned
spending grows beyond the budget, or privacy refuses a SPEC; 4 a ledger was altered.
Looser budgets alone do not change the exit code; --json lists them as loosened.`

func budgetCheck(s streams) *cobra.Command {
	var b review.Check
	var asJSON bool
	c := &cobra.Command{
		Use:     "check [SPEC...] --against REV",
		Short:   "Refuse planned spending that grows beyond the budget of a revision",
		Long:    budgetCheckLong,
		Example: "  weir budget check --against origin/main\n  weir budget check study/pipeline.yaml --against HEAD~1 --json",
		RunE: func(c *cobra.Command, args []string) error {
			if b.Against == "" {
				return usage(c, errors.New("--against: is missing, must be a commit, branch or tag of git"))
			}
			var err error
			if b.Registry, err = registry(); err != nil {
				return err
			}
			report, err := b.Report(c.Context(), args)
			if err != nil {
				return usageOf(c, err)
			}
			refused := withCode(exitPrivacy, report.Refusal())
			if asJSON {
				return errors.Join(printJSON(s.out, report), silent(refused))
			}
			for _, line := range strings.SplitAfter(plaintext.Text(report.Text()), "\n") {
				if loud := strings.HasPrefix(line, "  OVER") || strings.HasPrefix(line, "  LOOSER"); loud {
					line = paint(s.out, red, strings.TrimSuffix(line, "\n")) + "\n"
				}
				if _, err := io.WriteString(s.out, line); err != nil {
					return err
				}
			}
			return refused
		},
	}
	c.ValidArgsFunction = completeSpec
	c.Flags().StringVar(&b.Against, "against", "", "revision whose budgets count, such as origin/main (required)")
	c.Flags().BoolVar(&b.Confine, "confine", false, "refuse paths of a spec that leave its folder, through .. or links")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}
