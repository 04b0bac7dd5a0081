package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Loop is a group of settings that the structs of this file take over.
type Loop struct {
	_     struct{} `defs:"loop" title:"Loops" doc:"What loops have."`
	Steps int      `yaml:"steps" json:"steps" min:"1" doc:"Steps."`
	Rate  float64  `yaml:"rate" json:"rate" exclusiveMin:"0" doc:"Learning rate."`
	Order string   `yaml:"order" json:"order" enum:"up|down|none" doc:"Order."`
	Width int      `yaml:"width" json:"width" doc:"Width."`
}

// phase takes over three of them, with two of its own between, one of which is called as one of theirs.
type phase struct {
	Before string `yaml:"before" json:"before"`
	Loop   `yaml:",inline" keys:"rate own steps order width" doc.rate:"Rate of Adam." enum.order:"down|none" min.steps:"2"`
	After  string `yaml:"after" json:"after"`
	Own    bool   `yaml:"own" json:"own,omitempty"`
	Width  []int  `yaml:"width" json:"width"`
}

type phases struct {
	First  phase `yaml:"first" json:"first"`
	Loop   `yaml:",inline" keys:"steps"`
	Second *tail `yaml:"second,omitempty" json:"second"`
}

type tail struct {
	Loop `yaml:",inline" keys:"width"`
}

func newPhases() *phases {
	first := phase{Loop: Loop{Steps: 5, Rate: 0.5, Order: "none", Width: 9}, Width: []int{3}}
	return &phases{First: first, Loop: Loop{Steps: 7, Rate: 8}, Second: &tail{Loop{Rate: 8, Width: 4}}}
}

// TestKeysChoose: a struct has the settings that keys names, in that order; its own settings elsewhere stay where they
// are declared.
func TestKeysChoose(t *testing.T) {
	fs, err := Fields(reflect.TypeFor[phase]())
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range fs {
		keys = append(keys, f.Tag.Get("yaml"))
	}
	if got, want := strings.Join(keys, " "), "before rate own steps order width after"; got != want {
		t.Errorf("%s, must be %s", got, want)
	}
	// Rates and widths that are not taken over are in neither form.
	want := "first:\n  before: \"\"\n  rate: 0.5\n  own: false\n  steps: 5\n  order: none\n  width: [3]\n  after: \"\"\n" +
		"steps: 7\nsecond:\n  width: 4\n"
	if got, err := Canonical(newPhases()); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(got)))
	}
	json, err := JSON(newPhases())
	if want := `{"first":{"before":"","rate":0.5,"steps":5,"order":"none","width":[3],"after":""},"steps":7,` +
		`"second":{"width":4}}`; err != nil || string(json) != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, string(json)))
	}
	doc, problems := Parse("x", []byte("steps: 9\nrate: 1\nfirst: {order: up}\n"))
	wrong := ""
	for _, p := range append(problems, doc.Decode("", newPhases())...) {
		wrong += p.Path + " "
	}
	if wrong != "rate first.order " {
		t.Errorf("problems of %q, must be of rate, which is not taken over, and of first.order", wrong)
	}
}

// TestSharedIsPublishedOnce: what several structs take over stands in $defs, and each says beyond it what it changes.
func TestSharedIsPublishedOnce(t *testing.T) {
	s, err := Of(newPhases())
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.Publish("https://weir.example/phases", "phases", "of a test")
	if err != nil {
		t.Fatal(err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"rate":{"$ref":"#/$defs/loop/properties/rate","description":"Rate of Adam.","default":0.5}`,
		`"steps":{"$ref":"#/$defs/loop/properties/steps","minimum":2,"default":5}`,
		`"order":{"$ref":"#/$defs/loop/properties/order","enum":["down","none"],"default":"none"}`,
		`"steps":{"$ref":"#/$defs/loop/properties/steps","default":7}`,
		`"$defs":{"loop":{"title":"Loops","description":"What loops have.","type":"object","properties":{` +
			`"steps":{"description":"Steps.","type":"integer","format":"int64","minimum":1},`,
	} {
		if !strings.Contains(compact.String(), want) {
			t.Errorf("%s\nmust have %s", compact.String(), want)
		}
	}
	groups, err := s.Shared()
	if err != nil || len(groups) != 1 || groups[0].Title != "Loops" || len(groups[0].Schema.Settings()) != 4 {
		t.Errorf("%v: %+v, must be the loop with its four settings", err, groups)
	}
	shared := map[string]string{}
	for _, one := range s.Settings() {
		shared[one.Path] = one.Shared
	}
	if shared["steps"] != "Loops" || shared["first.steps"] != "" || shared["first.own"] != "" {
		t.Errorf("%v: steps alone is as the loop has it", shared)
	}
}

// TestKeysRefuse: tags that would be without effect, or whose rule the published schema would not hold, are faults.
func TestKeysRefuse(t *testing.T) {
	for want, v := range map[string]any{
		`the tag keys: has "pace"`: struct {
			Loop `yaml:",inline" keys:"pace"`
		}{},
		"the tag min.rate: names no setting of the tag keys": struct {
			Loop `yaml:",inline" keys:"steps" min.rate:"1"`
		}{},
		`min.steps is "0", must allow no more than "1"`: struct {
			Loop `yaml:",inline" keys:"steps" min.steps:"0"`
		}{},
		`enum.order is "up|off", must allow no more than "up|down|none"`: struct {
			Loop `yaml:",inline" keys:"order" enum.order:"up|off"`
		}{},
		`the tag yaml.steps is "pace"`: struct {
			Loop `yaml:",inline" keys:"steps" yaml.steps:"pace"`
		}{},
		"is a second struct with keys": struct {
			Loop `yaml:",inline" keys:"steps"`
			L    struct {
				A int `yaml:"a"`
			} `yaml:",inline" keys:"a"`
		}{},
		`the key "steps" is declared twice`: struct {
			Loop `yaml:",inline" keys:"steps steps"`
		}{},
	} {
		if _, err := Of(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %s", err, want)
		}
	}
}

// TestTrainingStandsOnce: of the published schema, no setting says again what the settings of training say, and an
// editor that follows the references holds a stage to their rules and to those that its kind adds.
func TestTrainingStandsOnce(t *testing.T) {
	text, err := os.ReadFile("pipeline.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	references := 0
	training := doc["$defs"].(map[string]any)["training"].(map[string]any)["properties"].(map[string]any)
	for _, key := range []string{"encoder", "decoder", "label", "labels", "label_share"} {
		if training[key] == nil {
			t.Errorf("%s is no setting of training, must be: two kinds have it", key)
		}
	}
	for _, one := range training {
		doc := one.(map[string]any)["description"].(string)
		if n := bytes.Count(text, []byte(`"description": "`+doc+`"`)); n != 1 {
			t.Errorf("%q is said %d times", doc, n)
		}
	}
	if references = bytes.Count(text, []byte(`"$ref": "#/$defs/training/properties/`)); references < 100 {
		t.Errorf("%d settings refer to those of training, must be all of ten kinds", references)
	}
	stages := doc["properties"].(map[string]any)["stages"].(map[string]any)
	stages["$defs"] = doc["$defs"]
	stage, err := json.Marshal(stages)
	if err != nil {
		t.Fatal(err)
	}
	editor := jsonschema.MustCompileString("weir:stages", string(stage))
	for settings, want := range map[string]bool{
		`"steps": 5, "latent_dim": 1000`: true,
		`"steps": 0`:                     false, // a rule of training
		`"latent_dim": 1001`:             false, // a rule of the kind
		`"critic_steps": 5`:              false, // of training, not of the kind
	} {
		var value any
		spec := `{"learn": {"kind": "dp_vae", "from": "dataset", ` + settings + `}}`
		if err := json.Unmarshal([]byte(spec), &value); err != nil {
			t.Fatal(err)
		}
		if err := editor.Validate(value); (err == nil) != want {
			t.Errorf("%s: %v, must be accepted: %v", settings, err, want)
		}
	}
}
