// Command docgen writes the reference pages and JSON Schemas that are derived
// from the kinds: docs/kinds.md, docs/settings.md, docs/rooms.md, docs/audit.md, docs/claims.md, docs/reproduced.md
// and schema/*.schema.json. It runs in the folder of the package stages (go generate
// ./...). docgen reproduce takes the results of runs that docs/reproduced.md is made of.
package main

import (
	"fmt"
	"os"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/privacy/published"
	"weir/runtime"
	"weir/schema"
	"weir/stages"
)

func main() {
	make := generate
	if len(os.Args) > 1 && os.Args[1] == "reproduce" {
		make = func() error { return reproduce(os.Args[2:]) }
	}
	if err := make(); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

func generate() error {
	reg, err := runtime.Registry(stages.Kinds())
	if err != nil {
		return err
	}
	for path, make := range map[string]func(*pipeline.Registry) ([]byte, error){
		"../docs/kinds.md":               kindsPage,
		"../docs/settings.md":            settingsPage,
		"../docs/rooms.md":               roomsPage,
		"../docs/audit.md":               auditPage,
		"../docs/claims.md":              claimsPage,
		"../docs/reproduced.md":          reproducedPage,
		"../schema/pipeline.schema.json": specSchema,
		"../schema/domain.schema.json":   domainSchema,
	} {
		text, err := make(reg)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if strings.HasSuffix(path, ".md") {
			text = words.Page(text)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const generated = "<!-- Written by go generate ./stages; edit the kinds, not this page. -->\n\n"

func kindsPage(reg *pipeline.Registry) ([]byte, error) {
	var b strings.Builder
	b.WriteString(generated + "# Kinds of stages\n\nEach entry of `stages` names a kind. `weir kinds NAME` prints the " +
		"same page, with each of its [settings of training](settings.md#settings-of-training) in full.\n")
	for _, group := range words.Groups(reg) {
		if err := writeGroup(&b, group); err != nil {
			return nil, err
		}
	}
	return []byte(b.String()), nil
}

// writeGroup lists the kinds of a group and folds their pages below the list.
func writeGroup(b *strings.Builder, group words.Group) error {
	fmt.Fprintf(b, "\n## %s\n\n", group.Title)
	for _, kind := range group.Kinds {
		fmt.Fprintf(b, "- [%s](#%s): %s\n", kind.Name, kind.Name, kind.Summary())
	}
	fmt.Fprintf(b, "\n<details>\n<summary>%s: ports and settings</summary>\n", group.Title)
	for _, kind := range group.Kinds {
		text, err := words.ShortKind(kind)
		if err != nil {
			return err
		}
		b.WriteString("\n#" + text)
	}
	b.WriteString("\n</details>\n")
	return nil
}

func settingsPage(reg *pipeline.Registry) ([]byte, error) {
	settings, err := spec.Schema(reg)
	if err != nil {
		return nil, err
	}
	domain, err := schema.Of(&domain.Domain{})
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(generated + "# Settings of a spec\n\n")
	b.WriteString(words.Settings(settings))
	if err := writeShared(&b, settings); err != nil {
		return nil, err
	}
	b.WriteString("\n# Settings of a domain\n\n")
	b.WriteString(words.Settings(domain))
	return []byte(b.String()), nil
}

// writeShared lists the settings that several kinds have: they stand here once.
func writeShared(b *strings.Builder, settings *schema.Schema) error {
	groups, err := settings.Shared()
	for _, g := range groups {
		fmt.Fprintf(b, "\n# %s\n\n%s [kinds.md](kinds.md) lists which, and what a kind says otherwise.\n\n%s", g.Title,
			g.Doc, words.Settings(g.Schema))
	}
	return err
}

const auditHead = generated + "# Audit rules\n\n" +
	"What goes wrong in tools for private synthetic data, what a spec should do instead, and what enforces each rule.\n" +
	"`weir explain W03` prints one entry; `weir check --format sarif` and `--json` print every finding.\n\n" +
	"`weir check`, `plan` and `run` report what breaks a rule. Only a run, which has read the data, can check a few of\n" +
	"them. Others hold by design: no spec can break them, and the named tests show that. What no program can see\n" +
	"follows \"advice\": whoever signs a spec answers for it. Warnings, and errors where they are warnings, are\n" +
	"accepted by `privacy.acknowledge` with a reason ([spec.md](spec.md#accepted-warnings)).\n\n" +
	"| id | level | finding | instead | held by | reference |\n| --- | --- | --- | --- | --- | --- |\n"

func auditPage(*pipeline.Registry) ([]byte, error) {
	var b strings.Builder
	b.WriteString(auditHead)
	for _, r := range spec.AuditRules() {
		where, err := heldIn(r)
		if err != nil {
			return nil, err
		}
		level, advice := r.Level, r.Advice
		if r.Eased != "" {
			level += "; a warning " + r.Eased
		}
		if advice != "" {
			advice = "; advice: " + advice
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s%s | %s |\n", r.ID, level, r.Finding, r.Instead, where, advice,
			r.Reference)
	}
	table, err := examplesTable()
	return []byte(b.String() + table), err
}

const claimsHead = generated + `# Published accountings

The arithmetic of papers and of their programs, which plans and reports show beside the proven epsilon as epsilon
(published): a number to compare with a paper, never a guarantee of weir. The table says whether it holds for the
algorithm as the paper or its program runs it, and under which conditions it would; [accounting.md](accounting.md) says why.

| accounting | of | holds as run | would hold with |
| --- | --- | --- | --- |
`

func claimsPage(*pipeline.Registry) ([]byte, error) {
	var b strings.Builder
	b.WriteString(claimsHead)
	for _, c := range published.Claims() {
		content := "no"
		if c.Valid {
			content = "yes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, c.Paper, content, c.Condition)
	}
	return []byte(b.String()), nil
}

func specSchema(reg *pipeline.Registry) ([]byte, error) { return spec.Published("pipeline", reg) }

func domainSchema(reg *pipeline.Registry) ([]byte, error) { return spec.Published("domain", reg) }
