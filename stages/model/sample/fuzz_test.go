package sample

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/model/artifact"
	"weir/stages/prep"
	"weir/train/net"
)

// described returns a model of an encoded table that has a column of each encoding, by
// format, and what its four tensors are long.
func described(t testing.TB) (description map[int][]byte, lengths []byte) {
	t.Helper()
	d := &domain.Domain{Columns: []domain.Column{
		{Name: "n", Type: domain.Integer, Bounds: &[2]float64{18, 90}},
		{Name: "x", Type: domain.Numeric, Bounds: &[2]float64{0, 20}, Step: 0.5},
		{Name: "f", Type: domain.Boolean, Categories: []string{"no", "yes"}},
		{Name: "c", Type: domain.Categorical, Categories: []string{"a", "b"}, Nullable: true},
	}}
	h := pipeline.TableHeader(d, pipeline.Header{Class: pipeline.Released, Stability: pipeline.Unbounded()})
	for _, s := range []pipeline.Stage{
		&prep.Discretize{Columns: []string{"n"}, Strategy: "uniform", Bins: 3, Inverse: "uniform"},
		&prep.Encode{MinMax: [2]float64{-1, 1}, Missing: "category", Standard: map[string]prep.Moments{
			"x": {Mean: 10, SD: 5}}},
	} {
		w, err := s.Plan(pipeline.Headers{"in": h})
		if err != nil {
			t.Fatal(err)
		}
		h = w.Out["out"]
	}
	width := 0
	for _, c := range h.Domain.Columns {
		width += c.Encoding.Width
	}
	blocks := net.Blocks(net.Block{Activation: "softmax", Width: width})
	spec := net.Spec{Inputs: 2, Layers: []net.Layer{net.Dense(3), net.LeakyReLU(0.2), net.Dense(width), blocks}}
	prior := []map[string]any{{"share": 1, "mean": []float64{1, -1}, "factor": [][]float64{{1}, {0.5, 2}}}}
	description = map[int][]byte{}
	for format, model := range map[int]map[string]any{2: {"domain": h.Domain, "net": spec},
		3: {"domain": h.Domain, "parts": []map[string]any{{"share": 1, "net": spec, "prior": prior}}}} {
		data, err := json.Marshal(model)
		if err != nil {
			t.Fatal(err)
		}
		description[format] = data
	}
	for _, n := range []int{2 * 3, 3, 3 * width, width} {
		lengths = binary.LittleEndian.AppendUint16(lengths, uint16(4*n))
	}
	return description, lengths
}

// drawFrom reads a model of any description and tensors, under a digest that is right,
// and draws a few rows of it.
func drawFrom(format int, about, lengths, weights []byte) error {
	parts, folder := []pipeline.File{{Name: "model.json", Data: about}}, map[int]string{2: "weights/",
		3: "weights/0/"}[format]
	for i, name := range []string{"0.dense.weight", "0.dense.bias", "2.dense.weight", "2.dense.bias"} {
		if len(lengths) < 2*i+2 {
			break
		}
		part := make([]byte, binary.LittleEndian.Uint16(lengths[2*i:]))
		weights = weights[copy(part, weights):]
		parts = append(parts, pipeline.File{Name: folder + name, Data: part})
	}
	h := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released}
	packed, err := artifact.Pack(h, "dp_wgan", format, parts)
	if err != nil {
		return err
	}
	m, err := read(context.Background(), packed)
	if err != nil {
		return err
	}
	stage := Stage{Categorical: "sample"}
	random := func(string) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	table, err := stage.Draw(m, 3, pipeline.Released, random, func(_, _ int64) {})
	if err != nil {
		return err
	}
	for _, err := range table.Open(context.Background()) {
		if err != nil {
			return err
		}
	}
	return nil
}

// FuzzModel: no description panics, whatever its digest vouches for.
func FuzzModel(f *testing.F) {
	about, lengths := described(f)
	for format, description := range about {
		if err := drawFrom(format, description, lengths, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(description, lengths, []byte{0, 0, 128, 63, 0, 0, 192, 127})
	}
	f.Fuzz(func(t *testing.T, description, lengths, weights []byte) {
		if len(description) < 1<<16 {
			drawFrom(2, description, lengths, weights)
			drawFrom(3, description, lengths, weights)
		}
	})
}

// TestKeptModels: go test reads what is kept as FuzzModel's seeds; this fails where the
// folder is gone.
func TestKeptModels(t *testing.T) {
	retained, err := filepath.Glob(filepath.Join("testdata", "fuzz", "FuzzModel", "*"))
	if err != nil || len(retained) == 0 {
		t.Fatalf("%d kept inputs, %v", len(retained), err)
	}
	for _, path := range retained {
		if info, err := os.Stat(path); err != nil || info.Size() > 64<<10 {
			t.Errorf("%s: is too long to be kept: %v", path, err)
		}
	}
}
