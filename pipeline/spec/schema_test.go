package spec

import (
	"testing"

	"weir/schema"
)

// TestSharedSettingsHaveSchemas: the settings that every spec has keep to the rules that their tags state, defaults
// included: to parse a spec derives their schema alone.
func TestSharedSettingsHaveSchemas(t *testing.T) {
	dataset := datasetFields(defaults().Dataset)
	for _, v := range []any{&specFile{Spec: defaults()}, &dataset, &stageHead{}} {
		if _, err := schema.Of(v); err != nil {
			t.Error(err)
		}
	}
}
