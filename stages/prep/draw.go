package prep

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	mathbits "math/bits"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
	"weir/schema"
)

// source64 is where a stage takes the key of its draws: public or secret.
type source64 interface{ Uint64() uint64 }

// key is the seed of draws that have to be the same at each opening of a table.
type key [32]byte

func keyFrom(from source64) key {
	var k key
	for i := 0; i < len(k); i += 8 {
		binary.LittleEndian.PutUint64(k[i:], from.Uint64())
	}
	return k
}

// sequence is a fresh run of the draws of k, one for each row in order.
func (k key) sequence() *rand.Rand { return rand.New(rand.NewChaCha8(k)) }

// units draws one number for each privacy unit: SHA-256 of the unit
// under the key, so that rows of a unit agree wherever they stand, and units are
// independent.
// Rows without a unit draw one number together: that is what a function of the
// value can do (see Shard.Plan for whose shard must be its own). Of texts with the mark
// after, only what stands behind the first of it counts.
func (k key) units(a arrow.Array, after string) ([]uint64, error) {
	out := make([]uint64, a.Len())
	var text func(i int) []byte
	switch a := a.(type) {
	case *array.String:
		text = func(i int) []byte {
			whole := a.Value(i)
			if _, rest, marked := strings.Cut(whole, after); marked && after != "" {
				return []byte(rest)
			}
			return []byte(whole)
		}
	case *array.Int64:
		text = func(i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(a.Value(i))) }
	default:
		values, err := floats(a)
		if err != nil {
			return nil, err
		}
		text = func(i int) []byte { return fmt.Append(nil, values[i]) }
	}
	known := present(a)
	for i := range out {
		out[i] = k.unit(known.has(i), text(i))
	}
	return out, nil
}

// unit hashes key || known || text || key: the key on both sides, as in an
// envelope MAC.
func (k key) unit(known bool, text []byte) uint64 {
	h := sha256.New()
	h.Write(k[:])
	if known {
		h.Write([]byte{1})
		h.Write(text)
	} else {
		h.Write([]byte{0})
	}
	h.Write(k[:])
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// below maps 64 uniform bits to 0 .. n-1; its bias, n/2^64, is nothing.
func below(u uint64, n int) int {
	high, _ := mathbits.Mul64(u, uint64(n))
	return int(high)
}

// unitColumn is the place of the privacy unit's column: -1 where each row is a
// unit of its own, and a problem where the column is gone, or holds anything but
// a function of the unit.
func unitColumn(ps *schema.Problems, h pipeline.Header) int {
	name := h.Terms.Unit.Column
	if name == "" || h.Class != pipeline.Private {
		return -1
	}
	at := h.Domain.Index(name)
	switch {
	case at < 0:
		ps.Refuse("W35", "", "given a table without the column "+name+" of the privacy unit",
			"given that column too, so that all rows of a unit go one way (drop it afterwards)")
	case !h.Domain.Columns[at].OfUnit:
		ps.Refuse("W35", "", "given a table whose column "+name+" does not name the privacy unit: a stage before overwrote it, or under replace_one changed its values, or csv.unknown: missing made several units one",
			"before that stage, or given the column as it was (leave it out of that stage's columns; a dropped column cannot be made anew; declared with type: text it takes any value)")
	}
	return at
}

// ofUnit says whether what is computed of the values of column c alone, without
// random numbers, still names the privacy unit. Under add_remove it is enough that
// the rows of a unit agree: a unit that comes or goes changes what is under its own
// value, whoever shares that value. Under replace_one two units that share a value
// cannot have draws of their own, which the exchange of one for the other needs;
// so any change of values ends it.
func ofUnit(c domain.Column, h pipeline.Header) bool {
	return c.OfUnit && h.Terms.Adjacency == privacy.AddRemove
}

// publicPositions reports whether every row keeps its place when another is
// replaced: the adjacency replaces, the row count is public, one row is all that
// changes, and it is the replaced one (another's that came back would shift others).
func publicPositions(h pipeline.Header) bool {
	return h.Terms.Adjacency == replaceOne && h.Rows > 0 && h.Stability == pipeline.Rows(1) && h.OwnRows
}
