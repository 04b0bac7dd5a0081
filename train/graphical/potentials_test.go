package graphical

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// TestStored: a fitted model that goes through JSON is the same to the bit: its
// tables, its partition function, the rows that it draws.
func TestStored(t *testing.T) {
	tree, tables := adult(t, 50_000)
	mask := Mask{Vars: Set{7, 12}, Forbidden: []bool{false, true, false, false}}
	sets := append(tree.Cliques(), mask.Vars)
	tree, err := NewTree(tree.dom, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := Fit(context.Background(), tree, 32561, tables, []Mask{mask}, Options{Sweeps: 3})
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(m.Potentials())
	if err != nil {
		t.Fatal(err)
	}
	var p Potentials
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	again, err := FromPotentials(p, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if m.LogPartition() != again.LogPartition() || !reflect.DeepEqual(m.beliefs, again.beliefs) {
		t.Error("the model that is read back differs")
	}
	if !reflect.DeepEqual(m.Sample(1000, false, rand.New(rand.NewPCG(1, 2))), again.Sample(1000, false, rand.New(rand.NewPCG(1, 2)))) {
		t.Error("it draws other rows")
	}
}

// TestWarmStart: a fit that starts from the factors of one that was at its stop is
// there at once, and its factors are one of each set.
func TestWarmStart(t *testing.T) {
	tree, tables := adult(t, 50_000)
	m, first, err := Fit(context.Background(), tree, 32561, tables, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	again, second, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Start: m.Potentials().Factors})
	if err != nil || second.Sweeps >= first.Sweeps || second.Sweeps > 2 {
		t.Errorf("the second fit took %+v after %+v, %v", second, first, err)
	}
	if a, b := len(m.Potentials().Factors), len(again.Potentials().Factors); a != b {
		t.Errorf("%d factors become %d", a, b)
	}
}

// TestHostilePotentials: what is no model is an error that says where, before memory
// is taken.
func TestHostilePotentials(t *testing.T) {
	good := Potentials{Domain: []int{2, 3}, Total: 5, Cliques: []Set{{0, 1}}, Factors: []Factor{{Set{0}, []float64{0, 1}}}}
	if _, err := FromPotentials(good, DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Potentials){
		"domain: has 0 columns": func(p *Potentials) { p.Domain = nil },
		"domain[1]: is -3":      func(p *Potentials) { p.Domain = []int{2, -3} },
		"domain[0]: is 65537":   func(p *Potentials) { p.Domain = []int{65537, 3} },
		"total: is NaN":         func(p *Potentials) { p.Total = math.NaN() },
		"cliques: are 0":        func(p *Potentials) { p.Cliques = nil },
		"no junction tree":      func(p *Potentials) { p.Cliques = []Set{{0}} },
		"names column 7":        func(p *Potentials) { p.Cliques = []Set{{0, 7}} },
		"must ascend":           func(p *Potentials) { p.Cliques = []Set{{1, 0}} },
		"cells, must have at most": func(p *Potentials) {
			p.Domain = []int{65536, 65536, 65536, 65536, 65536}
			p.Cliques = []Set{{0, 1, 2, 3, 4}}
		},
		"factors[0]: has 2 cells": func(p *Potentials) { p.Factors = []Factor{{Set{1}, []float64{0, 1}}} },
		"factors[0]: cell 1":      func(p *Potentials) { p.Factors = []Factor{{Set{0}, []float64{0, math.Inf(1)}}} },
		"within a clique":         func(p *Potentials) { p.Cliques = []Set{{0}, {1}}; p.Factors[0].Vars = Set{0, 1} },
		"masks[0]: has 1 cells":   func(p *Potentials) { p.Masks = []Mask{{Set{0}, []bool{true}}} },
		"masks: forbid":           func(p *Potentials) { p.Masks = []Mask{{Set{0}, []bool{true, true}}} },
	} {
		p := good
		p.Factors = []Factor{{Set{0}, []float64{0, 1}}}
		change(&p)
		if _, err := FromPotentials(p, DefaultLimits()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, must say %q", err, want)
		}
	}
}

// FuzzFromPotentials: no stored model makes the reader panic, and one that is taken
// draws rows of its domain.
func FuzzFromPotentials(f *testing.F) {
	for _, p := range []Potentials{
		{Domain: []int{2, 3}, Total: 5, Cliques: []Set{{0, 1}}, Factors: []Factor{{Set{0}, []float64{0, 1}}}},
		{Domain: []int{2, 3, 2}, Total: 5, Cliques: []Set{{0, 1}, {1, 2}}, Masks: []Mask{{Set{1}, []bool{true, false, false}}}},
		{Domain: []int{1}, Total: 1e300, Cliques: []Set{{}, {0}}, Factors: []Factor{{nil, []float64{1e300}}}},
	} {
		data, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var p Potentials
		if json.Unmarshal(data, &p) != nil {
			return
		}
		m, err := FromPotentials(p, Limits{Clique: 1000, Total: 10_000})
		if err != nil {
			return
		}
		for c, column := range m.Sample(3, false, rand.New(rand.NewPCG(1, 1))) {
			if int(column[2]) >= p.Domain[c] {
				t.Errorf("column %d has code %d", c, column[2])
			}
		}
		if _, err := m.Marginal(Set{0}); err != nil {
			t.Error(err)
		}
		m.LogProb(make([]uint16, len(p.Domain)))
	})
}
