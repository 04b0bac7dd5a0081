package pipeline

import (
	"encoding/json"
	"testing"
)

// TestPlanNamesItsSource: the JSON of a plan begins with the kind of its source, as specs name it, whichever that is;
// nothing else of the source is in it.
func TestPlanNamesItsSource(t *testing.T) {
	d := DatasetPlan{PrivacyUnit: "row", Columns: 2, Source: Declared{Kind: "file", Place: "data/a <b>.csv", Name: "a <b>.csv", Files: []string{"data/a <b>.csv"}}}
	got, err := json.Marshal(&Plan{Dataset: d}) // as plans are kept
	if err != nil {
		t.Fatal(err)
	}
	var plan struct{ Dataset json.RawMessage }
	if err := json.Unmarshal(got, &plan); err != nil {
		t.Fatal(err)
	}
	if want := `{"file":"data/a \u003cb\u003e.csv","privacy_unit":"row","columns":2}`; string(plan.Dataset) != want {
		t.Errorf("%s, must be %s", plan.Dataset, want)
	}
}
