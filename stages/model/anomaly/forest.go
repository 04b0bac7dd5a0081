package anomaly

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/privacy/mechanism"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/net"
)

const anomalyForest = "anomaly_forest"

// Forest is an isolation forest whose trees are drawn before the rows are looked at (as the
// half-space trees of Tan, Ting, Liu 2011): a row is unusual where few others share its
// leaves.
//
// Input: a private table of stability rows(c). Splits come from the spec's seed and the
// domain's bounds and categories alone. Mechanism: for each tree a Gaussian histogram of
// its leaves, which are disjoint cells. Sensitivity: one changed row moves each histogram
// by 1 (add_remove) or sqrt(2) (replace_one) in L2. Adjacency: either. Guarantee: as for a
// Gaussian mechanism used once a tree (docs/accounting.md section 8). Scores are computed of
// noisy counts and splits alone.
type Forest struct {
	Trees           int     `yaml:"trees" json:"trees" min:"1" max:"1000" doc:"Trees; each is a histogram to pay for."`
	Depth           int     `yaml:"depth" json:"depth" min:"1" max:"12" doc:"Splits from the root to a leaf: a tree has 2^depth leaves."`
	NoiseMultiplier float64 `yaml:"noise_multiplier,omitempty" json:"noise_multiplier,omitempty" exclusiveMin:"0" doc:"Noise of each count; found from the budget where it is not given."`
}

func anomalyForestKind() pipeline.Kind {
	return pipeline.Kind{
		Name: anomalyForest, Version: 2,
		Doc: "Releases an isolation forest on public splits as a detector of anomalies. Counts the rows in the leaves of " +
			"trees with random public splits, with Gaussian noise, and releases trees " +
			"and counts as a detector: " +
			"the fewer rows share a row's leaves, the higher its score (an isolation forest on public splits). " +
			"Use it before remove_anomalies, where rows that are unusual in several columns at once are looked for; it does " +
			"not see how far outside its bounds a value lies. " +
			"Needs a table of numbers with bounds and of categories, not encoded, of stability rows(c).",
		In:      tableIn(),
		Out:     []pipeline.Port{{Name: "model", Form: pipeline.FormDetector, Doc: "The trees, with noisy counts."}},
		Readers: []pipeline.Reader{artifact.ScorerDecoder{Format: forestFormat, Decode: readForest}},
		New:     func() pipeline.Stage { return &Forest{Trees: 50, Depth: 9} },
	}
}

// Plan prices the histograms.
func (s *Forest) Plan(in pipeline.Headers) (pipeline.Work, error) {
	h := in["in"]
	var ps schema.Problems
	need(h, &ps)
	out := detectorHeader(h)
	w := releases(out, func(ctx context.Context, env *pipeline.Env, t pipeline.Table) (pipeline.Table, error) {
		f, err := s.grow(ctx, env, t)
		if err != nil {
			return pipeline.Table{}, err
		}
		return f.pack(out)
	})
	w.Spends = []pipeline.Spend{
		{Name: "leaves", Doc: fmt.Sprintf("a noisy count of each of %d leaves, of each of %d trees", 1<<s.Depth, s.Trees),
			Mechanism: func(scale float64) privacy.Mechanism {
				return mechanism.GaussianHistogram{NoiseMultiplier: scale, Releases: int64(s.Trees)}
			}}}
	w.Pricing = pipeline.Pricing{Scale: s.NoiseMultiplier}
	return w, ps.Err()
}

// grow draws the trees, counts, and then pays: a table that cannot be read costs nothing.
func (s *Forest) grow(ctx context.Context, env *pipeline.Env, t pipeline.Table) (*forest, error) {
	table, err := columns.Read(ctx, t)
	if err != nil {
		return nil, err
	}
	f := &forest{Columns: detectorHeader(t.Header).Domain.Columns, Depth: s.Depth}
	random := env.Rand("splits")
	for range s.Trees {
		f.Trees = append(f.Trees, tree{Splits: splits(f.Domain(), s.Depth, random), Counts: make([]int64, 1<<s.Depth)})
	}
	if err := f.each(table, f.count); err != nil {
		return nil, err
	}
	paid, err := env.Privacy.Open("leaves")
	if err != nil {
		return nil, err
	}
	for i := range f.Trees {
		if f.Trees[i].Counts, err = mechanism.ReleaseCounts(paid, f.Trees[i].Counts); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *forest) count(x net.Matrix) {
	for i := range x.Rows {
		for _, t := range f.Trees {
			t.Counts[t.leaf(x.Row(i))]++
		}
	}
}

// splits returns the splits of a whole tree, the root first: node i has the children 2i+1 and 2i+2.
// Each takes a column at random, then one of its numbers, and cuts what is left of its range at
// random. A number that is 0 or 1 alone is cut in the middle, and no further where it has been cut.
func splits(d *domain.Domain, depth int, r *rand.Rand) []split {
	list := make([]split, 1<<depth-1)
	for i := range list {
		pos, number := someNumber(d, r)
		list[i] = split{pos, middle}
		if number {
			lo, hi := left(list, i, pos)
			list[i].Below = lo + float32((hi-lo)*float32(r.Float64()))
		}
	}
	return list
}

// left returns the range of the number at pos that the nodes above node i leave to it.
func left(list []split, i, pos int) (lo, hi float32) {
	for hi = 1; i > 0; i = (i - 1) / 2 {
		higher := list[(i-1)/2]
		switch {
		case higher.At != pos:
		case i%2 == 1: // to the left
			hi = min(hi, higher.Below)
		default:
			lo = max(lo, higher.Below)
		}
	}
	return lo, hi
}

// someNumber returns the place of a number of a row, and whether it is one that is not 0 or 1
// alone.
func someNumber(d *domain.Domain, r *rand.Rand) (pos int, number bool) {
	c := r.IntN(len(d.Columns))
	for i := range c {
		pos += widthOf(&d.Columns[i])
	}
	of := r.IntN(widthOf(&d.Columns[c]))
	return pos + of, d.Columns[c].Type != domain.Categorical && of == 0
}

const (
	forestFormat = 1
	forestFile   = "forest.json"

	mostTrees = 1000
	mostDepth = 12
)

// forest is a released forest: public splits and noisy counts.
type forest struct {
	Columns []domain.Column `json:"columns"`
	Depth   int             `json:"depth"`
	Trees   []tree          `json:"trees"`

	bits [][]float64 // of each leaf of each tree, once it is read back
}

type tree struct {
	Splits []split `json:"splits"` // of node i, whose children are 2i+1 and 2i+2
	Counts []int64 `json:"counts"` // of each leaf, from the left
}

// split sends a row to the left where its number at a place is below.
type split struct {
	At    int     `json:"at"`
	Below float32 `json:"below"`
}

// leaf returns the number of the leaf that a row falls into.
func (t *tree) leaf(row []float32) int {
	i := 0
	for i < len(t.Splits) {
		s, step := &t.Splits[i], 2
		if row[s.At] < s.Below {
			step = 1
		}
		i = 2*i + step
	}
	return i - len(t.Splits)
}

func (f *forest) pack(h pipeline.Header) (pipeline.Table, error) {
	data, err := json.Marshal(f)
	if err != nil {
		return pipeline.Table{}, err
	}
	return artifact.Pack(h, anomalyForest, forestFormat, []pipeline.File{{Name: forestFile, Data: data}})
}

// readForest judges what was packed before it is used: it may come from anyone.
func readForest(files map[string][]byte) (artifact.Scorer, error) {
	f := &forest{}
	err := json.Unmarshal(files[forestFile], f)
	if err == nil && len(files) != 1 {
		err = fmt.Errorf("is one of %d parts, must be the only one", len(files))
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, fmt.Errorf("detector: %s: %w", forestFile, err)
	}
	for _, t := range f.Trees {
		f.bits = append(f.bits, t.surprise())
	}
	return f, nil
}

func (f *forest) check() error {
	if err := artifact.CheckDomain(f.Domain()); err != nil {
		return err
	}
	var ps schema.Problems
	if need(pipeline.Header{Domain: f.Domain()}, &ps); len(ps) > 0 {
		return fmt.Errorf("columns: %w", ps.Err())
	}
	if f.Depth < 1 || f.Depth > mostDepth || len(f.Trees) < 1 || len(f.Trees) > mostTrees {
		return fmt.Errorf("are %d trees of depth %d, must be 1 to %d of depth 1 to %d", len(f.Trees), f.Depth, mostTrees,
			mostDepth)
	}
	n := width(f.Domain())
	for _, t := range f.Trees {
		if len(t.Counts) != 1<<f.Depth || len(t.Splits) != len(t.Counts)-1 {
			return errors.New("trees: are not whole, must have a split for each node and a count for each leaf")
		}
		for _, s := range t.Splits {
			if s.At < 0 || s.At >= n {
				return fmt.Errorf("splits: at %d, must be from 0 to %d", s.At, n-1)
			}
		}
	}
	return nil
}

// Domain implements artifact.Scorer.
func (f *forest) Domain() *domain.Domain { return &domain.Domain{Columns: f.Columns} }

// Scores implements artifact.Scorer: the mean over trees of log2 of all rows of a tree over those in
// the row's leaf, one added to each leaf, noise below 0 counting as 0.
func (f *forest) Scores(table *columns.Frame) ([]float64, error) {
	scores := make([]float64, 0, table.Rows)
	err := f.each(table, func(x net.Matrix) {
		sums := make([]float64, x.Rows)
		for k := range f.Trees {
			t, bits := &f.Trees[k], f.bits[k]
			for i := range sums { // a tree at a time stays in the cache
				sums[i] += bits[t.leaf(x.Row(i))]
			}
		}
		for _, sum := range sums {
			scores = append(scores, sum/float64(len(f.Trees)))
		}
	})
	return scores, err
}

func (t tree) surprise() []float64 {
	all, bits := 0.0, make([]float64, len(t.Counts))
	for _, c := range t.Counts {
		all += float64(max(c, 0)) + 1
	}
	for i, c := range t.Counts {
		bits[i] = bitmath.Log(all/(float64(max(c, 0))+1)) / math.Ln2
	}
	return bits
}

// each hands on the numbers of the rows of a frame, some rows at a time.
func (f *forest) each(table *columns.Frame, do func(net.Matrix)) error {
	rows, err := code(f.Domain(), table)
	if err != nil {
		return err
	}
	x := net.NewMatrix(chunk, rows.Width())
	for at := 0; at < table.Rows; at += chunk {
		index := countFrom(at, min(at+chunk, table.Rows))
		rows.Gather(x, index)
		do(x.Slice(0, len(index)))
	}
	return nil
}
