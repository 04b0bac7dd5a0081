package pipeline

import (
	"encoding/json"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestUnitInRecipes: recipes and records hold a unit as JSON. The default of keep is not part of it, spelled out or
// not, so that recipes of specs from before there was a choice are the same.
func TestUnitInRecipes(t *testing.T) {
	for spelled, want := range map[string]string{
		"row":                                     "\"row\"",
		"{column: p, max_rows: 3}":                `{"column":"p","max_rows":3}`,
		"{column: p, max_rows: 3, keep: first}":   `{"column":"p","max_rows":3}`,
		"{column: p, max_rows: 3, keep: by_hash}": `{"column":"p","max_rows":3,"keep":"by_hash"}`,
	} {
		var u, again Unit
		if err := yaml.Unmarshal([]byte(spelled), &u); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(u); err != nil || string(got) != want {
			t.Errorf("%s is %s (%v) in JSON, must be %s", spelled, got, err, want)
		}
		text, err := yaml.Marshal(u)
		if err == nil {
			err = yaml.Unmarshal(text, &again)
		}
		if err != nil || again != u {
			t.Errorf("%s comes back as %v (%v)", spelled, again, err)
		}
	}
}
