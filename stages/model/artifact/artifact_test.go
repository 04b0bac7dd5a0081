package artifact

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
)

// toy is a model that is its parts.
type toy struct {
	Model
	parts map[string][]byte
}

// toys reads models of kind toy in format 2.
func toys() pipeline.Readers {
	return pipeline.Readers{"toy": {Decoder{2, func(parts map[string][]byte) (Model, error) {
		if len(parts) == 0 {
			return nil, errors.New("no parts")
		}
		return toy{parts: parts}, nil
	}}}}
}

func header() pipeline.Header {
	return pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released}
}

// packed returns the files of a model of kind toy with parts b and a, in that order.
func packed(t *testing.T) []pipeline.File {
	t.Helper()
	model, err := Pack(header(), "toy", 2, []pipeline.File{{Name: "b", Data: []byte("two")},
		{Name: "a", Data: []byte("one")}})
	must(t, err)
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	return files
}

func read(t *testing.T, files []pipeline.File) (Model, error) {
	t.Helper()
	return Read[Model](t.Context(), pipeline.WriteFiles(header(), files), toys())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestArtifact: the first file states kind and format, and nothing else; the parts stand in order of name.
func TestArtifact(t *testing.T) {
	files := packed(t)
	const cover = `{"kind":"toy","format":2}`
	if len(files) != 3 || files[0].Name != "artifact.json" || files[1].Name != "a" || files[2].Name != "b" ||
		string(files[0].Data) != cover {
		t.Errorf("packed as %s", files)
	}
	m, err := read(t, files)
	must(t, err)
	if parts := m.(toy).parts; len(parts) != 2 || string(parts["a"]) != "one" || string(parts["b"]) != "two" {
		t.Errorf("read back as %s", parts)
	}
}

// covered puts a cover of its own on parts.
func covered(t *testing.T, kind string, format int, parts []pipeline.File) []pipeline.File {
	t.Helper()
	about, err := json.Marshal(cover{kind, format})
	must(t, err)
	return append([]pipeline.File{{Name: coverName, Data: about}}, parts...)
}

// TestForeignModel: artifacts of another kind or format, and files that are none, are errors
// that say what they are.
func TestForeignModel(t *testing.T) {
	files := packed(t)
	for what, c := range map[string]struct {
		files []pipeline.File
		want  string
	}{
		"of another kind": {covered(t, "dp_vae", 2, files[1:]),
			`is of kind "dp_vae", format 2, must be one of toy (format 2)`},
		"of a later format":    {covered(t, "toy", 3, files[1:]), `is of kind "toy", format 3`},
		"with a part twice":    {append(slices.Clone(files), files[1]), `holds the part "a" twice`},
		"without a cover":      {files[1:], "does not begin with " + coverName},
		"with a cover of text": {append([]pipeline.File{{Name: coverName, Data: []byte("{")}}, files[1:]...), coverName},
		"without any part":     {nil, "does not begin with"},
		"that cannot be read":  {covered(t, "toy", 2, nil), "no parts"},
	} {
		if _, err := read(t, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a model %s: %v, must be an error with %q", what, err, c.want)
		}
	}
	if _, err := read(t, covered(t, "toy", 2, files[1:])); err != nil {
		t.Errorf("the same parts under a cover of their own: %v", err)
	}
}
