package main

import (
	"errors"
	"fmt"
	"io"
	goruntime "runtime"

	"github.com/spf13/cobra"

	"weir/runtime/evaluation"
)

// evaluateFlags are the flags of `weir evaluate`.
type evaluateFlags struct {
	evaluation.Request
	groups      string
	all, asJSON bool
}

const evaluateLong = `Compare a synthetic table with a real one; neither file has to come from weir. Every
figure is private, because it was computed from real rows.

--metrics names groups (weir kinds lists them): all, or a list such as
marginals,associations. Groups that need a target are left out, with a note,
unless --target names it.

Shown are the figures of whole tables, with intervals of 95 % over the real rows where
they are scores, and of each group the columns or pairs that are worst; --all shows
everything, --json gives everything (NAME_low and NAME_high are an interval's ends).

Each text file may have a delimiter of its own: the one that its header shows. A column that
a file lacks is left out, and said so. --html writes what the report of a run shows, with
verdicts and plots, for any two files; --by region,sex has it compare the rows of each
region and sex, too.

Real rows that are spelled as in their spec need its dialect: what dataset.csv says is
--delimiter, --encoding and --missing here; a released table has the delimiter of its source.
--real and --real-train also take a YAML file whose dataset says where the table is, such as
the spec itself: that of a database, or a file with its dialect.

Exit codes: 0 done; 1 a file cannot be read; 2 usage.`

func evaluateCommand(s streams) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use:   "evaluate --real FILE --synthetic FILE --domain FILE",
		Short: "Compare a synthetic table with a real one",
		Long:  evaluateLong,
		Example: "  weir evaluate --real test.csv --synthetic sample.csv --domain domain.yaml --metrics all --json\n  weir " +
			"evaluate --real patients.csv --synthetic RUN/release/sample.csv --domain RUN/release/domain.yaml\n  weir " +
			"evaluate --real a.parquet --synthetic b.parquet --domain d.yaml --metrics marginals,downstream --target income\n " +
			" weir evaluate --real a.csv --synthetic b.csv --domain d.yaml --html comparison.html",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Real, "real", "", "table of real rows, preferably rows that no model saw")
	flags.StringVar(&f.Synthetic, "synthetic", "", "table of synthetic rows")
	flags.StringVar(&f.Train, "real-train", "", "table of the real rows that the model saw: what real rows "+
		"reach, and disclosure")
	flags.StringVar(&f.Baseline, "baseline", "", "table of independent columns at the same epsilon, to be better than")
	flags.StringVar(&f.Domain, "domain", "", "what is publicly known about the columns; draft it with weir domain infer")
	flags.StringVar(&f.groups, "metrics", "all", "groups of metrics, separated by commas")
	flags.StringVar(&f.Target, "target", "", "column that learners predict")
	flags.StringVar(&f.Delimiter, "delimiter", "", "delimiter of text files")
	flags.StringVar(&f.Encoding, "encoding", "", "encoding of text files of real rows: latin-1, windows-1252, utf-16 or "+
		"utf-8 (the default); synthetic ones are utf-8")
	flags.StringVar(&f.Sheet, "sheet", "", "sheet of workbooks of real rows, where there are several")
	flags.StringVar(&f.Range, "range", "", "first and last cell of real rows in a sheet, such as B3:F40 (default: the "+
		"whole sheet)")
	flags.StringSliceVar(&f.Missing, "missing", nil, "values that mean missing in text files")
	flags.Uint64Var(&f.Seed, "seed", 1, "public seed of learners and workloads")
	flags.IntVar(&f.Workers, "workers", goruntime.GOMAXPROCS(0), "number of goroutines; results do not depend on it")
	flags.StringVar(&f.Page, "html", "", "write the report of the comparison, one private page, to this file")
	flags.StringSliceVar(&f.By, "by", nil, "columns of few categories, such as region: the page of --html compares the "+
		"rows of each")
	flags.BoolVar(&f.all, "all", false, "show every figure")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object on stdout; progress goes to stderr")
	return c
}

// checkNamed lists the files that must be named and are not.
func (f *evaluateFlags) checkNamed() error {
	var errs []error
	for _, flag := range [][2]string{{"--real", f.Real}, {"--synthetic", f.Synthetic}, {"--domain", f.Domain}} {
		if flag[1] == "" {
			errs = append(errs, fmt.Errorf("%s: is missing, must name a file", flag[0]))
		}
	}
	return errors.Join(errs...)
}

func (f *evaluateFlags) run(c *cobra.Command, s streams) error {
	if err := f.checkNamed(); err != nil {
		return usage(c, err)
	}
	if err := pageFits(f.Page); err != nil {
		return err
	}
	if len(f.By) > 0 && f.Page == "" {
		return usage(c, errors.New("--by: is given without --html, whose page it is for"))
	}
	reg, err := registry()
	if err != nil {
		return err
	}
	kinds, err := evaluation.Groups(reg, f.groups)
	if err != nil {
		return usage(c, err)
	}
	f.Registry, f.Log = reg, newLog(s.err, false)
	result, err := evaluation.Open(c.Context(), f.Request)
	if err != nil {
		return err
	}
	defer result.Close()
	if err := result.CheckPage(); err != nil {
		return usage(c, err)
	}
	progress := newProgress(s.err, f.asJSON)
	result.Progress = progress
	for _, k := range kinds {
		if err := result.Group(c.Context(), k); err != nil {
			return err
		}
	}
	if f.Page != "" {
		if err := result.WritePage(c.Context()); err != nil {
			return err
		}
	}
	progress.Wait()
	if f.asJSON {
		return printJSON(s.out, result)
	}
	if _, err := io.WriteString(s.out, result.Text(f.all)); err != nil || f.Page == "" {
		return err
	}
	_, err = fmt.Fprintf(plainly(s.out), "report (private): %s\n", f.Page)
	return err
}
