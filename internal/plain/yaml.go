package plain

import (
	"bytes"
	"encoding/json"
	"strings"
)

// YAML is text as a JSON string, which is a YAML string too.
func YAML(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// YAMLList is texts as what stands between the brackets of a YAML list.
func YAMLList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = YAML(s)
	}
	return strings.Join(quoted, ", ")
}
