package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/privacy/account"
	"weir/record"
	"weir/runtime/auditreport"
)

const auditReportLong = `Tell an auditor who spent what on datasets: for each ledger what its charges compose
to, how that grew, what is left of the budget, which runs charged it with which spec
and commit and what they released; where record, ledger and release of a run disagree;
and which warnings of specs nobody gave a reason for. Nothing that is printed was
computed from rows. Records and releases are those below --runs; each finished run
is judged as weir verify --offline judges it.

LEDGER is the file of a ledger, or the table that it is of.

Exit codes: 0 nothing disagrees; 2 usage, or no such ledger; 3 a ledger is of an earlier
format; 4 something disagrees, or a ledger was altered.`

// auditReportFlags are the flags of `weir audit report`.
type auditReportFlags struct {
	runs                     []string
	format, page, accountant string
	delta                    float64
	asJSON                   bool
}

func auditReport(s streams) *cobra.Command {
	var f auditReportFlags
	c := &cobra.Command{
		Use:   "report LEDGER...",
		Short: "Tell who spent what on datasets, and what disagrees",
		Long:  auditReportLong,
		Example: "  weir audit report patients.csv.weir-ledger.jsonl\n  weir audit report patients.csv visits.csv --format " +
			"markdown > spending.md\n  weir audit report patients.csv --html spending.html",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(c, fmt.Errorf("%s: is given no ledger, must be given at least one", c.CommandPath()))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args) },
	}
	c.Flags().StringArrayVar(&f.runs, "runs", nil, "folder of runs; may be repeated (default: runs, if it is there)")
	c.Flags().StringVar(&f.format, "format", "text", "text or markdown")
	c.Flags().StringVar(&f.page, "html", "", "write one page to this file, to read and to print")
	c.Flags().StringVar(&f.accountant, "accountant", account.Default, "how charges are composed")
	completeFlag(c, "format", oneOf("text", "markdown"))
	completeFlag(c, "accountant", oneOf(account.Names()...))
	c.Flags().Float64Var(&f.delta, "delta", 0, "delta at which epsilon is read (default: that of the last cap, else from "+
		"the charges)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object")
	return c
}

func (f *auditReportFlags) run(c *cobra.Command, s streams, args []string) error {
	if f.format != "text" && f.format != "markdown" {
		return usage(c, fmt.Errorf("--format: is %q, must be text or markdown", f.format))
	}
	if err := pageFits(f.page); err != nil {
		return err
	}
	q := auditreport.Request{Ledgers: args, Runs: f.runs}
	if len(q.Runs) == 0 && there("runs") {
		q.Runs = []string{"runs"}
	}
	for _, dir := range q.Runs {
		if !there(dir) {
			return usage(c, fmt.Errorf("--runs: %s: is not a folder", dir))
		}
	}
	if !(f.delta >= 0 && f.delta <= 1) {
		return usage(c, fmt.Errorf("--delta: is %v, must be in [0, 1]", f.delta))
	} else if c.Flags().Changed("delta") {
		q.Delta = &f.delta
	}
	var err error
	if q.Accountant, err = account.ByName(f.accountant); err != nil {
		return usage(c, err)
	}
	means, err := judging(s, "")
	if err != nil {
		return err
	}
	q.Judge = func(dir string, rec *record.Run) ([]string, error) {
		_, found, err := judgedRun(c.Context(), dir, rec, means)
		return found.Differ, err
	}
	report, err := auditreport.Gather(q)
	if err != nil {
		return err
	}
	if err := f.print(s, report); err != nil {
		return err
	}
	if report.Disagrees() {
		return withCode(exitMismatch, fmt.Errorf("%s: %s", strings.Join(args, ", "), report.Faults()))
	}
	return nil
}

// there reports whether a folder is there.
func there(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// print writes the report in the form that was asked for.
func (f *auditReportFlags) print(s streams, report auditreport.Report) error {
	if f.page != "" {
		page, err := report.Page()
		if err == nil {
			err = (disk.Disk{}).WriteBytes(f.page, 0o644, page)
		}
		if err != nil {
			return err
		}
		if !f.asJSON {
			_, err = fmt.Fprintln(plainly(s.out), f.page)
			return err
		}
	}
	switch {
	case f.asJSON:
		return printJSON(s.out, report)
	case f.format == "markdown":
		_, err := io.WriteString(s.out, report.Markdown())
		return err
	}
	_, err := io.WriteString(s.out, report.Text(s.columns))
	return err
}
