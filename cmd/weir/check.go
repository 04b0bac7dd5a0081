package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime"
	"weir/runtime/experiment"
	"weir/runtime/review"
	"weir/schema"
)

// checkReport is what `weir check --json` prints.
type checkReport struct {
	OK       bool            `json:"ok"`
	Problems []placedProblem `json:"problems"`
	Findings []placedFinding `json:"findings"`
	Errors   []string        `json:"errors,omitempty"` // what else is wrong, such as a file that is not there
	sound    []string        // specs without a problem
}

// placedProblem is a problem with the spec that has it, which may lie in another file, such as of a domain.
type placedProblem struct {
	Spec string `json:"spec"`
	spec.Diagnostic
}

// placedFinding is a finding with the spec that has it and the place of the stage there, where it is of one.
type placedFinding struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	pipeline.Finding
}

// String words the finding with its place, as problems are worded.
func (f placedFinding) String() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", place, f.Line, f.Column)
	}
	return place + ": " + words.Finding(f.Finding)
}

// checkFlags are the flags of weir check.
type checkFlags struct {
	spec            specFlags
	place           ledgerPlaceFlags
	format, explain string
	asJSON, strict  bool
	tracked, print0 bool
}

func checkCommand(s streams) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check SPEC...",
		Short: "Check schema, types and privacy of specs; reads no data",
		Long: `Check specs: their schema, the graph of stages, the privacy types and the bill.
Every problem of every spec is listed at once, with file, line and column. No
data is opened. A spec whose run the budget of the dataset would refuse, by its
ledger, is refused. Of an experiment every run is checked, and noise is sought
for the first one, or for all where the dataset has a budget; weir plan --total
prices all.

SPEC is a path, a folder, which stands for the specs that lie in it, - for a
spec on standard input, whose paths start in the current folder, or specs:NAME
for one that is built in or for all whose names begin with NAME and a hyphen.
--tracked stands for all specs that git tracks in the current folder and below it,
sound or not; with --print0 their names are printed, for xargs -0, and nothing is
checked.

Warnings do not fail the check. A spec accepts one by privacy.acknowledge, with
a reason, and then it is printed with the reason; --strict refuses all others.

Exit codes: 0 no error; 2 bad spec or usage; 3 privacy refused, over budget, or
under --strict a warning that no reason accepts.`,
		Example: "  weir check examples/cardio/quickstart.yaml\n  weir check --strict specs/*.yaml\n  weir check spec.yaml " +
			"--format sarif > weir.sarif\n  weir check --explain W03",
		Args: func(c *cobra.Command, args []string) error {
			if f.explain != "" || f.tracked {
				return noArgs(c, args)
			}
			return atLeastOne(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.explain != "" {
				return explainRule(c, s, f.explain, f.asJSON)
			}
			return f.check(c, s, args)
		},
	}
	f.spec.add(c)
	f.place.add(c)
	c.Flags().BoolVar(&f.asJSON, "json", false, "print one JSON object (--format json)")
	c.Flags().BoolVar(&f.strict, "strict", false, "refuse warnings that the spec does not acknowledge")
	c.Flags().StringVar(&f.format, "format", "text", "text, json or sarif")
	c.Flags().BoolVar(&f.tracked, "tracked", false, "check all specs that git tracks in the current folder and below it")
	c.Flags().BoolVar(&f.print0, "print0", false, "print the names of the specs, a NUL behind each, and check nothing")
	c.Flags().StringVar(&f.explain, "explain", "", "print an audit rule, such as W03, and exit")
	completeFlag(c, "format", oneOf("text", "json", "sarif"))
	completeFlag(c, "explain", completeRule)
	return c
}

// check checks every spec and reports on all of them.
func (f *checkFlags) check(c *cobra.Command, s streams, args []string) error {
	if f.asJSON {
		f.format = "json"
	}
	if !slices.Contains([]string{"text", "json", "sarif"}, f.format) {
		return usage(c, fmt.Errorf("--format: is %q, must be text, json or sarif", f.format))
	}
	files, err := f.files(c, args)
	if err != nil {
		return err
	}
	if f.print0 {
		for _, file := range files {
			fmt.Fprint(s.out, file, "\x00")
		}
		return nil
	}
	if slices.Contains(files, stdinArg) {
		if err := f.spec.readStdin(s.in); err != nil {
			return err
		}
	}
	report := checkReport{Problems: []placedProblem{}, Findings: []placedFinding{}}
	var faults []error
	for _, file := range files {
		if err := report.add(f, c, s, file); err != nil {
			faults = append(faults, err)
		} else {
			report.sound = append(report.sound, shownName(file))
		}
	}
	err = f.verdict(&report, faults)
	report.OK = err == nil
	return report.print(s, f.format, err)
}

// files returns the specs that are asked for. A tracked one that could be taken for a flag or for a built-in spec is
// named from the current folder.
func (f *checkFlags) files(c *cobra.Command, args []string) ([]string, error) {
	if !f.tracked {
		return filesOf(args, beginsSpec)
	}
	files, err := review.TrackedSpecs(c.Context(), ".")
	for i, file := range files {
		if strings.HasPrefix(file, "-") || strings.HasPrefix(file, "specs:") {
			files[i] = "." + string(filepath.Separator) + file
		}
	}
	return files, err
}

// add checks one spec. The error is of what is wrong beside the problems that the report lists, or of type
// spec.Diagnostics where those are all.
func (r *checkReport) add(f *checkFlags, c *cobra.Command, s streams, file string) error {
	plan, err := f.spec.compile(file)
	if err == nil {
		err = checkBudget(c, s, &f.spec, &f.place, file, plan)
	}
	file = shownName(file)
	var problems spec.Diagnostics
	if errors.As(err, &problems) {
		for _, p := range problems {
			r.Problems = append(r.Problems, placedProblem{file, p})
		}
	}
	if plan == nil {
		return err
	}
	for _, found := range plan.Findings {
		placed := placedFinding{File: file, Finding: found}
		if found.Stage != "" {
			at := plan.Spec.Fault(schema.Path("stages", found.Stage), "", "", "")
			placed.Line, placed.Column = at.Line, at.Column
		}
		r.Findings = append(r.Findings, placed)
	}
	return err
}

// verdict joins the problems of all specs and what else is wrong with one, which it takes up. Without either, --strict
// refuses warnings.
func (f *checkFlags) verdict(r *checkReport, faults []error) error {
	var all []error
	var problems spec.Diagnostics
	for _, err := range faults {
		if !errors.As(err, &problems) {
			all = append(all, err)
		}
	}
	for _, err := range all {
		r.Errors = append(r.Errors, err.Error())
	}
	if len(r.Problems) > 0 {
		all = append(all, r.diagnostics())
	}
	if len(all) == 0 {
		return f.tooStrict(r)
	}
	return errors.Join(all...)
}

// tooStrict refuses, under --strict, warnings that no reason accepts.
func (f *checkFlags) tooStrict(r *checkReport) error {
	var rules []string
	for _, found := range r.Findings {
		if found.Warns() && !slices.Contains(rules, found.Rule) {
			rules = append(rules, found.Rule)
		}
	}
	if !f.strict || len(rules) == 0 {
		return nil
	}
	return withCode(exitPrivacy, fmt.Errorf("--strict: is given, and no reason accepts the warnings of %s, must be "+
		"privacy.acknowledge: {%s: reason}", strings.Join(rules, ", "), rules[0]))
}

// diagnostics returns the problems of all specs, sorted by file and place. What several specs say of one file, such as
// of a domain that they share, is said once.
func (r *checkReport) diagnostics() spec.Diagnostics {
	var all spec.Diagnostics
	for _, p := range r.Problems {
		all = append(all, p.Diagnostic)
	}
	all.Sort()
	return slices.Compact(all)
}

// Lines that begin what lies in a .yaml file.
var (
	beginsSpec   = regexp.MustCompile(`(?m)^(\x{feff})?["']?weir["']?[ ]*:`)
	beginsDomain = regexp.MustCompile(`(?m)^(\x{feff})?["']?columns["']?[ ]*:`)
)

// filesOf returns the files that arguments name, each once: a folder stands for the .yaml files in it, not below it, in
// which one of some lines is, and specs:NAME for a family of built-in specs.
func filesOf(args []string, begins ...*regexp.Regexp) (all []string, err error) {
	for _, arg := range args {
		list := family(arg)
		if info, err := os.Stat(arg); err == nil && info.IsDir() {
			if list, err = yamlIn(arg, begins); err != nil {
				return nil, withCode(exitUsage, err)
			}
		}
		for _, file := range list {
			if !slices.Contains(all, file) {
				all = append(all, file)
			}
		}
	}
	return all, nil
}

// yamlIn lists the .yaml files of a folder in which one of some lines is.
func yamlIn(folder string, begins []*regexp.Regexp) (list []string, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := filepath.Join(folder, e.Name())
		if suffix := filepath.Ext(file); e.IsDir() || suffix != ".yaml" && suffix != ".yml" {
			continue
		}
		text, err := disk.ReadFile(file, schema.MaxBytes+1)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(begins, func(line *regexp.Regexp) bool { return line.Match(text) }) {
			list = append(list, file)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: is a folder, must be a regular file or hold a spec, a .yaml file that begins with "+
			"weir: 1", folder)
	}
	return list, nil
}

// checkBudget refuses a spec, or an experiment, that its dataset cannot pay for. Without a budget nothing is too much:
// no noise is sought for the runs of an experiment, and no ledger is read.
func checkBudget(c *cobra.Command, s streams, flags *specFlags, place *ledgerPlaceFlags, arg string,
	plan *compile.Plan) error {
	runs, planner := []runtime.Trial{{Plan: plan}}, experiment.Priced
	capped, err := budgeted(plan)
	if err != nil {
		return err
	}
	if !capped {
		planner = experiment.Outlined
	}
	if plan.Spec.Experiment != nil {
		x, err := flags.trials(arg, plan, planner)
		if err != nil {
			return err
		}
		runs = x.Runs()
	}
	if !capped {
		return nil
	}
	_, err = place.foresee(c.Context(), s, flags, arg, runs)
	var refusal *ledger.OverBudgetError
	var none *ledger.UnmeasuredError
	switch {
	case errors.As(err, &none) && len(none.Others) == 0:
		return spec.Diagnostics{plan.Spec.Refusal(spec.RuleBudget, "", "dataset.budget",
			"set with charges that no filter has a measure for", "left out", err.Error())}
	case errors.As(err, &none):
		return spec.Diagnostics{plan.Spec.Refusal(spec.RuleBudget, "", "dataset.budget.filter",
			"without a measure for a charge", "one that measures all charges", err.Error())}
	case !errors.As(err, &refusal):
		return err
	}
	return spec.Diagnostics{plan.Spec.Refusal(spec.RuleBudget, "", "dataset.budget", "short of what would be charged",
		"as much as all runs spend together", err.Error())}
}

// budgeted reports whether a run of the spec has a budget of its dataset.
func budgeted(plan *compile.Plan) (bool, error) {
	trials, err := plan.Spec.Experiment.Trials()
	if err != nil {
		return false, withCode(exitUsage, err)
	}
	return plan.Spec.Dataset.Budget != nil || slices.ContainsFunc(trials, func(t spec.Trial) bool {
		for path := range t.Settings() {
			if schema.Within(path, "dataset") {
				return true
			}
		}
		return false
	}), nil
}

// print prints the report in a format and keeps the exit code of err.
func (r *checkReport) print(s streams, format string, err error) error {
	switch format {
	case "json":
		return errors.Join(printJSON(s.out, r), silent(err))
	case "sarif":
		if len(r.Errors) == 0 {
			err = silent(err)
		}
		return errors.Join(printJSON(s.out, r.sarif()), err)
	}
	for _, f := range r.Findings {
		fmt.Fprint(s.out, s.folded(fmt.Sprint(f)))
	}
	for _, file := range r.sound {
		fmt.Fprintf(s.out, "%s: no error\n", file)
	}
	return err
}

// silent keeps an error's exit code where its text was printed already.
func silent(err error) error {
	if err == nil {
		return nil
	}
	return &printedError{err}
}

type printedError struct{ err error }

func (e *printedError) Error() string { return e.err.Error() }
func (e *printedError) Unwrap() error { return e.err }

func explainCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "explain [RULE]",
		Short: "Explain an audit rule: what goes wrong, what to do instead, what holds it",
		Long: `Explain an audit rule: what goes wrong, what to do instead, what holds it, and what
of it no program sees, so that whoever signs a spec answers for it. Without RULE
all rules are listed.

Exit codes: 0 done; 2 usage, or no such rule.`,
		Example:           "  weir explain\n  weir explain W03\n  weir explain W03 --json",
		ValidArgsFunction: completeRule,
		Args:              optional("RULE"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listRules(s, asJSON)
			}
			return explainRule(c, s, args[0], asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// listRules prints every audit rule in a line: id, level, what holds it, and what goes wrong.
func listRules(s streams, asJSON bool) error {
	if asJSON {
		return printJSON(s.out, spec.AuditRules())
	}
	var rows [][]string
	for _, r := range spec.AuditRules() {
		rows = append(rows, []string{r.ID, r.Level, r.Short(), r.Finding})
	}
	_, err := io.WriteString(s.out, words.Listing([]string{"RULE", "LEVEL", "HELD BY", "FINDING"}, rows, s.columns))
	return err
}

// explainRule prints one entry of the audit rules.
func explainRule(c *cobra.Command, s streams, id string, asJSON bool) error {
	r, err := spec.FindRule(strings.ToUpper(id))
	if err != nil {
		return usage(c, err)
	}
	if asJSON {
		return printJSON(s.out, r)
	}
	level := r.Level
	if r.Eased != "" {
		level += "; a warning " + r.Eased
	}
	text := fmt.Sprintf("%s (%s)\n\nfinding    %s\ninstead    %s\nheld       %s\n", r.ID, level, r.Finding,
		r.Instead, r.Held)
	if r.Advice != "" {
		text += fmt.Sprintf("advice     no program sees %s: whoever signs the spec answers for it\n", r.Advice)
	}
	if len(r.Tests) > 0 {
		text += fmt.Sprintf("tests      %s\n", strings.Join(r.Tests, ", "))
	}
	_, err = io.WriteString(s.out, s.folded(text+fmt.Sprintf("reference  %s\n", r.Reference)))
	return err
}
