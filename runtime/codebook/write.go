package codebook

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"weir/internal/plaintext"
	"weir/pipeline/domain"
	"weir/schema"
)

// YAML writes a domain with a comment of lines before it; a line for each key, lists on one.
func YAML(d *domain.Domain, comment ...string) ([]byte, error) {
	var b bytes.Buffer
	for _, line := range comment {
		// names of files are in it, which may hold ends of lines
		fmt.Fprintf(&b, "# %s\n", strings.Join(strings.Fields(plaintext.Text(line)), " "))
	}
	b.WriteString("columns:\n")
	for i := range d.Columns {
		write(&b, &d.Columns[i])
	}
	if b.Len() > schema.MaxBytes {
		return nil, fmt.Errorf("the domain would be %d bytes long, and weir check reads at most %d (1 MiB); import fewer "+
			"columns", b.Len(), schema.MaxBytes)
	}
	return b.Bytes(), nil
}

func write(b *bytes.Buffer, c *domain.Column) {
	fmt.Fprintf(b, "  - name: %s\n    type: %s\n", plaintext.YAML(c.Name), c.Type)
	if c.Bounds != nil {
		fmt.Fprintf(b, "    bounds: [%s, %s]\n", bound(c, 0), bound(c, 1))
	}
	switch {
	case c.Categories != nil && len(c.Categories) == 0:
		b.WriteString("    categories: private # a stage of kind dp_categories releases a list for a charge\n")
	case len(c.Categories) > 0:
		fmt.Fprintf(b, "    categories: [%s]\n", plaintext.YAMLList(c.Categories))
	}
	if len(c.Aliases) > 0 {
		b.WriteString("    aliases:\n")
		for _, category := range slices.Sorted(maps.Keys(c.Aliases)) {
			fmt.Fprintf(b, "      %s: [%s]\n", plaintext.YAML(category), plaintext.YAMLList(c.Aliases[category]))
		}
	}
	if c.Step > 0 {
		fmt.Fprintf(b, "    step: %s\n", step(c))
	}
	if c.Format != "" {
		fmt.Fprintf(b, "    format: %s\n", plaintext.YAML(c.Format))
	}
	if c.Zone != "" {
		fmt.Fprintf(b, "    zone: %s\n", c.Zone)
	}
	if len(c.Missing) > 0 {
		fmt.Fprintf(b, "    missing: [%s]\n", plaintext.YAMLList(c.Missing))
	}
	if c.Nullable {
		b.WriteString("    nullable: true\n")
	}
	if c.Source != "" {
		fmt.Fprintf(b, "    source: %s\n", c.Source)
	}
	if c.Doc != "" {
		fmt.Fprintf(b, "    doc: %s\n", plaintext.YAML(c.Doc))
	}
}

// step returns a number, or the word for one of seconds.
func step(c *domain.Column) string {
	for word, seconds := range domain.Steps() {
		if c.Type.Moment() && seconds == c.Step {
			return word
		}
	}
	return number(c.Step)
}

func bound(c *domain.Column, pos int) string {
	if c.Type.Calendar() {
		return c.Show(c.Bounds[pos])
	}
	return number(c.Bounds[pos])
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
