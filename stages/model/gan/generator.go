package gan

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/stages/model/artifact"
	"weir/stages/prep"
	"weir/train"
	"weir/train/net"
)

// generator is a released net that turns latent rows of standard normals into
// encoded rows. It carries public facts and noised weights only: no optimiser, no
// critic (W31).
type generator struct {
	Net     net.Spec         `json:"net"`
	Domain  *pipeline.Domain `json:"domain"` // of the encoded table, with its history
	weights map[string][]float32
}

const (
	generatorFormat = 2
	describedBy     = "model.json"
	weightPrefix    = "weights/"
)

// releaseGenerator packs trained weights as an artifact of header h.
func releaseGenerator(h pipeline.Header, kind string, n *net.Net, weights []float32) (pipeline.Table, error) {
	about, err := json.Marshal(generator{Net: n.Spec(), Domain: h.Domain})
	if err != nil {
		return pipeline.Table{}, err
	}
	parts := []pipeline.File{{Name: describedBy, Data: about}}
	for name, w := range n.Export(weights) {
		parts = append(parts, pipeline.File{Name: weightPrefix + name, Data: floatBytes(w)})
	}
	return artifact.Pack(h, kind, generatorFormat, parts)
}

func decodeGenerator(parts map[string][]byte) (artifact.Model, error) {
	g := &generator{weights: map[string][]float32{}}
	for name, data := range parts {
		weight, isWeight := strings.CutPrefix(name, weightPrefix)
		switch {
		case isWeight && len(data)%4 == 0:
			g.weights[weight] = bytesFloats(data)
		case name == describedBy:
			if err := json.Unmarshal(data, g); err != nil {
				return nil, fmt.Errorf("model: %s: %w", describedBy, err)
			}
		default:
			return nil, fmt.Errorf("model: holds %.60q, must hold %s and %s, of 4 bytes a weight", name, describedBy, weightPrefix+"NAME")
		}
	}
	if g.Domain == nil {
		return nil, fmt.Errorf("model: has no %s with a domain", describedBy)
	}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("model: %s: %w", describedBy, err)
	}
	return g, nil
}

// needReadable is a problem where the model could not be read back: what a stranger's
// model is judged by is told before anything is paid.
func needReadable(h pipeline.Header, ps *pipeline.Problems) {
	err := artifact.CheckDomain(h.Domain)
	if err == nil && len(*ps) == 0 {
		_, err = prep.DecodedHeader(h)
	}
	if err != nil {
		ps.Add("from", "a table of which a model cannot be released: "+err.Error(), "a table whose model can be read back")
	}
}

// check judges what was read before it is used: it may come from anyone.
func (g *generator) check() error {
	if err := artifact.CheckDomain(g.Domain); err != nil {
		return err
	}
	if err := g.checkShape(); err != nil {
		return err
	}
	if _, _, err := g.net(); err != nil {
		return err
	}
	_, err := prep.DecodedHeader(g.encoded())
	return err
}

func (g *generator) net() (*net.Net, []float32, error) {
	n, err := net.New(g.Net)
	if err != nil {
		return nil, nil, err
	}
	weights, err := n.Import(g.weights)
	return n, weights, err
}

// encoded is the header of the rows that the net puts out.
func (g *generator) encoded() pipeline.Header {
	return pipeline.TableHeader(g.Domain, pipeline.Header{Stability: pipeline.Unbounded()})
}

// Header is that of rows decoded from what the net puts out.
func (g *generator) Header() pipeline.Header {
	h, err := prep.DecodedHeader(g.encoded())
	if err != nil {
		return g.encoded() // Draw says why
	}
	return h
}

// Draw draws latents and, from the probabilities that come out, categories.
func (g *generator) Draw(d artifact.Drawing) (artifact.Rows, error) {
	encoded := g.encoded()
	if _, err := prep.DecodedHeader(encoded); err != nil {
		return nil, err
	}
	n, weights, err := g.net()
	if err != nil {
		return nil, err
	}
	latent, categories := d.Random("latent"), d.Random("categories")
	return func(rows int) (arrow.Record, error) {
		return prep.DecodeRows(encoded, train.Generate(n, weights, rows, latent), prep.Draw{Argmax: d.Argmax}, categories)
	}, nil
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
