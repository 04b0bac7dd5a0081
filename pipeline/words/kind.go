package words

import (
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// Kind returns the reference page of a kind as Markdown: doc, ports, settings.
func Kind(k *pipeline.Kind) (string, error) { return kindPage(k, Settings) }

// ShortKind returns Kind with the settings that several kinds have as names and defaults, and a link to the page that
// says of each what it is.
func ShortKind(k *pipeline.Kind) (string, error) { return kindPage(k, shortSettings) }

func kindPage(k *pipeline.Kind, table func(*schema.Schema) string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n\n", k.Name, strings.TrimSpace(k.Doc))
	if k.Late {
		b.WriteString("Can wait for bounds and categories that a stage of the same run releases.\n\n")
	}
	b.WriteString("| port | gives or takes | what |\n| --- | --- | --- |\n")
	for _, p := range k.In {
		fmt.Fprintf(&b, "| `%s` | takes %s%s | %s |\n", p.Key(), p.Forms(), note(p), p.Doc)
	}
	for _, p := range k.Out {
		fmt.Fprintf(&b, "| `.%s` | gives %s | %s |\n", p.Name, p.Form, p.Doc)
	}
	settings, err := schema.Of(k.New())
	if err != nil {
		return "", fmt.Errorf("kind %s: %w", k.Name, err)
	}
	if len(settings.Settings()) == 0 {
		b.WriteString("\nNo settings.\n")
		return b.String(), nil
	}
	b.WriteString("\n" + table(settings))
	return b.String(), nil
}

// Settings lists the settings of a schema as a Markdown table.
func Settings(s *schema.Schema) string { return settingsTable(s.Settings()) }

// shortSettings lists the settings of a schema as a Markdown table, but in one line those that are as several places
// have them: a line for each group, items of a list by the list alone.
func shortSettings(s *schema.Schema) string {
	heads, common := []string{}, map[string][]string{}
	full := slices.DeleteFunc(s.Settings(), func(r schema.Setting) bool {
		list, _, item := strings.Cut(r.Path, "[].")
		if r.Shared == "" || r.Required && !item {
			return false
		}
		name, head := strings.TrimSpace("`"+r.Path+"` "+r.Default), linked(r.Shared)+", with their defaults: "
		if item {
			name, head = "`"+list+"`", linked(r.Shared)+", of each entry of "
		}
		if common[head] == nil {
			heads = append(heads, head)
		}
		if !slices.Contains(common[head], name) {
			common[head] = append(common[head], name)
		}
		return true
	})
	var b strings.Builder
	for _, head := range heads {
		b.WriteString(head + strings.Join(common[head], ", ") + ".\n\n")
	}
	return b.String() + settingsTable(full)
}

// linked returns the title of a group of settings as a link to its heading.
func linked(title string) string {
	return fmt.Sprintf("[%s](settings.md#%s)", title, strings.ReplaceAll(strings.ToLower(title), " ", "-"))
}

func settingsTable(settings []schema.Setting) string {
	var b strings.Builder
	b.WriteString("| setting | must be | default | what |\n| --- | --- | --- | --- |\n")
	for _, r := range settings {
		value := r.Default
		if r.Required {
			value = "required"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Path, cell(r.Accepted), cell(value), cell(r.Doc))
	}
	return b.String()
}

// note says that a port takes several, by their plural (metrics and files have none), and that it may be left out.
func note(p pipeline.Port) (words string) {
	if p.Many && !strings.HasSuffix(p.Forms(), "s") {
		words = "s"
	}
	if p.Optional {
		words += ", optional"
	}
	return words
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }

// Page cuts the lines of a Markdown page: prose beyond 120 bytes into lines of at most 116; rows of tables
// stay whole.
func Page(page []byte) []byte {
	lines := strings.Split(string(page), "\n")
	for i, line := range lines {
		if len(line) > 120 && !strings.HasPrefix(line, "|") {
			lines[i] = pageLine(line)
		}
	}
	return []byte(strings.Join(lines, "\n"))
}

// pageLine breaks a line at blanks; items of a list hang by two.
func pageLine(line string) string {
	indent := "\n"
	if strings.HasPrefix(line, "- ") {
		indent = "\n  "
	}
	var b strings.Builder
	room := 116
	for i, word := range strings.Split(line, " ") {
		switch room -= len(word) + 1; {
		case i > 0 && room < 0:
			b.WriteString(indent)
			room = 116 - len(word) - len(indent)
		case i > 0:
			b.WriteString(" ")
		}
		b.WriteString(word)
	}
	return b.String()
}

// Plural counts things that a noun names.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Group is a heading of the list of kinds with its kinds, by name.
type Group struct {
	Title string
	Kinds []*pipeline.Kind
}

// groupTitles lists the headings in the order in which they are shown.
func groupTitles() []string {
	return []string{"Models", "Rows of a model", "Answers without a model", "Anomalies", "Preparation", "Evaluation",
		"Pages and files"}
}

// Groups returns the kinds of a registry by what they give, models first. A group without kinds is left out.
func Groups(reg *pipeline.Registry) []Group {
	members := map[string][]*pipeline.Kind{}
	for _, name := range reg.Names() {
		kind := reg.Kind(name)
		members[groupOf(kind)] = append(members[groupOf(kind)], kind)
	}
	var groups []Group
	for _, title := range groupTitles() {
		if len(members[title]) > 0 {
			groups = append(groups, Group{title, members[title]})
		}
	}
	return groups
}

// groupOf returns the heading of a kind, from its ports alone.
func groupOf(k *pipeline.Kind) string {
	switch k.Out[0].Form {
	case pipeline.FormModel:
		return "Models"
	case pipeline.FormAnswers, pipeline.FormCount:
		return "Answers without a model"
	case pipeline.FormMetrics:
		return "Evaluation"
	case pipeline.FormFiles:
		return "Pages and files"
	}
	switch {
	case k.Draws:
		return "Rows of a model"
	case takesScorer(k):
		return "Anomalies"
	}
	return "Preparation"
}

// takesScorer reports whether a kind gives or reads what scores rows.
func takesScorer(k *pipeline.Kind) bool {
	if k.Out[0].Form == pipeline.FormDetector {
		return true
	}
	for _, p := range k.In {
		if p.Form == pipeline.FormDetector || p.Form == pipeline.FormModel {
			return true
		}
	}
	return false
}
