package infer

import (
	"context"
	"hash/fnv"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
)

// A sample has at most sampleRows rows and sampleCells cells, but leastSample rows where these have more cells.
const (
	sampleRows  = 20_000
	sampleCells = 2 << 20
	leastSample = 200
)

// sample holds about one in stride rows of a table as numbers: values of numbers, days of dates, codes of categories
// and hashes of text; NaN is missing. Which rows those are a mix of the bits of their places says, so that a table in
// which every second row is alike is not seen by half.
type sample struct {
	columns [][]float64 // [column][row]
	places  []uint64    // mixed, of the rows that are held
	rows    int64       // of the table
	stride  int64       // a power of two
	most    int         // rows
}

// draw reads a table once.
func draw(ctx context.Context, t pipeline.Table) (*sample, error) {
	n := len(t.Domain.Columns)
	s := &sample{columns: make([][]float64, n), stride: 1, most: max(leastSample, min(sampleRows, sampleCells/max(1, n)))}
	for r, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		s.take(r)
	}
	return s, nil
}

// whole reports whether the sample has every row.
func (s *sample) whole() bool { return s.stride == 1 }

func (s *sample) len() int { return len(s.columns[0]) }

func (s *sample) take(r arrow.Record) {
	columns := make([]func(int) float64, len(s.columns))
	for i := range columns {
		columns[i] = reading(r.Column(i))
	}
	for row := range int(r.NumRows()) {
		if place := mixed(uint64(s.rows)); s.holds(place) {
			s.places = append(s.places, place)
			for i, value := range columns {
				s.columns[i] = append(s.columns[i], value(row))
			}
			s.thin()
		}
		s.rows++
	}
}

func (s *sample) holds(place uint64) bool { return place%uint64(s.stride) == 0 }

// mixed spreads the bits of a place over a word (the finalizer of splitmix64: Steele, Lea and Flood 2014, figure 16).
func mixed(place uint64) uint64 {
	place += 0x9e3779b97f4a7c15
	place = (place ^ place>>30) * 0xbf58476d1ce4e5b9
	place = (place ^ place>>27) * 0x94d049bb133111eb
	return place ^ place>>31
}

// thin drops about every second row once there are too many.
func (s *sample) thin() {
	if s.len() <= s.most {
		return
	}
	s.stride *= 2
	for i, column := range s.columns {
		left := column[:0]
		for k, v := range column {
			if s.holds(s.places[k]) {
				left = append(left, v)
			}
		}
		s.columns[i] = left
	}
	s.places = slices.DeleteFunc(s.places, func(place uint64) bool { return !s.holds(place) })
}

// reading returns the values of a column by row.
func reading(a arrow.Array) func(row int) float64 {
	var value func(int) float64
	switch a := a.(type) {
	case *array.Float64:
		value = a.Value
	case *array.Int64:
		value = func(row int) float64 { return float64(a.Value(row)) }
	case *array.Int32:
		value = func(row int) float64 { return float64(a.Value(row)) }
	case *array.String:
		value = func(row int) float64 { return hashed(a.Value(row)) }
	default:
		return func(int) float64 { return math.NaN() }
	}
	return func(row int) float64 {
		if a.IsNull(row) {
			return math.NaN()
		}
		return value(row)
	}
}

// hashed returns 52 bits of a hash of a text.
func hashed(text string) float64 {
	h := fnv.New64a()
	h.Write([]byte(text)) // never fails
	return float64(h.Sum64() >> 12)
}

// present returns the values of a column that are there, ascending.
func (s *sample) present(column int) []float64 {
	list := slices.DeleteFunc(slices.Clone(s.columns[column]), math.IsNaN)
	slices.Sort(list)
	return list
}

// quantile returns the quantile of ascending values: the least one that a share q of them does not pass.
func quantile(sorted []float64, q float64) float64 {
	return sorted[max(0, min(len(sorted)-1, int(math.Ceil(q*float64(len(sorted))))-1))]
}

// distinct counts values that are there, ascending ones.
func distinct(sorted []float64) int { return len(slices.Compact(slices.Clone(sorted))) }
