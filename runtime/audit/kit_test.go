package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/privacy"
	"weir/privacy/noise"
	"weir/runtime"
)

// sums is a paid kind that releases the noisy sums of numeric columns, each row scaled to the bounds and clipped to
// norm 1, and a table of three rows of nobody. Its fault says what else it does.
type sums struct {
	NoiseMultiplier float64 `yaml:"noise_multiplier" json:"noise_multiplier" doc:"Noise of each sum."`
	Fault           string  `yaml:"fault" json:"fault" doc:"What it does besides."`
}

func sumsKind() pipeline.Kind {
	return pipeline.Kind{Name: "sums", Version: 1, Doc: "Releases noisy sums. Use it to try the audit.",
		In: []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}},
		Out: []pipeline.Port{{Name: "sums", Form: pipeline.FormFiles, Doc: "The sums."},
			{Name: "rows", Form: pipeline.FormTable, Doc: "Rows of nobody."}},
		New: func() pipeline.Stage { return &sums{} }}
}

// vector is the Gaussian mechanism on dim numbers: one row moves them by at most 1, and by less than 2^-15 more once
// they are rounded to a lattice; a row put for another moves them by twice that.
type vector struct {
	Multiplier float64
	Dim, Times int
}

func (v vector) Check() error { return nil }

func (v vector) Event(privacy.Adjacency) privacy.Event {
	return privacy.Repeated{Count: v.Uses(), Event: privacy.Gaussian{NoiseMultiplier: v.Multiplier}}
}

func (v vector) Sensitivity(a privacy.Adjacency) privacy.Sensitivity {
	bound := 1 + 0x1p-15
	if a == privacy.ReplaceOne {
		bound *= 2
	}
	return privacy.Sensitivity{Norm: privacy.L2, Bound: bound}
}

func (v vector) Uses() int64        { return int64(v.Times) }
func (v vector) Deviation() float64 { return v.Multiplier }

const lattice = 0x1p-20

// Plan implements pipeline.Stage.
func (s *sums) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	out := pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Released, Terms: h.Terms}
	table := pipeline.TableHeader(h.Domain, pipeline.Header{Class: pipeline.Released, Terms: h.Terms})
	v := vector{Dim: len(h.Domain.Columns), Times: 1}
	if strings.Contains(s.Fault, "noise") || s.Fault == "none" {
		v.Times = 2
	}
	return pipeline.Work{Out: pipeline.Headers{"sums": out, "rows": table}, Secret: true,
		Pricing: pipeline.Pricing{Scale: s.NoiseMultiplier},
		Spends: []pipeline.Spend{{Name: "sums", Doc: "sums", Mechanism: func(scale float64) privacy.Mechanism {
			return vector{scale, v.Dim, v.Times}
		}}},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			rows, err := s.rows(ctx, in["in"])
			if err != nil {
				return nil, err
			}
			env.Secret("coin").Uint64()
			found, err := s.release(env, rows)
			if err != nil {
				return nil, err
			}
			data, err := json.Marshal(found)
			return pipeline.Tables{"sums": pipeline.WriteFiles(out, []pipeline.File{{Name: "sums.json", Data: data}}),
				"rows": s.nobody(table, len(rows))}, err
		}}, nil
}

// rows returns the rows as numbers, scaled and clipped.
func (s *sums) rows(ctx context.Context, t pipeline.Table) (rows [][]float64, err error) {
	clip := 1.0
	if s.Fault == "a wide clip" {
		clip = 1.01
	}
	all, err := t.Collect(ctx)
	if err != nil {
		return nil, err
	}
	for i := range int(all.NumRows()) {
		row, norm := make([]float64, all.NumCols()), 0.0
		for j := range row {
			row[j] = all.Column(j).(*array.Float64).Value(i) / t.Domain.Columns[j].Bounds[1]
			norm += float64(row[j] * row[j])
		}
		for j := range row {
			row[j] *= math.Min(1, clip/math.Max(math.Sqrt(norm), 1e-9))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *sums) release(env *pipeline.Env, rows [][]float64) (any, error) {
	paid, err := env.Privacy.Open("sums")
	if err != nil {
		return nil, err
	}
	v := paid.Mechanism().(vector)
	total, first := make([]float64, v.Dim), make([]float64, v.Dim)
	for _, row := range rows {
		for j, x := range row {
			total[j] += x
		}
	}
	noise.RoundToLattice(total, lattice)
	var all []any
	for i := range v.Times {
		use, err := paid.Next()
		if err != nil {
			return nil, err
		}
		noisy := make([]float64, v.Dim)
		if stream := use.Stream("sum", 0); v.Multiplier > 0 {
			stream.LatticeGaussian64(noisy, v.Multiplier, lattice)
		}
		if s.Fault == "one stream twice" {
			use.Stream("sum", 0)
		}
		if i == 0 {
			copy(first, noisy)
		}
		out, in := slices.Clone(total), slices.Clone(total)
		for j := range out {
			switch {
			case s.Fault == "noise doubled" && i == 1:
				out[j] += 2 * first[j]
			case s.Fault == "noise negated" && i == 1:
				out[j] -= first[j]
			case s.Fault == "none" && i == 1:
				out[j] += noisy[j]
			default:
				out[j] += first[j]
			}
		}
		if s.Fault == "a look inside what comes out" {
			out[0] += 1000 * rows[len(rows)-1][0]
		}
		if s.Fault == "no noise" {
			copy(out, total)
		}
		all = append(all, privacy.Release(use, in, out))
		total = make([]float64, v.Dim) // the second use sums nothing
	}
	if s.Fault == "an unpaid look" {
		all = append(all, rows[len(rows)-1][0])
	}
	if s.Fault == "a panic" {
		panic("of a test")
	}
	if s.Fault == "a count in an error" && len(rows) < 60 {
		return nil, fmt.Errorf("%d rows are too few", len(rows))
	}
	return all, nil
}

// nobody returns rows without a value of anyone, as many as it should or as there are of somebody.
func (s *sums) nobody(h pipeline.Header, rows int) pipeline.Table {
	n := 3
	if s.Fault == "a private row count" {
		n = rows
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, h.Schema)
	for range n {
		for j := range h.Schema.Fields() {
			b.Field(j).(*array.Float64Builder).Append(0)
		}
	}
	return pipeline.FromRecords(h, b.NewRecord())
}

// same is a kind whose output is its input.
type same struct{}

func sameKind() pipeline.Kind {
	return pipeline.Kind{Name: "same", Version: 1, Doc: "Gives what it reads. Use it to try the audit.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}},
		Out: []pipeline.Port{{Name: "out", Form: pipeline.FormTable, Doc: "The table."}},
		New: func() pipeline.Stage { return &same{} }}
}

// Plan implements pipeline.Stage.
func (*same) Plan(in pipeline.Headers) (pipeline.Work, error) {
	return pipeline.Work{Out: pipeline.Headers{"out": in["in"]},
		Run: func(_ context.Context, _ *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			return pipeline.Tables{"out": in["in"]}, nil
		}}, nil
}

// look is a kind that counts rows for the owner alone.
type look struct{}

func lookKind() pipeline.Kind {
	return pipeline.Kind{Name: "look", Version: 1, Doc: "Counts rows. Use it to try the audit.",
		In:  []pipeline.Port{{Name: "in", Form: pipeline.FormTable, Doc: "A table."}},
		Out: []pipeline.Port{{Name: "page", Form: pipeline.FormFiles, Doc: "The number of rows."}},
		New: func() pipeline.Stage { return &look{} }}
}

// Plan implements pipeline.Stage.
func (*look) Plan(in pipeline.Headers) (pipeline.Work, error) {
	out := pipeline.Header{Form: pipeline.FormFiles, Class: pipeline.Private, Terms: in["in"].Terms}
	return pipeline.Work{Out: pipeline.Headers{"page": out},
		Run: func(ctx context.Context, env *pipeline.Env, in pipeline.Tables) (pipeline.Tables, error) {
			all, err := in["in"].Collect(ctx)
			if err != nil {
				return nil, err
			}
			page := pipeline.File{Name: env.Stage + ".txt", Data: fmt.Append(nil, all.NumRows())}
			return pipeline.Tables{"page": pipeline.WriteFiles(out, []pipeline.File{page})}, nil
		}}, nil
}

// sumsSpec is the spec of a test, on 60 rows of three numbers.
const sumsSpec = `weir: 1
name: sums
dataset:
  file: people.csv
  privacy_unit: row
  domain:
    columns:
      - {name: a, type: numeric, bounds: [-10, 10]}
      - {name: b, type: numeric, bounds: [-10, 10]}
      - {name: c, type: numeric, bounds: [-10, 10]}
privacy: {epsilon: 4, delta: 1e-5, adjacency: add_remove, acknowledge: {W25: each person has one row here}}
stages:
  sums: {kind: sums, noise_multiplier: 5, fault: none}
`

// subjectOf opens the spec of a test with edits, old and new in turn.
func subjectOf(t *testing.T, edits ...string) *Subject {
	t.Helper()
	plan, dir := planOf(t, edits...)
	opts := runtime.Local(t.TempDir())
	opts.Dir = dir
	s, err := Open(plan, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func planOf(t *testing.T, edits ...string) (*compile.Plan, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte(people()), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "spec.yaml")
	if err := os.WriteFile(path, []byte(strings.NewReplacer(edits...).Replace(sumsSpec)), 0o600); err != nil {
		t.Fatal(err)
	}
	reg, err := runtime.Registry([]pipeline.Kind{sumsKind(), sameKind(), lookKind()})
	if err != nil {
		t.Fatal(err)
	}
	read, err := runtime.LoadSpec(path, nil, false, reg)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile.Compile(read)
	if err != nil {
		t.Fatal(err)
	}
	return plan, dir
}

// people returns a table whose last row lies at an end of its domain.
func people() string {
	r, b := rand.New(rand.NewPCG(1, 2)), &strings.Builder{}
	b.WriteString("a,b,c\n")
	for range 59 {
		fmt.Fprintf(b, "%.3f,%.3f,%.3f\n", r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
	}
	b.WriteString("10,10,10\n")
	return b.String()
}

// row returns a row of the test's table.
func row(t *testing.T, s *Subject, values ...float64) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.plan.Spec.Header().Schema)
	for j, x := range values {
		b.Field(j).(*array.Float64Builder).Append(x)
	}
	return b.NewRecord()
}

// sum returns the first of the released sums, under one seed.
func sum(t *testing.T, s *Subject, c Change) float64 {
	t.Helper()
	var all [][]float64
	if err := json.Unmarshal(rehearsed(t, s, c, Seed{1}), &all); err != nil {
		t.Fatal(err)
	}
	return all[0][0]
}

// counts returns a row whose first column is of another type than the test's table has.
func counts(t *testing.T) arrow.Record {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "a",
		Type: arrow.PrimitiveTypes.Int64}}, nil))
	b.Field(0).(*array.Int64Builder).Append(1)
	return b.NewRecord()
}
