package anomaly

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/net"
)

const (
	autoencoderFormat = 1

	describedBy  = "detector.json"
	weightPrefix = "weights/"

	chunk = 128 // rows that a net works on at once
)

// autoencoder is a released autoencoder: public facts and noised weights.
type autoencoder struct {
	domain  *domain.Domain
	net     *net.Net
	weights []float32
	lanes   sync.Pool // of *lane: batches of a loop are scored thousands of times, side by side
}

// lane is what one worker scores rows in.
type lane struct {
	pass *net.Pass
	x    net.Matrix
}

func (m *autoencoder) lane() *lane {
	if l, ok := m.lanes.Get().(*lane); ok {
		return l
	}
	return &lane{m.net.NewPass(chunk), net.NewMatrix(chunk, m.net.In())}
}

// packAutoencoder makes the artifact of a detector of header h.
func packAutoencoder(h pipeline.Header, n *net.Net, w []float32) (pipeline.Table, error) {
	about, err := json.Marshal(h.Domain)
	if err != nil {
		return pipeline.Table{}, err
	}
	files := []pipeline.File{{Name: describedBy, Data: about}}
	for name, x := range n.Export(w) {
		data, err := binary.Append(nil, binary.LittleEndian, x)
		if err != nil {
			return pipeline.Table{}, err
		}
		files = append(files, pipeline.File{Name: weightPrefix + name, Data: data})
	}
	return artifact.Pack(h, anomalyDetector, autoencoderFormat, files)
}

// readAutoencoder judges what was packed before it is used: it may come from anyone. The
// net follows from the domain, and its weights are as many as were packed.
func readAutoencoder(files map[string][]byte) (artifact.Scorer, error) {
	m := &autoencoder{domain: &domain.Domain{}}
	if err := json.Unmarshal(files[describedBy], m.domain); err != nil {
		return nil, fmt.Errorf("detector: %s: %w", describedBy, err)
	}
	weights, err := readWeights(files)
	if err == nil {
		err = m.check(weights)
	}
	if err != nil {
		return nil, fmt.Errorf("detector: %w", err)
	}
	return m, nil
}

func readWeights(files map[string][]byte) (map[string][]float32, error) {
	weights := map[string][]float32{}
	for name, data := range files {
		if name == describedBy {
			continue
		}
		tensor, known := strings.CutPrefix(name, weightPrefix)
		x := make([]float32, len(data)/4)
		if _, err := binary.Decode(data, binary.LittleEndian, x); err != nil || !known || len(data)%4 != 0 {
			return nil, fmt.Errorf("holds %.60q, must hold %s and the weights of its net, of 4 bytes each", name, describedBy)
		}
		for _, v := range x {
			if v != v || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("weights %.60q: are not all finite, must be", tensor)
			}
		}
		weights[tensor] = x
	}
	return weights, nil
}

// check builds the net, once there are as many weights as it needs.
func (m *autoencoder) check(weights map[string][]float32) (err error) {
	if err := artifact.CheckDomain(m.domain); err != nil {
		return err
	}
	var ps schema.Problems
	if need(pipeline.Header{Domain: m.domain}, &ps); len(ps) > 0 {
		return fmt.Errorf("domain: %w", ps.Err())
	}
	there := 0
	for _, x := range weights {
		there += len(x)
	}
	in := width(m.domain)
	if most := math.Sqrt(float64(there)); float64(in) > most+1 { // 2 in (in/2) weights and more
		return errors.New("weights: are fewer than a net for the columns has, must be all of them")
	}
	if m.net, err = autoencoderNet(m.domain); err != nil {
		return err
	}
	m.weights, err = m.net.Import(weights)
	return err
}

// Domain implements artifact.Scorer.
func (m *autoencoder) Domain() *domain.Domain { return m.domain }

// Scores implements artifact.Scorer by the mean squared error of a row. That it is the row's own is
// the net's doing: each output of a product is one chain of sums in order of the inputs,
// whatever the other rows are (docs/kernels.md).
func (m *autoencoder) Scores(f *columns.Frame) ([]float64, error) {
	rows, err := code(m.domain, f)
	if err != nil {
		return nil, err
	}
	l := m.lane()
	defer m.lanes.Put(l)
	p, x := l.pass, l.x
	scores := make([]float64, 0, f.Rows)
	for at := 0; at < f.Rows; at += chunk {
		index := upTo(at, min(at+chunk, f.Rows))
		rows.Gather(p.Input(len(index)), index)
		rows.Gather(x, index)
		y := p.Forward(m.weights, net.Mode{})
		for i := range index {
			scores = append(scores, squaredError(x.Row(i), y.Row(i)))
		}
	}
	return scores, nil
}

func upTo(from, to int) []int32 {
	index := make([]int32, 0, to-from)
	for i := from; i < to; i++ {
		index = append(index, int32(i))
	}
	return index
}

// squaredError is the mean over columns. Of weights so large that sums overflow it may be
// no number, which counts as the worst.
func squaredError(x, y []float32) float64 {
	sum := 0.0
	for j, v := range x {
		d := float64(v) - float64(y[j])
		sum += float64(d * d)
	}
	if sum != sum {
		return math.Inf(1)
	}
	return sum / float64(len(x))
}
