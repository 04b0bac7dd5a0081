package graphical

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
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
	if !reflect.DeepEqual(m.Sample(1000, false, rand.New(rand.NewPCG(1, 2))), again.Sample(1000, false,
		rand.New(rand.NewPCG(1, 2)))) {
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
		"not a junction tree":   func(p *Potentials) { p.Cliques = []Set{{0}} },
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
		"masks: together forbid":  func(p *Potentials) { p.Masks = []Mask{{Set{0}, []bool{true, true}}} },
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
		{Domain: []int{2, 3, 2}, Total: 5, Cliques: []Set{{0, 1}, {1, 2}},
			Masks: []Mask{{Set{1}, []bool{true, false, false}}}},
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

// TestContradictoryMasks: masks that leave no row are an error, whether one does or
// two do together.
func TestContradictoryMasks(t *testing.T) {
	dom := []int{2, 2, 2}
	tree, err := NewTree(dom, []Set{{0, 1}, {1, 2}}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	one := Mask{Vars: Set{0, 1}, Forbidden: []bool{true, false, true, false}}
	two := Mask{Vars: Set{1, 2}, Forbidden: []bool{false, false, true, true}}
	for _, masks := range [][]Mask{{one, two}, {{Vars: Set{0}, Forbidden: []bool{true, true}}}} {
		if _, _, err := Fit(context.Background(), tree, 10, nil, masks, Options{}); err == nil ||
			!strings.Contains(err.Error(), "masks") {
			t.Errorf("the error is %v, must name the masks", err)
		}
	}
	if _, _, err := Fit(context.Background(), tree, 10, nil, []Mask{one}, Options{}); err != nil {
		t.Error(err)
	}
}

// TestExactTables: tables of variance 0 are met, beside noisy ones that say otherwise,
// under both stops; exact tables that contradict each other are an error.
func TestExactTables(t *testing.T) {
	dom := []int{2, 3, 2}
	tree, err := NewTree(dom, []Set{{0, 1}, {1, 2}}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	exact := Table{Vars: Set{1}, Y: []float64{70, 0, 30}, Var: make([]float64, 3)}
	noisy := Table{Vars: Set{0, 1}, Y: []float64{10, 20, 30, 10, 20, 10}, Var: []float64{4, 4, 4, 4, 4, math.Inf(1)}}
	for _, stop := range []float64{0, -1} {
		m, r, err := Fit(context.Background(), tree, 100, []Table{exact, noisy}, nil, Options{Stop: stop})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Marginal(Set{1})
		if d := worst(t, got, exact.Y); err != nil || d > 1e-6 {
			t.Errorf("stop %g: the exact table is %v (%+v), must be %v", stop, got, r, exact.Y)
		}
		if p := m.LogProb([]uint16{0, 1, 0}); !math.IsInf(p, -1) {
			t.Errorf("a row of an empty cell has log probability %g", p)
		}
	}
	other := Table{Vars: Set{1, 2}, Y: []float64{50, 10, 0, 0, 20, 20}, Var: make([]float64, 6)}
	if _, _, err := Fit(context.Background(), tree, 100, []Table{exact, other}, nil, Options{}); err == nil {
		t.Error("contradictory exact tables are taken")
	}
}

// allocated returns every byte that work takes of the heap, given back or not: no less than
// the most that it holds at a time.
func allocated(work func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemoryOfAFit: a fit takes two and a half times the tables of the cliques, 8 bytes a
// cell (before and after, and what passes between them), and 100 bytes a measured cell
// (docs/marginals.md section 3), however many sweeps it makes.
func TestMemoryOfAFit(t *testing.T) {
	tree, tables := adult(t, 1_000_000)
	cells := 0
	for _, x := range tables {
		cells += len(x.Y)
	}
	most := 5*bytesPerCell*tree.Cells()/2 + 100*int64(cells)
	for _, sweeps := range []int{1, 40} {
		got := allocated(func() {
			if _, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: sweeps, Stop: 1e-9,
				Workers: 1}); err != nil {
				t.Fatal(err)
			}
		})
		if got > most {
			t.Errorf("%d sweeps over %d cells, %d of them measured, took %d bytes, must take at most %d", sweeps, tree.Cells(),
				cells, got, most)
		}
	}
}

// TestMemoryOfRows: rows take 2 bytes a value and 9 a row, and 12 bytes a cell of the
// largest clique for its places.
func TestMemoryOfRows(t *testing.T) {
	const rows = 1 << 20
	tree, tables := adult(t, 1_000_000)
	m, _, err := Fit(context.Background(), tree, 32561, tables, nil, Options{Sweeps: 1})
	if err != nil {
		t.Fatal(err)
	}
	largest := 0
	for _, n := range tree.nodes {
		largest = max(largest, n.cells)
	}
	most := int64(rows*(2*len(tree.dom)+9)) + int64(len(tree.nodes)*12*largest)
	if got := allocated(func() { m.Sample(rows, false, rand.New(rand.NewPCG(1, 2))) }); got > most {
		t.Errorf("%d rows of %d columns took %d bytes, must take at most %d", rows, len(tree.dom), got, most)
	}
}

const bytesPerCell = 8
