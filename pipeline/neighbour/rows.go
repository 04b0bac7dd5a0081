package neighbour

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"weir/pipeline"
	"weir/privacy"
)

// Rows is a table for comparison with another one: what tells each row from others, in order, and its shard.
type Rows struct {
	lines  [][16]byte
	shards []string // by row; nil where the table has none
}

// RowsOf returns the rows of records of one schema.
func RowsOf(records ...arrow.Record) *Rows {
	r := &Rows{}
	for _, rec := range records {
		r.add(rec)
	}
	return r
}

// Read reads a table whole, and keeps no cell of it.
func Read(ctx context.Context, t pipeline.Table) (*Rows, error) {
	r := &Rows{}
	for rec, err := range t.Open(ctx) {
		if err != nil {
			return nil, err
		}
		r.add(rec)
	}
	return r, nil
}

func (r *Rows) add(rec arrow.Record) {
	var text []byte
	for i := range int(rec.NumRows()) {
		text = text[:0]
		for _, column := range rec.Columns() {
			text = append(append(text, column.ValueStr(i)...), 0)
		}
		digest := sha256.Sum256(text)
		r.lines = append(r.lines, [16]byte(digest[:]))
	}
	for _, column := range rec.Schema().FieldIndices(pipeline.ShardColumn) {
		for i := range int(rec.NumRows()) {
			r.shards = append(r.shards, rec.Column(column).ValueStr(i))
		}
	}
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.lines) }

// Equal reports whether two tables have equal rows in the same order.
func (r *Rows) Equal(other *Rows) bool { return slices.Equal(r.lines, other.lines) }

// Missing lists the places of rows that another table lacks, each as often as it does.
func (r *Rows) Missing(other *Rows) (places []int) {
	count := map[[16]byte]int{}
	for _, l := range other.lines {
		count[l]++
	}
	for i, l := range r.lines {
		if count[l]--; count[l] < 0 {
			places = append(places, i)
		}
	}
	return places
}

// InPlace reports whether every row that both tables have stands at the same place,
// so that draws for each row in turn fall alike.
func InPlace(before, after *Rows) bool {
	count := 0
	for i := range min(len(before.lines), len(after.lines)) {
		if before.lines[i] == after.lines[i] {
			count++
		}
	}
	return count == len(before.lines)-len(before.Missing(after))
}

// StabilityFault says how the change of a private table, when one unit of the source
// changed, is more than its header says; "" where it is not.
func StabilityFault(h pipeline.Header, adjacency privacy.Adjacency, before, after *Rows) string {
	missing, come := before.Missing(after), after.Missing(before)
	switch h.Stability.Spread {
	case pipeline.SpreadRows:
		return rowsFault(adjacency, h, missing, come)
	case pipeline.SpreadShards:
		return shardsFault(h, before.shardsOf(missing), after.shardsOf(come))
	}
	return ""
}

// rowsFault counts what changed: a replaced row is two under add_remove.
func rowsFault(adjacency privacy.Adjacency, h pipeline.Header, missing, come []int) string {
	changed := max(len(missing), len(come))
	if adjacency == privacy.AddRemove {
		changed = len(missing) + len(come)
	}
	if changed > h.Stability.N {
		return fmt.Sprintf("%d rows change, its stability is %s", changed, h.Stability)
	}
	return ""
}

// shardsOf returns the shards of rows; nil of a table without shards.
func (r *Rows) shardsOf(places []int) (shards []string) {
	if len(r.shards) < len(r.lines) {
		return nil
	}
	shards = []string{}
	for _, place := range places {
		shards = append(shards, r.shards[place])
	}
	return shards
}

// shardsFault: all that changes is in one shard.
func shardsFault(h pipeline.Header, missing, come []string) string {
	if missing == nil || come == nil {
		return "it is in shards and has no column " + pipeline.ShardColumn
	}
	all := append(missing, come...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n > 1 {
		return fmt.Sprintf("%d shards change, its stability is %s: one may", n, h.Stability)
	}
	return ""
}
