package anomaly

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/stages/model/artifact"
)

// ranked is a row that may be among the highest.
type ranked struct {
	at       int64 // place in the table
	score    float64
	contents []byte
}

// byRank puts the highest first: by score, then by contents, so that only equal rows
// tie. Which of these goes is by place, and all the same: they are equal.
func byRank(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(b.contents, a.contents), cmp.Compare(a.at, b.at))
}

// highest are the places of the n rows that rank highest, all of a table that has fewer.
func highest(ctx context.Context, t pipeline.Table, d artifact.Scorer, n int) (map[int64]bool, error) {
	var top []ranked // the n highest so far, in order
	at := int64(0)
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		scores, err := scoresOf(ctx, t.Header, rec, d)
		if err != nil {
			return nil, err
		}
		full := len(top) == n
		for i, score := range scores {
			if full && score < top[n-1].score {
				continue
			}
			of, err := contents(rec, i)
			if err != nil {
				return nil, err
			}
			top = append(top, ranked{at + int64(i), score, of})
		}
		slices.SortFunc(top, byRank)
		top = top[:min(n, len(top))]
		at += rec.NumRows()
	}
	places := map[int64]bool{}
	for _, r := range top {
		places[r.at] = true
	}
	return places, nil
}

// contents are the values of a row as bytes, equal where the rows are: a byte that tells
// whether there is a value, and the value, a text with its length.
func contents(r arrow.Record, row int) ([]byte, error) {
	var b []byte
	for i := range int(r.NumCols()) {
		if r.Column(i).IsNull(row) {
			b = append(b, 0)
			continue
		}
		b = append(b, 1)
		switch a := r.Column(i).(type) {
		case *array.Float64:
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(a.Value(row)))
		case *array.Float32:
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(a.Value(row)))
		case *array.Int64:
			b = binary.BigEndian.AppendUint64(b, uint64(a.Value(row)))
		case *array.Int32:
			b = binary.BigEndian.AppendUint32(b, uint32(a.Value(row)))
		case *array.String:
			b = binary.BigEndian.AppendUint64(b, uint64(len(a.Value(row))))
			b = append(b, a.Value(row)...)
		default:
			return nil, fmt.Errorf("column %s: has the Arrow type %s, must be a number or text", r.ColumnName(i), a.DataType())
		}
	}
	return b, nil
}
