package spec

import (
	"slices"
	"strings"

	"weir/schema"
)

// foreign is the one problem of a file that is not what it is taken for: it has
// none of the keys that tell one. Whatever else is wrong with it is not said,
// since a problem quotes what it found, and a table that was named by mistake
// holds cells.
func foreign(file string, doc *schema.Document, text string, keys ...string) []schema.Problem {
	if slices.ContainsFunc(keys, func(k string) bool { return slices.Contains(doc.Keys(""), k) }) {
		return nil
	}
	return []schema.Problem{{File: file, Line: 1, Column: 1, Found: "not " + text, Accepted: text +
		": a YAML mapping with the key " + strings.Join(keys, " or ")}}
}

func specForeign(file string, doc *schema.Document) []schema.Problem {
	return foreign(file, doc, "a spec", "weir", "dataset", "stages")
}
