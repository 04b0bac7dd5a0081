package generator

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/stages/model/artifact"
	"weir/stages/prep"
	"weir/train/net"
)

// Readers read what Release packs.
func Readers() []pipeline.Reader {
	return []pipeline.Reader{artifact.Decoder{Format: Format, Decode: func(files map[string][]byte) (artifact.Model, error) {
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
	var about struct {
		Net    net.Spec       `json:"net"`
		Domain *domain.Domain `json:"domain"`
	}
	err := json.Unmarshal(data, &about)
	return &model{Domain: about.Domain, Parts: []described{{Share: 1, Net: about.Net}}}, err
}

// numbered is the part of n and the tensor that a name such as 0/2.dense.bias
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
func read(files map[string][]byte, describe func([]byte) (*model, error), tensor func(name string, parts int) (int, string)) (artifact.Model, error) {
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
		part, of := tensor(weight, len(m.Parts))
		switch {
		case isWeight && part >= 0 && len(data)%4 == 0:
			m.Parts[part].weights[of] = bytesFloats(data)
		case name != describedBy:
			return nil, fmt.Errorf("model: holds %.60q, must hold %s and the weights of its nets, of 4 bytes each", name, describedBy)
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
