package anomaly

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/schema"
	"weir/stages/internal/columns"
	"weir/stages/model/artifact"
	"weir/train/net"
)

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

// leaf is the number of the leaf that a row falls into.
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
		return fmt.Errorf("are %d trees of depth %d, must be 1 to %d of depth 1 to %d", len(f.Trees), f.Depth, mostTrees, mostDepth)
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
		index := upTo(at, min(at+chunk, table.Rows))
		rows.Gather(x, index)
		do(x.Slice(0, len(index)))
	}
	return nil
}
