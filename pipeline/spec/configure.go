package spec

import (
	"encoding/json"
	"fmt"
	"strings"

	"weir/pipeline"
	"weir/schema"
)

// Configure makes a stage of kind k from texts and lists of texts, for callers without a spec. A
// setting that the kind does not have is left out.
func Configure(k *pipeline.Kind, settings map[string]any) (pipeline.Stage, error) {
	stage := k.New()
	shape, err := schema.Of(stage)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, s := range shape.Settings() {
		if value, ok := settings[s.Path]; ok {
			line, err := json.Marshal(value) // which is YAML too
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(&text, "%s: %s\n", s.Path, line)
		}
	}
	if text.Len() == 0 {
		text.WriteString("{}")
	}
	doc, problems := schema.Parse(k.Name, []byte(text.String()))
	if len(problems) == 0 {
		problems = doc.Decode("", stage)
	}
	return stage, schema.Join(problems)
}
