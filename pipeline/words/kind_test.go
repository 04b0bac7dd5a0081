package words

import (
	"strings"
	"testing"

	"weir/pipeline"
)

// Loop is a group of settings that several kinds have.
type Loop struct {
	_     struct{} `defs:"training" title:"Settings of training"`
	Steps int      `yaml:"steps" json:"steps" doc:"Steps of a loop."`
	Rate  float64  `yaml:"rate" json:"rate" doc:"Learning rate."`
}

type learner struct {
	Loop   `yaml:",inline" keys:"steps rate own" doc.rate:"Rate of Adam."`
	Own    bool    `yaml:"own" json:"own" doc:"A setting of its own."`
	Layers []Layer `yaml:"layers" json:"layers" doc:"Layers of a net."`
	Heads  []Layer `yaml:"heads" json:"heads" doc:"Heads of a net."`
}

// Layer is a group of settings that the items of several lists have.
type Layer struct {
	_     struct{} `defs:"layer" title:"Settings of a layer"`
	Width int      `yaml:"width" json:"width" required:"true" doc:"Units of a layer."`
}

func (learner) Plan(pipeline.Headers) (pipeline.Work, error) { return pipeline.Work{}, nil }

// TestShortKind: a page among others names the settings that are as several kinds have them, with their defaults; what
// the kind says otherwise, and its own, it has in full. Its page for itself has all of them in full.
func TestShortKind(t *testing.T) {
	k := &pipeline.Kind{Name: "learn", Doc: "Learns.", New: func() pipeline.Stage {
		return &learner{Loop: Loop{Steps: 4, Rate: 0.5}}
	}}
	short, err := ShortKind(k)
	if err != nil {
		t.Fatal(err)
	}
	full, err := Kind(k)
	if err != nil {
		t.Fatal(err)
	}
	for words, found := range map[string]struct{ short, full bool }{
		"with their defaults: `steps` 4.\n": {true, false},
		"Steps of a loop.":                  {false, true},
		"Units of a layer.":                 {false, true},
		"[Settings of a layer](settings.md#settings-of-a-layer), of each entry of `layers`, `heads`.\n": {true, false},
		"Rate of Adam.":         {true, true},
		"A setting of its own.": {true, true},
	} {
		if strings.Contains(short, words) != found.short || strings.Contains(full, words) != found.full {
			t.Errorf("%q must be in the short page: %v, in the full: %v\n%s\n%s", words, found.short, found.full, short, full)
		}
	}
}
