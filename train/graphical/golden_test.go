package graphical

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"weir/internal/stattest"
)

// goldenCase is a case of graphical.json of a kind that concerns inference or
// estimation. Events and projections are tested where they are computed.
type goldenCase struct {
	ID, Kind  string
	Inputs    json.RawMessage
	Expected  json.RawMessage
	Tolerance struct {
		Rel, Abs     float64
		ObjectiveRel float64 `json:"objective_rel"`
		CountsAbs    float64 `json:"counts_abs"`
	}
}

type goldenInputs struct {
	Domain  []int
	Total   float64
	Factors []struct {
		Vars []int
		Log  []float64 `json:"log_potential"`
	}
	Measurements []struct {
		Vars     []int
		Y        []float64
		Variance goldenVariance
	}
	Forbidden []struct{ Vars, Cells []int }
}

// goldenVariance is one variance for every cell, or one for each; what is not a number, null or
// "inf", is infinite: not measured.
type goldenVariance []float64

func (v *goldenVariance) UnmarshalJSON(data []byte) error {
	var list []any
	if json.Unmarshal(data, &list) != nil {
		list = make([]any, 1)
		if err := json.Unmarshal(data, &list[0]); err != nil {
			return err
		}
	}
	for _, x := range list {
		number, ok := x.(float64)
		if !ok {
			number = math.Inf(1)
		}
		*v = append(*v, number)
	}
	return nil
}

type goldenTable struct {
	Vars   []int
	Counts []float64
}

// TestGolden: every case of inference and estimation of graphical.json.
func TestGolden(t *testing.T) {
	var file struct{ Cases []goldenCase }
	stattest.LoadGolden(t, "graphical.json", &file)
	ran := map[string]int{}
	for _, c := range file.Cases {
		run, ok := map[string]func(*testing.T, goldenCase){"inference": goldenInference,
			"estimation": goldenEstimation}[c.Kind]
		if !ok {
			continue
		}
		ran[c.Kind]++
		t.Run(c.ID, func(t *testing.T) { run(t, c) })
	}
	if ran["inference"] == 0 || ran["estimation"] == 0 {
		t.Errorf("the file has cases %v, must have inference and estimation", ran)
	}
}

func (c goldenCase) decode(t *testing.T, expected any) (in goldenInputs) {
	t.Helper()
	if err := json.Unmarshal(c.Inputs, &in); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(c.Expected, expected); err != nil {
		t.Fatal(err)
	}
	return in
}

// masks returns the forbidden cells, and the sets of all tables of the case.
func (in goldenInputs) masks() (masks []Mask, sets []Set) {
	for _, f := range in.Forbidden {
		m := Mask{Vars: f.Vars, Forbidden: make([]bool, cellsOf(in.Domain, f.Vars))}
		for _, cell := range f.Cells {
			m.Forbidden[cell] = true
		}
		masks = append(masks, sortedMask(in.Domain, m))
	}
	for _, f := range in.Factors {
		sets = append(sets, Set(nil).add(f.Vars...))
	}
	for _, m := range in.Measurements {
		sets = append(sets, Set(nil).add(m.Vars...))
	}
	for _, m := range masks {
		sets = append(sets, m.Vars)
	}
	return masks, sets
}

// sorted brings a table over columns in any order into the order of a Set.
func sorted[T any](dom, vars []int, table []T) []T {
	set, out := Set(nil).add(vars...), make([]T, len(table))
	for i, x := range table {
		row, rest := make([]uint16, len(dom)), i
		for _, c := range slices.Backward(vars) {
			row[c], rest = uint16(rest%dom[c]), rest/dom[c]
		}
		out[place(dom, set, row)] = x
	}
	return out
}

func sortedMask(dom []int, m Mask) Mask {
	return Mask{Vars: Set(nil).add(m.Vars...), Forbidden: sorted(dom, m.Vars, m.Forbidden)}
}

func goldenInference(t *testing.T, c goldenCase) {
	var want struct {
		LogPartition   float64 `json:"log_partition"`
		Marginals      []goldenTable
		LogProbability json.RawMessage `json:"log_probability"`
	}
	in := c.decode(t, &want)
	masks, sets := in.masks()
	var factors []Factor
	for _, f := range in.Factors {
		factors = append(factors, Factor{Vars: Set(nil).add(f.Vars...), Log: sorted(in.Domain, f.Vars, f.Log)})
	}
	tree, err := NewTree(in.Domain, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromPotentials(Potentials{in.Domain, in.Total, tree.Cliques(), factors, masks}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(m.LogPartition() - want.LogPartition); d > c.Tolerance.Rel*math.Abs(want.LogPartition)+
		c.Tolerance.Abs {
		t.Errorf("log partition is %.17g, must be %.17g", m.LogPartition(), want.LogPartition)
	}
	for _, table := range want.Marginals {
		got, err := m.Marginal(Set(nil).add(table.Vars...))
		if err != nil {
			t.Fatal(err)
		}
		if d := worst(t, got, sorted(in.Domain, table.Vars, table.Counts)); d > c.Tolerance.Abs*in.Total {
			t.Errorf("marginal of %v is off by %g", table.Vars, d)
		}
	}
	goldenRows(t, c, m, want.LogProbability)
}

// goldenRows compares log probabilities of rows; null stands for a forbidden row.
func goldenRows(t *testing.T, c goldenCase, m *Model, data json.RawMessage) {
	type row struct {
		Row   []uint16
		Value *float64
	}
	var rows []row
	if json.Unmarshal(data, &rows) != nil {
		rows = make([]row, 1)
		if err := json.Unmarshal(data, &rows[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range rows {
		want := math.Inf(-1)
		if r.Value != nil {
			want = *r.Value
		}
		got := m.LogProb(r.Row)
		if d := math.Abs(got - want); got != want && !(d <= c.Tolerance.Rel*math.Abs(want)+c.Tolerance.Abs) {
			t.Errorf("log probability of %v is %.17g, must be %.17g", r.Row, got, want)
		}
	}
}

func goldenEstimation(t *testing.T, c goldenCase) {
	var want struct {
		Objective float64
		Fitted    []goldenTable
	}
	in := c.decode(t, &want)
	masks, sets := in.masks()
	var tables []Table
	for _, x := range in.Measurements {
		variance := make([]float64, len(x.Y))
		for i := range variance {
			variance[i] = append(x.Variance, math.Inf(1))[i%max(len(x.Variance), 1)]
		}
		tables = append(tables, Table{Vars: Set(nil).add(x.Vars...), Y: sorted(in.Domain, x.Vars, x.Y),
			Var: sorted(in.Domain, x.Vars, variance)})
	}
	tree, err := NewTree(in.Domain, sets, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	m, r, err := Fit(context.Background(), tree, in.Total, tables, masks, Options{Stop: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v, must be %g", r, want.Objective)
	objective := 0.0
	for i, x := range tables {
		got, err := m.Marginal(x.Vars)
		if err != nil {
			t.Fatal(err)
		}
		for k, y := range x.Y {
			objective += (got[k] - y) * (got[k] - y) / (2 * tables[i].Var[k])
		}
	}
	if low, high := want.Objective*(1-c.Tolerance.ObjectiveRel)-1e-6, want.Objective*(1+1e-3)+1e-3; !(objective >= low &&
		objective <= high) {
		t.Errorf("the objective is %.9g, must be from %.9g to %.9g", objective, low, high)
	}
	for i, table := range want.Fitted {
		if math.IsInf(tables[i].Var[0], 1) {
			continue
		}
		got, err := m.Marginal(Set(nil).add(table.Vars...))
		if err != nil {
			t.Fatal(err)
		}
		if d := worst(t, got, sorted(in.Domain, table.Vars, table.Counts)); d > c.Tolerance.CountsAbs {
			t.Errorf("fitted table of %v is off by %g", table.Vars, d)
		}
	}
}
