package main

import (
	"net/url"
	"path/filepath"

	"weir/pipeline/spec"
)

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
		rules = append(rules, map[string]any{"id": r.ID, "shortDescription": map[string]any{"text": r.Finding}, "help": map[string]any{"text": r.Instead}})
	}
	return rules
}
