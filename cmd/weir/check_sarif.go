package main

import (
	"net/url"
	"path/filepath"

	"weir/pipeline/spec"
)

// sarif renders a check as SARIF 2.1.0, which code review tools read.
func (r *checkReport) sarif() map[string]any {
	results := []map[string]any{}
	for _, p := range r.Problems {
		results = append(results, sarifResult(ruleID(p.Rule), "error", p.Error(), p.file(), p.Line, p.Column, ""))
	}
	for _, f := range r.Findings {
		results = append(results, sarifResult(f.Rule, string(f.Level), f.Message, f.File, f.Line, f.Column,
			f.Acknowledged))
	}
	driver := map[string]any{"name": "weir", "version": thisVersion().Weir, "rules": sarifRules()}
	return map[string]any{
		"version": "2.1.0",
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
		"runs": []any{map[string]any{"tool": map[string]any{"driver": driver}, "results": results,
			"columnKind": "unicodeCodePoints"}},
	}
}

// file returns the file of the problem: a domain is named from the folder of its spec, and a problem without a line,
// such as of --set, is put on the spec.
func (p placedProblem) file() string {
	switch {
	case p.Line == 0:
		return p.Spec
	case p.File == p.Spec || filepath.IsAbs(p.File):
		return p.File
	}
	return filepath.Join(filepath.Dir(p.Spec), p.File)
}

// ruleID names faults of the spec that are not an audit rule.
func ruleID(rule string) string {
	if rule == "" {
		return "spec"
	}
	return rule
}

// sarifResult words one result. A reason for accepting it suppresses it, in the source: an empty list of suppressions
// says that nobody accepts it.
func sarifResult(rule, level, message, file string, line, column int, reason string) map[string]any {
	uri := url.URL{Path: filepath.ToSlash(file)}
	physical := map[string]any{"artifactLocation": map[string]any{"uri": uri.String()}}
	if line > 0 {
		physical["region"] = map[string]any{"startLine": line, "startColumn": max(1, column)}
	}
	suppressions := []any{}
	if reason != "" {
		suppressions = append(suppressions, map[string]any{"kind": "inSource", "justification": reason})
	}
	return map[string]any{"ruleId": rule, "level": level, "message": map[string]any{"text": message},
		"locations": []any{map[string]any{"physicalLocation": physical}}, "suppressions": suppressions}
}

func sarifRules() []map[string]any {
	rules := []map[string]any{
		{"id": "spec", "shortDescription": map[string]any{"text": "the spec is not valid"}},
		{"id": spec.RuleBudget, "shortDescription": map[string]any{"text": "the bill is over the budget"}},
	}
	for _, r := range spec.AuditRules() {
		rule := map[string]any{"id": r.ID, "shortDescription": map[string]any{"text": r.Finding},
			"help":                 map[string]any{"text": "Instead: " + r.Instead + ". See " + r.Reference + "."},
			"defaultConfiguration": map[string]any{"level": r.Level}}
		if uri := r.URI(); uri != "" {
			rule["helpUri"] = uri
		}
		rules = append(rules, rule)
	}
	return rules
}
