package show

import (
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// FirstSentence is a doc up to its first full stop; that of "et al." is none.
func FirstSentence(doc string) string {
	for from := 0; ; {
		i := strings.Index(doc[from:], ". ")
		if i < 0 {
			return doc
		}
		from += i + 2
		if !strings.HasSuffix(doc[:from-2], "et al") {
			return doc[:from-1]
		}
	}
}

// Kind is the reference page of a kind as Markdown: doc, ports, settings.
func Kind(k *pipeline.Kind) (string, error) {
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
	b.WriteString("\n" + Settings(settings))
	return b.String(), nil
}

// Settings lists the settings of a schema as a Markdown table.
func Settings(s *schema.Schema) string {
	var b strings.Builder
	b.WriteString("| setting | must be | default | what |\n| --- | --- | --- | --- |\n")
	for _, r := range s.Settings() {
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
