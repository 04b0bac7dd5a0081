package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/privacy/noise"
	"weir/schema"
)

// sums is a paid kind that releases noisy sums of the columns, each row clipped to
// norm 1. Its body is right, or wrong in one way.
type sums struct {
	NoiseMultiplier float64 `yaml:"noise_multiplier" json:"noise_multiplier" doc:"Noise of each sum."`

	planned planner
	body    body
	clip    float64
	named   bool // the file has the row count in its name
}

// planner is the mechanism at a scale, for so many columns.
type planner func(dim int, a privacy.Adjacency, scale float64) privacy.Mechanism

// body makes what is released of the clipped rows.
type body func(env *pipeline.Env, rows [][]float64, dim int) (any, error)

// sumsKind returns a kind that is named after its fault.
func sumsKind(name string, clip float64, planned planner, b body) extra {
	k := pipeline.Kind{Name: name, Version: 1, Doc: "Releases noisy sums. Use it to try the soak.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}},
		Out: []pipeline.Port{{Name: "sums", Form: pipeline.FormFiles, Doc: "The sums."}},
		New: func() pipeline.Stage { return &sums{planned: planned, body: b, clip: clip} }}
	return extra{kind: k, pays: true, set: func(g *generator, _ ref) settings {
		return settings{"noise_multiplier": g.logBetween(2, 50)}
	}}
}

func onceFor(dim int, _ privacy.Adjacency, scale float64) privacy.Mechanism {
	return vector{scale, dim, 1}
}

// vector is the Gaussian mechanism on dim numbers that one row moves by at most 1, and by
// little more once they are rounded to a lattice.
type vector struct {
	multiplier float64
	dim        int
	uses       int64
}

// Check accepts noise that the lattice can have.
func (v vector) Check() error {
	if !(v.multiplier >= 0x1p-10 && v.multiplier <= 0x1p18) {
		return fmt.Errorf("multiplier: is %g, must be between 2^-10 and 2^18", v.multiplier)
	}
	return nil
}

func (v vector) Event(privacy.Adjacency) privacy.Event {
	return privacy.Repeated{Count: v.uses, Event: privacy.Gaussian{NoiseMultiplier: v.multiplier}}
}

func (v vector) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	return privacy.Sensitivity{Norm: privacy.L2, Bound: mechanism.Moves{AddRemove: 1 + 0x1p-15,
		ReplaceOne: 2 + 0x1p-14}.Under(a)}
}

func (v vector) Uses() int64 { return v.uses }

func (v vector) Deviation() float64 { return v.multiplier }

func release(h *privacy.Handle, sum []float64) ([]float64, error) {
	u, err := h.Next()
	if err != nil {
		return nil, err
	}
	out := slices.Clone(sum)
	noise.RoundToLattice(out, lattice)
	u.Stream("sum", 0).LatticeGaussian64(out, h.Mechanism().(vector).multiplier*1.001, lattice) // for rounding, too
	return privacy.Release(u, sum, out), nil
}

const lattice = 0x1p-20

func (s *sums) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	out := pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Released, Terms: h.Terms}
	if h.Class != pipeline.Private {
		var ps schema.Problems
		ps.Add("from", "no private table", "a private table")
		return pipeline.Work{}, ps
	}
	dim := len(h.Domain.Columns)
	return pipeline.Work{Out: pipeline.Headers{"sums": out}, Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "sums", Doc: "sums", Mechanism: func(scale float64) privacy.Mechanism {
			return s.planned(dim, h.Terms.Adjacency, scale)
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			rows, err := contributions(ctx, in["in"], dim, s.clip)
			if err != nil {
				return nil, err
			}
			numbers, err := s.body(env, rows, dim)
			if err != nil {
				return nil, err
			}
			name := env.Stage + ".json"
			if s.named {
				name = fmt.Sprint(len(rows), name)
			}
			data, err := json.Marshal(numbers)
			return pipeline.Tables{"sums": pipeline.WriteFiles(out, []pipeline.File{{Name: name, Data: data}})}, err
		}}, nil
}

// contributions returns the rows as numbers, each clipped to a norm.
func contributions(ctx context.Context, t pipeline.Table, dim int, clip float64) ([][]float64, error) {
	var rows [][]float64
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		for i := range int(rec.NumRows()) {
			rows = append(rows, clipped(rec, i, dim, clip))
		}
	}
	return rows, nil
}

func clipped(rec arrow.Record, i, dim int, clip float64) []float64 {
	row, norm := make([]float64, dim), 0.0
	for j := range row {
		if a := rec.Column(j); !a.IsNull(i) {
			row[j] = float64(len(a.ValueStr(i)))
		}
		norm += row[j] * row[j]
	}
	if norm = math.Sqrt(norm); norm > clip {
		for j := range row {
			row[j] *= clip / norm
		}
	}
	return row
}

func total(rows [][]float64, dim int) []float64 {
	sum := make([]float64, dim)
	for _, r := range rows {
		for j, x := range r {
			sum[j] += x
		}
	}
	return sum
}

// paidFor returns the right body.
func paidFor(env *pipeline.Env, rows [][]float64, dim int) (any, error) {
	paid, err := env.Privacy.Open("sums")
	if err != nil {
		return nil, err
	}
	return release(paid, total(rows, dim))
}

// inGoroutine does something wrong beside the right body.
func inGoroutine(do func(env *pipeline.Env, n int) error) body {
	return func(env *pipeline.Env, rows [][]float64, dim int) (any, error) {
		if err := do(env, len(rows)); err != nil {
			return nil, err
		}
		return paidFor(env, rows, dim)
	}
}

func unpaidMean(env *pipeline.Env, rows [][]float64, dim int) (any, error) {
	noisy, err := paidFor(env, rows, dim)
	return []any{noisy, total(rows, dim)[0] / float64(max(1, len(rows)))}, err
}

func countInError(_ *pipeline.Env, n int) error {
	if n < 40 {
		return fmt.Errorf("%d rows are too few", n)
	}
	return nil
}

// sameNoise has two uses and puts the noise of the first on the second.
func sameNoise(env *pipeline.Env, rows [][]float64, dim int) (any, error) {
	paid, err := env.Privacy.Open("sums")
	if err != nil {
		return nil, err
	}
	first := make([]float64, dim)
	for i := range 2 {
		u, err := paid.Next()
		if err != nil {
			return nil, err
		}
		drawn := append([]float64(nil), first...)
		if u.Stream("sum", 0).LatticeGaussian64(drawn, 30, lattice); i == 0 {
			copy(first, drawn)
		}
		in, out := total(rows, dim), make([]float64, dim)
		for j := range in {
			in[j] = math.Round(in[j]*0x1p20) / 0x1p20
			out[j] = in[j] + first[j]
		}
		rows = nil
		privacy.Release(u, in, out)
	}
	return first, nil
}

func streamTwice(env *pipeline.Env, rows [][]float64, dim int) (any, error) {
	paid, err := env.Privacy.Open("sums")
	if err != nil {
		return nil, err
	}
	u, err := paid.Next()
	if err != nil {
		return nil, err
	}
	in, out := total(rows, dim), total(rows, dim)
	u.Stream("sum", 0)
	u.Stream("sum", 0).LatticeGaussian64(out, 30, lattice)
	return privacy.Release(u, in, out), nil
}

// usesFollowRows asks a filter for as many rounds as there are rows.
func usesFollowRows(env *pipeline.Env, rows [][]float64, _ int) (any, error) {
	paid, err := env.Privacy.Open("sums")
	if err != nil {
		return nil, err
	}
	var all []any
	for range rows {
		noisy, err := mechanism.ReleaseIntegers(paid, []int64{int64(len(rows))}, mechanism.Moves{AddRemove: 1, ReplaceOne: 2},
			1e6)
		if err != nil {
			return nil, err
		}
		all = append(all, noisy)
	}
	return len(all), nil
}

// forgotten returns the table that a cap sees which counts rows after names of units that are no
// category have become missing.
func forgotten(rows [][]string, unit int) [][]string {
	rows = slices.Clone(rows)
	for i, r := range rows {
		if unit >= 0 && strings.HasPrefix(r[unit], unlisted) {
			rows[i] = slices.Clone(r)
			rows[i][unit] = ""
		}
	}
	return rows
}
