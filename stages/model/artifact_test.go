package model

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/pipeline/pipelinetest"
)

// partsOf are the files of a small trained model.
func partsOf(t *testing.T) (pipeline.Header, []pipeline.File) {
	t.Helper()
	l := learners(t)["dp_wgan"]
	model, _ := trained(t, l, l.in)
	files, err := pipeline.ReadFiles(t.Context(), model)
	must(t, err)
	return model.Header, files
}

// drawFrom samples three rows of an artifact.
func drawFrom(t *testing.T, h pipeline.Header, files []pipeline.File) error {
	t.Helper()
	out, err := pipelinetest.Run(t, &Sample{Rows: 3, Categorical: "sample"}, pipelinetest.Env(1), pipeline.Tables{"in": pipeline.WriteFiles(h, files)})
	if err == nil {
		_, err = out["out"].Collect(t.Context())
	}
	return err
}

// TestArtifact: the first part states kind, format and the digest of the others, and
// nothing else; a decoder is listed for it.
func TestArtifact(t *testing.T) {
	for name, l := range learners(t) {
		model, _ := trained(t, l, l.in)
		files, err := pipeline.ReadFiles(t.Context(), model)
		must(t, err)
		var about map[string]any
		must(t, json.Unmarshal(files[0].Data, &about))
		if files[0].Name != coverName || len(about) != 3 || about["kind"] != l.kind.Name || about["digest"] != digestParts(files[1:]) {
			t.Errorf("%s: %s says %v", name, files[0].Name, about)
		}
		if !slices.ContainsFunc(decoders(), func(d decoder) bool { return d.kind == l.kind.Name && float64(d.format) == about["format"] }) {
			t.Errorf("%s: no decoder for %v", name, about)
		}
		if m, err := Read(t.Context(), model); err != nil || len(m.Header().Domain.Columns) != 4 {
			t.Errorf("%s: cannot be read back: %v", name, err)
		}
	}
}

// TestDecodersAreDistinct: two for one kind and format could not both be used.
func TestDecodersAreDistinct(t *testing.T) {
	for i, d := range decoders() {
		for _, e := range decoders()[:i] {
			if d.kind == e.kind && d.format == e.format {
				t.Errorf("two decoders for %s, format %d", d.kind, d.format)
			}
		}
		if !slices.ContainsFunc(Kinds(), func(k pipeline.Kind) bool { return k.Name == d.kind }) {
			t.Errorf("a decoder for %s, which is no kind", d.kind)
		}
	}
}

// covered puts a cover of its own on parts.
func covered(t *testing.T, kind string, format int, parts []pipeline.File) []pipeline.File {
	t.Helper()
	about, err := json.Marshal(cover{kind, format, digestParts(parts)})
	must(t, err)
	return append([]pipeline.File{{Name: coverName, Data: about}}, parts...)
}

// TestForeignModel: artifacts of another kind or format, and damaged ones, are errors
// that say what they are.
func TestForeignModel(t *testing.T) {
	h, files := partsOf(t)
	flipped := slices.Clone(files)
	last := &flipped[len(flipped)-1]
	last.Data = slices.Clone(last.Data)
	last.Data[0] ^= 1
	renamed := slices.Clone(files)
	renamed[1].Name += "x"
	for what, c := range map[string]struct {
		files []pipeline.File
		want  string
	}{
		"of another kind":      {covered(t, "dp_vae", 2, files[1:]), "is of kind dp_vae, format 2, must be one of dp_wgan (format 2)"},
		"of a later format":    {covered(t, "dp_wgan", 3, files[1:]), "is of kind dp_wgan, format 3"},
		"with a bit flipped":   {flipped, "is damaged"},
		"with a part renamed":  {renamed, "is damaged"},
		"with a part missing":  {files[:len(files)-1], "is damaged"},
		"without a cover":      {files[1:], "begins without " + coverName},
		"with a cover of text": {append([]pipeline.File{{Name: coverName, Data: []byte("{")}}, files[1:]...), coverName},
		"without any part":     {nil, "begins without"},
	} {
		if err := drawFrom(t, h, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a model %s: %v, must be an error with %q", what, err, c.want)
		}
	}
	if err := drawFrom(t, h, covered(t, "dp_wgan", generatorFormat, files[1:])); err != nil {
		t.Errorf("the same parts under a cover of their own: %v", err)
	}
}

// TestDamagedGenerator: parts of other names, lengths or shapes under a cover that
// fits them are errors.
func TestDamagedGenerator(t *testing.T) {
	h, files := partsOf(t)
	cut := func(n int) func([]pipeline.File) []pipeline.File {
		return func(f []pipeline.File) []pipeline.File {
			last := &f[len(f)-1]
			last.Data = last.Data[:len(last.Data)-n]
			return f
		}
	}
	for what, change := range map[string]func([]pipeline.File) []pipeline.File{
		"without its description": func(f []pipeline.File) []pipeline.File {
			return slices.DeleteFunc(f, func(f pipeline.File) bool { return f.Name == describedBy })
		},
		"without a weight":    func(f []pipeline.File) []pipeline.File { return f[:len(f)-1] },
		"with another file":   func(f []pipeline.File) []pipeline.File { return append(f, pipeline.File{Name: "critic"}) },
		"with half a weight":  cut(2),
		"with a short weight": cut(4),
	} {
		if drawFrom(t, h, covered(t, "dp_wgan", generatorFormat, change(slices.Clone(files[1:])))) == nil {
			t.Errorf("a model %s can be sampled", what)
		}
	}
}
