package runtime

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/compute"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/privacy"
)

// capUnits keeps max_rows rows of each privacy unit, the first or those that keeping finds, and every row that names
// none.
//
// What holds: add, remove or exchange all rows of one unit in the file, and at most max_rows
// rows of the table that leaves here go, and at most max_rows come. So the source is
// rows(max_rows).
//
// Why: a unit is all rows whose cells in the unit's column are read as one value. What a cell
// is read as follows from the cell and from what the spec declares (type, trim, spellings of
// missing), from no other row, so the units partition the rows of any file, and a unit's rows
// are the same whichever other units there are. Which of them stay depends on what they hold
// and on their order among themselves. A row without a value is a unit of its own: a cell that
// is empty, or spelled as the spec says that nobody is.
//
// This needs that a name is not lost, nor two made one, before rows are counted. A value
// that is not among the categories has its name in pipeline.UnlistedColumn, whatever
// csv.unknown makes of it. Integers are read exactly and text is what the file holds; numeric
// columns round, and no spec may have one name units (pipeline/spec/rules.go).
//
// Memory grows with the number of units. left, where it is not nil, is told at the end of each whole reading how many
// rows did not stay: a private number, for the owner alone.
func capUnits(t pipeline.Table, unit pipeline.Unit, left func(rows int64)) pipeline.Table {
	if unit.Column == "" {
		return t
	}
	if left == nil {
		left = func(int64) {}
	}
	read, begin := t.Open, (&first{unit}).begin
	if unit.Keep == pipeline.KeepByHash {
		begin = (&keeping{read: read, unit: unit}).begin
	}
	t.Open = func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			stays, err := begin(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			var dropped int64
			for rec, err := range read(ctx) {
				if err == nil {
					dropped += rec.NumRows()
					rec, err = capBatch(ctx, rec, unit, stays)
				}
				if err == nil {
					dropped -= rec.NumRows()
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			left(dropped)
		}
	}
	return t
}

// stays says of each row of a reading, in their order, whether it stays.
type stays func(name unitName, named bool) bool

// first keeps the first rows of each unit.
type first struct{ pipeline.Unit }

func (f *first) begin(context.Context) (stays, error) {
	seen := map[unitName]int{}
	return func(name unitName, named bool) bool {
		seen[name]++
		return !named || seen[name] <= f.MaxRows
	}, nil
}

// unitName is the value that names a unit, or the spelling of one that is not a category.
type unitName struct{ value, unlisted string }

// capBatch drops rows beyond the cap, and the column of names that only it reads.
func capBatch(ctx context.Context, rec arrow.Record, unit pipeline.Unit, stay stays) (arrow.Record, error) {
	names, rec, err := unitNames(rec, unit)
	if err != nil {
		return nil, err
	}
	// The kernels take what table.Growing has in hand for a buffer's length.
	ctx = compute.WithAllocator(ctx, memory.NewGoAllocator())
	keep := array.NewBooleanBuilder(compute.GetAllocator(ctx))
	for i := range int(rec.NumRows()) {
		keep.Append(stay(names(i)))
	}
	return compute.FilterRecordBatch(ctx, rec, keep.NewArray(), compute.DefaultFilterOptions())
}

// unitNames returns the names of the units of a record's rows, and the record without the column that only names read.
func unitNames(rec arrow.Record, unit pipeline.Unit) (names func(i int) (name unitName, named bool), rows arrow.Record,
	err error) {
	indexes := rec.Schema().FieldIndices(unit.Column)
	if len(indexes) == 0 {
		return nil, nil, fmt.Errorf("privacy_unit: unknown column %s", unit.Column)
	}
	column := rec.Column(indexes[0])
	rows, unlisted := withoutUnlisted(rec)
	return func(i int) (unitName, bool) { return nameOf(column, unlisted, i) }, rows, nil
}

// nameOf returns the name of row i's unit; named is false where the row is a unit of its own.
func nameOf(column, unlisted arrow.Array, i int) (name unitName, named bool) {
	switch {
	case column.IsValid(i):
		return unitName{value: column.ValueStr(i)}, true
	case unlisted != nil && unlisted.IsValid(i):
		return unitName{unlisted: unlisted.ValueStr(i)}, true
	}
	return unitName{}, false
}

// withoutUnlisted takes the column pipeline.UnlistedColumn off a record; nil where it has none.
func withoutUnlisted(rec arrow.Record) (arrow.Record, arrow.Array) {
	last := int(rec.NumCols()) - 1
	if rec.ColumnName(last) != pipeline.UnlistedColumn {
		return rec, nil
	}
	s := arrow.NewSchema(rec.Schema().Fields()[:last], nil)
	return array.NewRecord(s, rec.Columns()[:last], rec.NumRows()), rec.Column(last)
}

// countRows checks a declared row count at the end of the table. Under
// add_remove the count is private and stopping on it would tell it, so there a
// declared count is taken as a public estimate.
func countRows(t pipeline.Table) func(context.Context) pipeline.Batches {
	if t.Rows == 0 || t.Terms.Adjacency != privacy.ReplaceOne {
		return t.Open
	}
	return func(ctx context.Context) pipeline.Batches {
		return func(yield func(arrow.Record, error) bool) {
			var n int64
			for rec, err := range t.Open(ctx) {
				if err == nil {
					n += rec.NumRows()
				}
				if !yield(rec, err) || err != nil {
					return
				}
			}
			if n != t.Rows {
				yield(nil, pipeline.ErrRowsPublic)
			}
		}
	}
}

// keeping finds which rows of each unit stay under keep: by_hash: the max_rows that come first by hashedRow.compare.
// docs/design/units.md states the rule for every program that computes it, and what it guarantees.
//
// Why capUnits' guarantee holds: compare goes by the values of two rows and, where these are equal, by which comes
// first. So the rows of a unit that stay follow from the values of that unit's rows and from their order among
// themselves, which no row of another unit changes, whether it comes or goes.
//
// It reads the table once, before the first reading of a run, and holds the least max_rows rows of each unit as hash
// and place: memory grows with the rows that stay, and is a bit for each row of the table from then on.
type keeping struct {
	read func(context.Context) pipeline.Batches
	unit pipeline.Unit

	mu   sync.Mutex
	rows *rowSet // that stay; nil before they were read
}

// begin returns what says of each row of one reading whether it stays.
func (k *keeping) begin(ctx context.Context) (stays, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		rows, err := k.find(ctx)
		if err != nil {
			return nil, err
		}
		k.rows = rows
	}
	rows, next := k.rows, 0
	return func(unitName, bool) bool {
		next++
		return rows.has(next - 1)
	}, nil
}

// find reads the table.
func (k *keeping) find(ctx context.Context) (*rowSet, error) {
	f := finder{most: k.unit.MaxRows, rows: &rowSet{}, least: map[unitName]*leastRows{}}
	for rec, err := range k.read(ctx) {
		if err != nil {
			return nil, err
		}
		names, values, err := unitNames(rec, k.unit)
		if err == nil {
			err = f.batch(values, names)
		}
		if err != nil {
			return nil, err
		}
	}
	return f.found(), nil
}

// finder is one reading of a table by keeping.
type finder struct {
	most  int
	next  int // place of the next row in the table
	rows  *rowSet
	least map[unitName]*leastRows
	codes []byte // of a row
}

func (f *finder) batch(rec arrow.Record, names func(i int) (unitName, bool)) error {
	for i := range int(rec.NumRows()) {
		name, named := names(i)
		if !named {
			f.rows.add(f.next)
		} else if err := f.add(name, rec, i); err != nil {
			return err
		}
		f.next++
	}
	return nil
}

// add takes a row of a unit.
func (f *finder) add(name unitName, rec arrow.Record, i int) (err error) {
	if f.codes, err = appendCodes(f.codes[:0], rec, i); err != nil {
		return err
	}
	rows := f.least[name]
	if rows == nil {
		rows = &leastRows{}
		f.least[name] = rows
	}
	rows.add(hashedRow{hash: md5.Sum(f.codes), numbers: beyondCodes(rec, i), place: f.next}, f.most)
	return nil
}

func (f *finder) found() *rowSet {
	for _, of := range f.least {
		for _, row := range *of {
			f.rows.add(row.place)
		}
	}
	return f.rows
}

// appendCodes appends the codes of a row's values, joined by commas.
func appendCodes(b []byte, rec arrow.Record, i int) ([]byte, error) {
	for j, column := range rec.Columns() {
		if j > 0 {
			b = append(b, ',')
		}
		if column.IsNull(i) {
			b = append(b, '-')
			continue
		}
		switch column := column.(type) {
		case *array.Int32:
			b = strconv.AppendInt(b, int64(column.Value(i)), 10)
		case *array.Int64:
			b = strconv.AppendInt(b, column.Value(i), 10)
		case *array.Float64:
			whole, part := pieces(column.Value(i))
			b = strconv.AppendInt(append(strconv.AppendInt(b, whole, 10), ','), part, 10)
		case *array.String:
			b = hex.AppendEncode(b, []byte(column.Value(i)))
		default:
			return nil, fmt.Errorf("column %s: is of Arrow type %s, by which privacy_unit.keep: by_hash cannot go",
				rec.ColumnName(j), column.DataType())
		}
	}
	return b, nil
}

// mostWhole bounds the whole numbers that a number is cut into: float64 holds each of them.
const mostWhole = 1 << 53

// pieces returns the whole part of x, which is no NaN, and what is behind its point, in units of 2^-53, both towards
// zero. x is held to +-2^53 before. Every step is exact: x minus its whole part has no more digits than x.
func pieces(x float64) (whole, part int64) {
	x = min(max(x, -mostWhole), mostWhole)
	w := math.Trunc(x)
	return int64(w), int64((x - w) * mostWhole)
}

// fromPieces returns the number nearest to zero that has these pieces.
func fromPieces(whole, part int64) float64 { return float64(whole) + float64(float64(part)/mostWhole) }

// beyondCodes returns the numbers of a row, missing ones as +Inf, and nil where its codes tell them all.
func beyondCodes(rec arrow.Record, i int) (numbers []float64) {
	exact := true
	for _, column := range rec.Columns() {
		column, ok := column.(*array.Float64)
		if !ok || column.IsNull(i) {
			continue
		}
		x := column.Value(i)
		exact = exact && x == fromPieces(pieces(x))
	}
	if exact {
		return nil
	}
	for _, column := range rec.Columns() {
		if column, ok := column.(*array.Float64); !ok {
			continue
		} else if column.IsNull(i) {
			numbers = append(numbers, math.Inf(1))
		} else {
			numbers = append(numbers, column.Value(i))
		}
	}
	return numbers
}

// hashedRow is a row of a unit.
type hashedRow struct {
	hash    [md5.Size]byte
	numbers []float64 // see beyondCodes
	place   int       // in the table
}

// compare orders rows of one unit by hash, by their numbers and by place. Rows of one hash have one code in each
// column (or MD5 has collided), so numbers that one of them does not hold are what the codes of the other tell.
func (r hashedRow) compare(o hashedRow) int {
	if by := bytes.Compare(r.hash[:], o.hash[:]); by != 0 {
		return by
	}
	for j := range max(len(r.numbers), len(o.numbers)) {
		if by := cmp.Compare(r.number(j, o), o.number(j, r)); by != 0 {
			return by
		}
	}
	return cmp.Compare(r.place, o.place)
}

// number returns number j of a row that has the hash of another one.
func (r hashedRow) number(j int, other hashedRow) float64 {
	if j < len(r.numbers) {
		return r.numbers[j]
	}
	if x := other.numbers[j]; !math.IsInf(x, 1) {
		return fromPieces(pieces(x))
	}
	return math.Inf(1)
}

// leastRows holds the first rows of a unit by compare, the last of them on top (container/heap).
type leastRows []hashedRow

// add takes a row, and lets the last go where there are more than most.
func (l *leastRows) add(row hashedRow, most int) {
	switch {
	case len(*l) < most:
		heap.Push(l, row)
	case row.compare((*l)[0]) < 0:
		(*l)[0] = row
		heap.Fix(l, 0)
	}
}

// Len implements heap.Interface.
func (l leastRows) Len() int { return len(l) }

// Less implements heap.Interface.
func (l leastRows) Less(i, j int) bool { return l[i].compare(l[j]) > 0 }

// Swap implements heap.Interface.
func (l leastRows) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

// Push implements heap.Interface.
func (l *leastRows) Push(row any) { *l = append(*l, row.(hashedRow)) }

// Pop implements heap.Interface. A row is replaced, never taken out.
func (l *leastRows) Pop() any {
	last := len(*l) - 1
	row := (*l)[last]
	*l = (*l)[:last]
	return row
}

// rowSet is a set of places of rows, a bit each.
type rowSet struct{ bits []uint64 }

func (s *rowSet) add(place int) {
	for place/64 >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	s.bits[place/64] |= 1 << (place % 64)
}

func (s *rowSet) has(place int) bool {
	return place/64 < len(s.bits) && s.bits[place/64]>>(place%64)&1 == 1
}
