package disclosure

import (
	"encoding/binary"
	"math"

	"weir/stages/internal/columns"
)

// Matches looks rows up by equality in every column; missing equals missing.
type Matches struct {
	names []string
	count map[string]int
}

// NewMatches counts the rows of f.
func NewMatches(f *columns.Frame) *Matches {
	m := &Matches{names: f.Names(), count: make(map[string]int, f.Rows)}
	m.each(f, func(key []byte) { m.count[string(key)]++ })
	return m
}

// each yields a key for each row of an aligned frame.
func (m *Matches) each(f *columns.Frame, yield func(key []byte)) {
	columns := make([]*columns.Column, len(m.names))
	for j, name := range m.names {
		columns[j] = f.Column(name)
	}
	key := make([]byte, 0, 8*len(columns))
	for i := range f.Rows {
		key = key[:0]
		for _, c := range columns {
			if c.Coded() {
				key = binary.LittleEndian.AppendUint32(key, uint32(c.Codes[i]))
				continue
			}
			v := c.Numbers[i] + 0 // -0 equals 0
			if math.IsNaN(v) {
				v = math.NaN() // one bit pattern
			}
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(v))
		}
		yield(key)
	}
}

// Of counts the rows of f that equal some counted row.
func (m *Matches) Of(f *columns.Frame) int {
	n := 0
	m.each(f, func(key []byte) {
		if m.count[string(key)] > 0 {
			n++
		}
	})
	return n
}

// Unique is the number of counted rows that no other one equals, and how many
// of them some row of f equals.
func (m *Matches) Unique(f *columns.Frame) (unique, matched int) {
	for _, n := range m.count {
		if n == 1 {
			unique++
		}
	}
	seen := map[string]bool{}
	m.each(f, func(key []byte) {
		if m.count[string(key)] == 1 && !seen[string(key)] {
			seen[string(key)] = true
			matched++
		}
	})
	return unique, matched
}
