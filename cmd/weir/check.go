package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/ledger"
	"weir/runtime"
)

// checkReport is what `weir check --json` prints.
type checkReport struct {
	OK       bool               `json:"ok"`
	Problems []spec.Diagnostic  `json:"problems"`
	Findings []pipeline.Finding `json:"findings"`
}

func checkCommand(s streams) *cobra.Command {
	var flags specFlags
	var place ledgerPlaceFlags
	var asJSON bool
	var format, explain string
	c := &cobra.Command{
		Use:   "check SPEC",
		Short: "Check schema, types and privacy of a spec; reads no data",
		Long: `Check a spec: its schema, the graph of stages, the privacy types and the bill.
Every problem is listed at once, with file, line and column. No data is opened. A
spec whose run the budget of the dataset would refuse, by its ledger, is refused.

` + specHelp + `

Exit codes: 0 no error; 2 bad spec or usage; 3 privacy refused or over budget.`,
		Example: "  weir check examples/cardio/quickstart.yaml\n  weir check spec.yaml --format sarif > weir.sarif\n  weir " +
			"check --explain W03",
		Args: func(c *cobra.Command, args []string) error {
			if explain != "" {
				return noArgs(c, args)
			}
			return exactly(1, "SPEC")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if explain != "" {
				return explainRule(c, s.out, explain, asJSON)
			}
			if asJSON {
				format = "json"
			}
			plan, err := flags.compile(args[0])
			if err == nil {
				err = checkBudget(c, s, &flags, &place, args[0], plan)
			}
			return reportCheck(c, s, format, args[0], plan, err)
		},
	}
	flags.add(c)
	place.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (--format json)")
	c.Flags().StringVar(&format, "format", "text", "text, json or sarif")
	c.Flags().StringVar(&explain, "explain", "", "print an audit rule, such as W03, and exit")
	return c
}

// checkBudget refuses a spec, or an experiment, that its dataset cannot pay for.
func checkBudget(c *cobra.Command, s streams, flags *specFlags, place *ledgerPlaceFlags, arg string,
	plan *compile.Plan) error {
	runs := []runtime.Trial{{Plan: plan}}
	if plan.Spec.Experiment != nil {
		x, err := flags.priced(arg, plan)
		if err != nil {
			return err
		}
		runs = x.Runs()
	}
	_, err := place.foresee(c.Context(), s, flags, arg, runs)
	var refusal *ledger.OverBudgetError
	var none *ledger.UnmeasuredError
	switch {
	case errors.As(err, &none):
		return spec.Diagnostics{plan.Spec.Refusal(spec.RuleBudget, "", "dataset.budget.filter",
			"without a measure for a charge", "one that measures all charges", err.Error())}
	case !errors.As(err, &refusal):
		return err
	}
	return spec.Diagnostics{plan.Spec.Refusal(spec.RuleBudget, "", "dataset.budget", "short of what would be charged",
		"as much as all runs spend together", err.Error())}
}

// reportCheck prints findings in the chosen format and keeps the exit code of
// the problems.
func reportCheck(c *cobra.Command, s streams, format, name string, plan *compile.Plan, err error) error {
	var problems spec.Diagnostics
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	report := checkReport{OK: err == nil, Problems: append([]spec.Diagnostic{}, problems...),
		Findings: []pipeline.Finding{}}
	if plan != nil {
		report.Findings = plan.Findings
	}
	switch format {
	case "json":
		return errors.Join(printJSON(s.out, report), silent(err))
	case "sarif":
		return errors.Join(printJSON(s.out, sarif(name, report)), silent(err))
	case "text":
		return checkText(s, name, report, err)
	}
	return usage(c, fmt.Errorf("--format: is %q, must be text, json or sarif", format))
}

func checkText(s streams, name string, report checkReport, err error) error {
	for _, f := range report.Findings {
		fmt.Fprint(s.out, words.Finding(f))
	}
	if err == nil {
		fmt.Fprintf(s.out, "%s: no error\n", name)
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
		Use:   "explain RULE",
		Short: "Explain an audit rule: what goes wrong, what to do instead, what holds it",
		Long: "Explain an audit rule: what goes wrong, what to do instead, what holds it.\n\nExit codes: 0 done; 2 " +
			"usage, or no such rule.",
		Example: "  weir explain W03\n  weir explain W03 --json",
		Args:    exactly(1, "RULE"),
		RunE:    func(c *cobra.Command, args []string) error { return explainRule(c, s.out, args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// explainRule prints one entry of the audit rules.
func explainRule(c *cobra.Command, w io.Writer, id string, asJSON bool) error {
	r, err := spec.FindRule(strings.ToUpper(id))
	if err != nil {
		return usage(c, err)
	}
	if asJSON {
		return printJSON(w, r)
	}
	_, err = fmt.Fprintf(w, "%s (%s)\n\nfinding    %s\ninstead    %s\nheld       %s\n", r.ID, r.Level, r.Finding,
		r.Instead, r.Held)
	if err == nil && len(r.Tests) > 0 {
		_, err = fmt.Fprintf(w, "tests      %s\n", strings.Join(r.Tests, ", "))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "reference  %s\n", r.Reference)
	}
	return err
}

// sarif renders a check as SARIF 2.1.0, which code review tools read.
func sarif(spec string, report checkReport) map[string]any {
	results := []map[string]any{}
	for _, p := range report.Problems {
		results = append(results, sarifResult(ruleID(p.Rule), "error", p.Error(), faulty(spec, p), p.Line, p.Column))
	}
	for _, f := range report.Findings {
		results = append(results, sarifResult(f.Rule, string(f.Level), f.Message, spec, 0, 0))
	}
	driver := map[string]any{"name": "weir", "version": thisVersion().Weir, "rules": sarifRules()}
	return map[string]any{
		"version": "2.1.0",
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"runs":    []any{map[string]any{"tool": map[string]any{"driver": driver}, "results": results}},
	}
}

// faulty is the file of a fault: a domain is named from the folder of its spec, and one
// without a line, such as of --set, is put on the spec.
func faulty(spec string, p spec.Diagnostic) string {
	switch {
	case p.Line == 0:
		return spec
	case p.File == spec || filepath.IsAbs(p.File):
		return p.File
	}
	return filepath.Join(filepath.Dir(spec), p.File)
}

// ruleID names faults of the spec that are no audit rule.
func ruleID(rule string) string {
	if rule == "" {
		return "spec"
	}
	return rule
}

func sarifResult(rule, level, message, file string, line, column int) map[string]any {
	uri := url.URL{Path: filepath.ToSlash(file)}
	physical := map[string]any{"artifactLocation": map[string]any{"uri": uri.String()}}
	if line > 0 {
		physical["region"] = map[string]any{"startLine": line, "startColumn": max(1, column)}
	}
	return map[string]any{"ruleId": rule, "level": level, "message": map[string]any{"text": message},
		"locations": []any{map[string]any{"physicalLocation": physical}}}
}

func sarifRules() []map[string]any {
	rules := []map[string]any{
		{"id": "spec", "shortDescription": map[string]any{"text": "the spec is not valid"}},
		{"id": spec.RuleBudget, "shortDescription": map[string]any{"text": "the bill is over the budget"}},
	}
	for _, r := range spec.AuditRules() {
		rules = append(rules, map[string]any{"id": r.ID, "shortDescription": map[string]any{"text": r.Finding},
			"help": map[string]any{"text": r.Instead}})
	}
	return rules
}
