package model

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"

	"weir/pipeline"
	"weir/train/net"
)

// Generator is a released model: a net that turns latent rows of standard
// normals into encoded rows. It carries public facts and noised weights only:
// no optimiser, no critic (W31).
type Generator struct {
	Kind    string           `json:"kind"`
	Net     net.Spec         `json:"net"`
	Domain  *pipeline.Domain `json:"domain"` // of the encoded table, with its history
	weights map[string][]float32
}

const (
	describedBy  = "model.json"
	weightPrefix = "weights/"
)

// newGenerator packs trained weights.
func newGenerator(kind string, n *net.Net, weights []float32, domain *pipeline.Domain) *Generator {
	return &Generator{Kind: kind, Net: n.Spec(), Domain: domain, weights: n.Export(weights)}
}

// Table is the model as an artifact of header h.
func (g *Generator) Table(h pipeline.Header) (pipeline.Table, error) {
	about, err := json.Marshal(g)
	if err != nil {
		return pipeline.Table{}, err
	}
	files := []pipeline.File{{Name: describedBy, Data: about}}
	names := make([]string, 0, len(g.weights))
	for name := range g.weights {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		files = append(files, pipeline.File{Name: weightPrefix + name, Data: floatBytes(g.weights[name])})
	}
	return pipeline.WriteFiles(h, files), nil
}

// ReadGenerator is the inverse of Table.
func ReadGenerator(ctx context.Context, t pipeline.Table) (*Generator, error) {
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return nil, err
	}
	g := &Generator{weights: map[string][]float32{}}
	for _, f := range files {
		name, isWeight := strings.CutPrefix(f.Name, weightPrefix)
		switch {
		case isWeight && len(f.Data)%4 == 0:
			g.weights[name] = bytesFloats(f.Data)
		case f.Name == describedBy:
			if err := json.Unmarshal(f.Data, g); err != nil {
				return nil, fmt.Errorf("model: %s: %w", describedBy, err)
			}
		default:
			return nil, fmt.Errorf("model: holds %q, must hold %s and %s", f.Name, describedBy, weightPrefix+"NAME")
		}
	}
	if g.Domain == nil {
		return nil, fmt.Errorf("model: is without %s", describedBy)
	}
	return g, nil
}

func floatBytes(x []float32) []byte {
	b := make([]byte, 0, 4*len(x))
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func bytesFloats(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}
