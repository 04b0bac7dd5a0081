// Package generator holds what every kind that learns nets shares: the released
// generator, nets made from settings, and bounds on memory.
package generator

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/prep"
	"weir/train"
	"weir/train/net"
)

// model is a released generator: nets that turn latent rows into encoded rows. It
// carries public facts and noised numbers only: no optimiser, no critic, no encoder
// (W31).
type model struct {
	Domain *domain.Domain `json:"domain"` // of the encoded table, with its history
	Parts  []described    `json:"parts"`
	Steps  []int          `json:"steps,omitempty"` // parts are one net at these steps of its training
}

// described is one net of a released generator.
type described struct {
	Share   float64  `json:"share"` // rows are drawn from parts in proportion to their shares
	Net     net.Spec `json:"net"`
	Prior   Prior    `json:"prior,omitempty"`
	weights map[string][]float32
}

// Part is a trained net with the law of its latent rows. A kind that learns one net
// releases one part of share 1; a kind that learns one for each label, a part for each.
type Part struct {
	Share   float64
	Net     *net.Net
	Weights []float32
	Prior   Prior
}

const (
	// Format is that of what Release packs.
	Format = 3

	describedBy  = "model.json"
	weightPrefix = "weights/"
)

// Release packs trained nets as an artifact of header h.
func Release(h pipeline.Header, kind string, parts ...Part) (pipeline.Table, error) {
	return release(h, kind, nil, parts)
}

func release(h pipeline.Header, kind string, steps []int, parts []Part) (pipeline.Table, error) {
	about := model{Domain: h.Domain, Steps: steps}
	var files []pipeline.File
	for i, p := range parts {
		about.Parts = append(about.Parts, described{Share: p.Share, Net: p.Net.Spec(), Prior: p.Prior})
		for name, w := range p.Net.Export(p.Weights) {
			files = append(files, pipeline.File{Name: fmt.Sprintf("%s%d/%s", weightPrefix, i, name), Data: floatBytes(w)})
		}
	}
	data, err := json.Marshal(about)
	if err != nil {
		return pipeline.Table{}, err
	}
	return artifact.Pack(h, kind, Format, append(files, pipeline.File{Name: describedBy, Data: data}))
}

// Readable is a problem where the model of an encoded table could not be read back:
// what a stranger's model is judged by is told before anything is paid.
func Readable(h pipeline.Header, ps *schema.Problems) {
	err := artifact.CheckDomain(h.Domain)
	if err == nil && len(*ps) == 0 {
		_, err = prep.DecodedHeader(h)
	}
	if err != nil {
		ps.Add("from", "a table of which a model cannot be released: "+err.Error(), "a table whose model can be read back")
	}
}

// encoded is the header of the rows that the nets put out.
func (m *model) encoded() pipeline.Header {
	return pipeline.TableHeader(m.Domain, pipeline.Header{Stability: pipeline.Unbounded()})
}

// Header is that of rows decoded from what the nets put out.
func (m *model) Header() pipeline.Header {
	h, err := prep.DecodedHeader(m.encoded())
	if err != nil {
		return m.encoded() // Draw says why
	}
	return h
}

// Draw draws latents and, from the probabilities that come out, categories.
func (m *model) Draw(d artifact.Drawing) (artifact.Rows, error) {
	encoded := m.encoded()
	if _, err := prep.DecodedHeader(encoded); err != nil {
		return nil, err
	}
	draw, err := m.drawing(d.Random)
	if err != nil {
		return nil, err
	}
	categories := d.Random("categories")
	return func(rows int) (arrow.Record, error) {
		return prep.DecodeRows(encoded, draw(rows), prep.Draw{Argmax: d.Argmax}, categories)
	}, nil
}

// drawing makes encoded rows: of one part all of them, of several each row of a part
// that is drawn for it.
func (m *model) drawing(random func(purpose string) *rand.Rand) (func(rows int) []float32, error) {
	latent, drawn := random("latent"), m.drawn()
	nets := make([]func(rows int) []float32, len(drawn))
	for i, p := range drawn {
		n, weights, err := p.net()
		if err != nil {
			return nil, err
		}
		prior := p.Prior.draw()
		nets[i] = func(rows int) []float32 { return train.Generate(n, weights, rows, prior, latent) }
	}
	if len(nets) == 1 {
		return nets[0], nil
	}
	shares := m.shares()
	parts := random("parts")
	return func(rows int) []float32 { return mixed(nets, rows, func() int { return pick(shares, parts) }) }, nil
}

// mixed makes each row by the net that next names.
func mixed(nets []func(rows int) []float32, rows int, next func() int) []float32 {
	of, count := make([]int, rows), make([]int, len(nets))
	for r := range of {
		of[r] = next()
		count[of[r]]++
	}
	made := make([][]float32, len(nets))
	for i, n := range count {
		made[i] = nets[i](n)
	}
	var out []float32
	for _, i := range of {
		width := len(made[i]) / count[i]
		out, made[i], count[i] = append(out, made[i][:width]...), made[i][width:], count[i]-1
	}
	return out
}

func (m *model) shares() []float64 {
	shares := make([]float64, len(m.Parts))
	for i, p := range m.Parts {
		shares[i] = p.Share
	}
	return shares
}

func (p described) net() (*net.Net, []float32, error) {
	n, err := net.New(p.Net)
	if err != nil {
		return nil, nil, err
	}
	weights, err := n.Import(p.weights)
	return n, weights, err
}
