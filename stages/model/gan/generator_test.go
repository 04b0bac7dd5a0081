package gan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/model/internal/training"
)

// TestArtifact: a model states its own kind, for which there is a decoder, and is
// read back with the domain of what went in.
func TestArtifact(t *testing.T) {
	for name, l := range learners(t) {
		model, _ := l.Trained(t, l.in)
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		var description struct {
			Kind   string
			Format int
		}
		must(t, json.Unmarshal(files[0].Data, &description))
		if description.Kind != l.Kind.Name || description.Format != training.Format {
			t.Errorf("%s: says that it is %v", name, description)
		}
		if m, err := artifact.Read[artifact.Model](t.Context(), model, pipeline.ReadersOf(Kinds())); err != nil ||
			len(m.Header().Domain.Columns) != 4 {
			t.Errorf("%s: cannot be read back: %v", name, err)
		}
	}
}

// TestDamagedGenerator: parts of other names, lengths or shapes are errors.
func TestDamagedGenerator(t *testing.T) {
	l := learners(t)["dp_wgan"]
	model, _ := l.Trained(t, l.in)
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	weight := slices.IndexFunc(files, func(f pipeline.File) bool { return strings.HasPrefix(f.Name, "weights/") })
	name, numbers := files[weight].Name, files[weight].Data
	for what, change := range map[string]func(parts map[string][]byte){
		"whole":                   nil,
		"without its description": func(parts map[string][]byte) { delete(parts, "model.json") },
		"described by text":       func(parts map[string][]byte) { parts["model.json"] = []byte("{") },
		"without a weight":        func(parts map[string][]byte) { delete(parts, name) },
		"with another file":       func(parts map[string][]byte) { parts["critic"] = nil },
		"with half a weight":      func(parts map[string][]byte) { parts[name] = numbers[:len(numbers)-2] },
		"with a short weight":     func(parts map[string][]byte) { parts[name] = numbers[:len(numbers)-4] },
	} {
		parts := map[string][]byte{}
		for _, f := range files[1:] {
			parts[f.Name] = f.Data
		}
		if change != nil {
			change(parts)
		}
		if _, err := training.Readers()[0].(artifact.Decoder).Decode(parts); (err != nil) != (change != nil) {
			t.Errorf("a generator %s: %v", what, err)
		}
	}
}

// TestUnreadableIsRefusedBefore: a model that could not be read back is refused by the
// plan, not after its noise is paid for.
func TestUnreadableIsRefusedBefore(t *testing.T) {
	for name, l := range learners(t) {
		h := l.in.Header
		h.Domain = h.Domain.Clone()
		h.Domain.Columns[0].Name = "\x1b[2J"
		if _, err := l.Stage().Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(),
			"cannot be released") {
			t.Errorf("%s: %v, must say that the model cannot be released", name, err)
		}
		h.Domain.Columns[0].Name = "other" // not the one that its history encoded
		if _, err := l.Stage().Plan(pipeline.Headers{"in": h}); err == nil || !strings.Contains(err.Error(),
			"cannot be released") {
			t.Errorf("%s: %v, must say that the model cannot be released", name, err)
		}
	}
}
