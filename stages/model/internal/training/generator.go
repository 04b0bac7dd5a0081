package training

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/internal/bitmath"
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
	// Format is the number of the format that Release packs.
	Format = 3

	describedBy  = "model.json"
	weightPrefix = "weights/"
)

// Release packs trained nets as an artifact of header h.
func Release(h pipeline.Header, kind string, parts ...Part) (pipeline.Table, error) {
	return release(h, kind, nil, parts)
}

func release(h pipeline.Header, kind string, steps []int, parts []Part) (pipeline.Table, error) {
	description := model{Domain: h.Domain, Steps: steps}
	var files []pipeline.File
	for i, p := range parts {
		description.Parts = append(description.Parts, described{Share: p.Share, Net: p.Net.Spec(), Prior: p.Prior})
		for name, w := range p.Net.Export(p.Weights) {
			files = append(files, pipeline.File{Name: fmt.Sprintf("%s%d/%s", weightPrefix, i, name), Data: floatBytes(w)})
		}
	}
	data, err := json.Marshal(description)
	if err != nil {
		return pipeline.Table{}, err
	}
	return artifact.Pack(h, kind, Format, append(files, pipeline.File{Name: describedBy, Data: data}))
}

// Readable adds a problem where the model of an encoded table could not be read back:
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

// encoded returns the header of the rows that the nets put out.
func (m *model) encoded() pipeline.Header {
	return pipeline.TableHeader(m.Domain, pipeline.Header{Stability: pipeline.Unbounded()})
}

// Header returns the header of rows decoded from what the nets put out.
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
	latent, drawn := random("latent"), m.drawnParts()
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
	owner, count := make([]int, rows), make([]int, len(nets))
	for r := range owner {
		owner[r] = next()
		count[owner[r]]++
	}
	built := make([][]float32, len(nets))
	for i, n := range count {
		built[i] = nets[i](n)
	}
	var out []float32
	for _, i := range owner {
		width := len(built[i]) / count[i]
		out, built[i], count[i] = append(out, built[i][:width]...), built[i][width:], count[i]-1
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

// Readers read what Release packs.
func Readers() []pipeline.Reader {
	return []pipeline.Reader{artifact.Decoder{Format: Format, Decode: func(files map[string][]byte) (artifact.Model,
		error) {
		return read(files, describe, numbered)
	}}}
}

// Former reads format 2: one net, standard normal latents.
func Former() pipeline.Reader {
	return artifact.Decoder{Format: 2, Decode: func(files map[string][]byte) (artifact.Model, error) {
		return read(files, describeOne, func(name string, _ int) (int, string) { return 0, name })
	}}
}

func describe(data []byte) (*model, error) {
	m := &model{}
	return m, json.Unmarshal(data, m)
}

func describeOne(data []byte) (*model, error) {
	var description struct {
		Net    net.Spec       `json:"net"`
		Domain *domain.Domain `json:"domain"`
	}
	err := json.Unmarshal(data, &description)
	return &model{Domain: description.Domain, Parts: []described{{Share: 1, Net: description.Net}}}, err
}

// numbered returns the part of n and the tensor that a name such as 0/2.dense.bias
// means; -1 for no part.
func numbered(name string, n int) (part int, tensor string) {
	number, tensor, _ := strings.Cut(name, "/")
	part, err := strconv.Atoi(number)
	if err != nil || part < 0 || part >= n || strconv.Itoa(part) != number {
		return -1, ""
	}
	return part, tensor
}

// read judges what was packed before it is used: it may come from anyone.
func read(files map[string][]byte, describe func([]byte) (*model, error), tensor func(name string, parts int) (int,
	string)) (artifact.Model, error) {
	m, err := describe(files[describedBy])
	if len(files[describedBy]) == 0 || m.Domain == nil {
		return nil, fmt.Errorf("model: has no %s with a domain", describedBy)
	}
	if err != nil {
		return nil, fmt.Errorf("model: %s: %w", describedBy, err)
	}
	for i := range m.Parts {
		m.Parts[i].weights = map[string][]float32{}
	}
	for name, data := range files {
		weight, isWeight := strings.CutPrefix(name, weightPrefix)
		part, owner := tensor(weight, len(m.Parts))
		switch {
		case isWeight && part >= 0 && len(data)%4 == 0:
			m.Parts[part].weights[owner] = bytesFloats(data)
		case name != describedBy:
			return nil, fmt.Errorf("model: holds %.60q, must hold %s and the weights of its nets, of 4 bytes each", name,
				describedBy)
		}
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("model: %s: %w", describedBy, err)
	}
	return m, nil
}

// MostParts is far beyond the labels that somebody learns apart.
const MostParts = 1 << 10

func (m *model) check() error {
	if err := artifact.CheckDomain(m.Domain); err != nil {
		return err
	}
	if len(m.Parts) == 0 || len(m.Parts) > MostParts {
		return fmt.Errorf("parts: are %d, must be from 1 to %d", len(m.Parts), MostParts)
	}
	if err := m.checkSteps(); err != nil {
		return err
	}
	if err := checkShares(m.shares()); err != nil {
		return fmt.Errorf("parts: %w", err)
	}
	for i, p := range m.Parts {
		err := p.check(m.Domain)
		if err == nil {
			_, _, err = p.net()
		}
		if err != nil {
			return fmt.Errorf("parts[%d].%w", i, err)
		}
	}
	_, err := prep.DecodedHeader(m.encoded())
	return err
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

// Prior is the law of the latent rows that a net turns into data: a mixture of
// normals, of which a row is drawn in proportion to its shares. None is the standard
// normal. A kind that learns it releases it: its numbers are noised.
type Prior []Normal

// Normal is a multivariate normal of covariance Factor·Factorᵀ.
type Normal struct {
	Share  float64     `json:"share"`
	Mean   []float64   `json:"mean"`
	Factor [][]float64 `json:"factor"` // lower triangular: row i has i+1 numbers
}

// check judges a prior of latent rows of n numbers.
func (p Prior) check(n int) error {
	if len(p) == 0 {
		return nil
	}
	shares := make([]float64, len(p))
	for k, c := range p {
		shares[k] = c.Share
		if len(c.Mean) != n || len(c.Factor) != n {
			return fmt.Errorf("prior[%d]: has %d means and %d rows of its factor, must have %d, the inputs of the net", k,
				len(c.Mean), len(c.Factor), n)
		}
		for i, row := range c.Factor {
			if len(row) != i+1 {
				return fmt.Errorf("prior[%d].factor[%d]: has %d numbers, must have %d", k, i, len(row), i+1)
			}
		}
	}
	if err := checkShares(shares); err != nil {
		return fmt.Errorf("prior: %w", err)
	}
	return nil
}

// checkShares: rows can be drawn in proportion to them.
func checkShares(shares []float64) error {
	sum := 0.0
	for i, s := range shares {
		if !(s >= 0) {
			return fmt.Errorf("[%d].share: is %g, must be at least 0", i, s)
		}
		sum += s
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return errors.New("shares: their sum must be a finite number above 0")
	}
	return nil
}

// pick draws a place in proportion to shares, which checkShares took.
func pick(shares []float64, r *rand.Rand) int {
	sum := 0.0
	for _, s := range shares {
		sum += s
	}
	u, last := float64(r.Float64()*sum), 0
	for i, s := range shares {
		if s == 0 {
			continue
		}
		if last = i; u < s {
			return i
		}
		u -= s
	}
	return last // rounding left a little
}

// draw fills latent rows by the prior.
func (p Prior) draw() train.Latent {
	if len(p) == 0 {
		return train.StandardNormal
	}
	shares := make([]float64, len(p))
	for k, c := range p {
		shares[k] = c.Share
	}
	return func(row []float32, r *rand.Rand) {
		c := p[pick(shares, r)]
		z := make([]float64, len(row))
		for i := range z {
			z[i] = bitmath.Normal(r)
		}
		for i, mean := range c.Mean {
			for j, f := range c.Factor[i] {
				mean += float64(f * z[j])
			}
			row[i] = float32(mean)
		}
	}
}
