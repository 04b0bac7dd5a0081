package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/record"
	"weir/runtime/experiment"
)

const reportLong = `Locate the report of a run, print its release documents, or plot a score against
epsilon over several runs.

The report (internal/report.html) is computed from real rows and stays internal.
--public prints PRIVACY.md and DATASHEET.md, rendered anew from run.json: public
and released facts only. --sweep SCORE takes runs of two or more proven
epsilons and writes an SVG of that score (a key of internal/metrics.json, such as
utility.auroc) over epsilon to stdout: means, with 95 % intervals where an epsilon
has several runs. Scores are private too. --open opens the report in the browser, where
there is a program for it (xdg-open, open, start), and prints where it lies in any case.

` + namesRun + `

Exit codes: 0 done; 2 usage, no such run, or a run without a report.`

func reportCommand(s streams) *cobra.Command {
	var public, asJSON, open bool
	var score string
	var place runPlace
	c := &cobra.Command{
		Use:   "report RUN [RUN ...]",
		Short: "Locate the report of a run, print its release documents, plot a sweep",
		Long:  reportLong,
		Example: "  weir report latest --open\n  weir report runs/cardio/20261121-052215-74fe39\n  weir report " +
			"runs/cardio/20261121-052215-74fe39 --public\n" +
			"  weir report runs/cardio/2* --sweep utility.auroc > auroc.svg",
		Args: func(c *cobra.Command, args []string) error {
			if score != "" && len(args) > 0 {
				return nil
			}
			return exactly(1, "RUN")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case score != "" && (public || asJSON || open):
				return usage(c, errors.New("--sweep: must be given without --public, --open and --json"))
			case public && open:
				return usage(c, errors.New("--open: must be given without --public: the documents are text"))
			}
			dirs, err := place.all(args)
			switch {
			case err != nil:
				return err
			case score != "":
				return drawExperiment(s.out, score, dirs)
			}
			rec, err := readRun(dirs[0])
			if err != nil {
				return err
			}
			if public {
				return printDocuments(s, rec, asJSON)
			}
			page, err := printReport(s.out, dirs[0], rec, asJSON)
			if err == nil && open {
				showPage(c.Context(), s.err, page)
			}
			return err
		},
	}
	place.add(c, "out")
	c.ValidArgsFunction = place.complete
	c.Flags().BoolVar(&open, "open", false, "open the report in the browser")
	c.Flags().BoolVar(&public, "public", false, "print PRIVACY.md and DATASHEET.md, from run.json")
	c.Flags().StringVar(&score, "sweep", "", "plot this score against epsilon over the runs, as SVG")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// printDocuments prints what a release says of itself. For a terminal lines are broken, but for tables.
func printDocuments(s streams, rec *record.Run, asJSON bool) error {
	privacy, sheet := record.PrivacyStatement(rec), record.Datasheet(rec)
	if asJSON {
		return printJSON(s.out, map[string]string{"privacy": privacy, "datasheet": sheet})
	}
	text := privacy + "\n" + sheet
	if s.columns > 0 {
		text = words.WrapMarkdown(text, s.columns)
	}
	_, err := io.WriteString(s.out, text)
	return err
}

// printReport names the page, if the run made one and it is still there.
func printReport(w io.Writer, dir string, rec *record.Run, asJSON bool) (path string, err error) {
	if page := rec.Page(); page != "" {
		path := filepath.Join(dir, page)
		if _, err := os.Stat(path); err != nil {
			return "", withCode(exitUsage, fmt.Errorf("%s: the record names a report that is gone: %w", dir, err))
		}
		if asJSON {
			return path, printJSON(w, map[string]string{"report": path})
		}
		_, err := fmt.Fprintln(w, path)
		return path, err
	}
	why := "its spec has no stage of kind report"
	if rec.Status != record.Done {
		why = "it is " + string(rec.Status)
	}
	return "", withCode(exitUsage, fmt.Errorf("%s: the run has no report: %s", dir, why))
}

// drawExperiment reads a score and the proven epsilon of each run; runs without
// either are left out.
func drawExperiment(w io.Writer, score string, dirs []string) error {
	e := experiment.Experiment{Name: score, Grid: []string{"privacy.epsilon"}, Headline: []string{score},
		References: map[string]experiment.Reference{}}
	for _, dir := range dirs {
		rec, err := readRun(dir)
		if err != nil {
			return err
		}
		declared, err := declaredOf(rec)
		if err != nil {
			return err
		}
		maps.Copy(e.References, experiment.References(declared, e.Headline))
		if rec.Terms.Proven != nil {
			e.Runs = append(e.Runs, experiment.RunRow{ID: rec.ID, Proven: rec.Terms.Proven, Metrics: rec.Metrics,
				Settings: map[string]string{"privacy.epsilon": record.Bound(*rec.Terms.Proven)}})
		}
	}
	svg, err := experiment.Curve(experiment.Tabulate(e), score)
	if err != nil {
		return withCode(exitUsage, fmt.Errorf("--sweep: %w", err))
	}
	_, err = w.Write(svg)
	return err
}

// opener returns the command that opens a file in the program which people read it with.
func opener(system string) []string {
	switch system {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"cmd", "/c", "start", ""}
	}
	return []string{"xdg-open"}
}

// patience is how long an opener may take to fail; one that is still at work has become a browser.
const patience = 3 * time.Second

// showPage opens a page whose path has been printed. Where nothing opens it a note says so: who has the path needs no
// more.
func showPage(ctx context.Context, notes io.Writer, page string) {
	command := opener(runtime.GOOS)
	c := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], page)...)
	if err := c.Start(); err != nil {
		fmt.Fprintf(notes, "note: nothing opens the page here (%s is not there)\n", command[0])
		return
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			fmt.Fprintf(notes, "note: nothing opened the page (%s: %v)\n", strings.TrimSpace(strings.Join(command, " ")), err)
		}
	case <-time.After(patience):
	}
}
