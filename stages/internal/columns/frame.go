// Package columns holds a table of the pipeline as plain Go columns, for the
// evaluation of tables against each other. Memory is linear in the rows: 8 bytes
// a number, 4 a code. It counts private rows, and brings the rules of a domain
// (pipeline/domain) to codes: which combinations no row may have (Mask), where a row of
// the source that breaks a rule goes, and how values inside bins are placed so that none
// is broken (Placing). What the rules decide is a function of public facts, released bins
// and, row by row, of that row alone.
package columns

import (
	"math"

	"weir/pipeline/domain"
)

// Frame is a table held in memory, by column.
type Frame struct {
	Rows    int
	Columns []Column
	Dropped []Drop // columns of the table that are not here, and why
}

// Column is one column: Numbers for numeric, integer and date columns (NaN is
// missing), Codes for categorical, ordinal and boolean ones (-1 is missing).
type Column struct {
	Name       string
	Type       domain.ColumnType
	Numbers    []float64
	Codes      []int32
	Categories []string    // the meaning of Codes
	Bounds     *[2]float64 // declared; nil where they are not
}

// Drop says why a column is left out of a comparison.
type Drop struct{ Column, Reason string }

// Coded reports whether the column holds Codes.
func (c *Column) Coded() bool { return c.Type.Coded() }

// Absent reports whether the value of row i is missing.
func (c *Column) Absent(i int) bool {
	if c.Coded() {
		return c.Codes[i] < 0
	}
	return math.IsNaN(c.Numbers[i])
}

// Missing counts the missing values.
func (c *Column) Missing() int {
	n := 0
	for i := range max(len(c.Codes), len(c.Numbers)) {
		if c.Absent(i) {
			n++
		}
	}
	return n
}

// Extremes returns the least and greatest number; +Inf and -Inf where there is none.
func (c *Column) Extremes() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range c.Numbers {
		if !math.IsNaN(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}

// Column returns the named column, or nil.
func (f *Frame) Column(name string) *Column {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			return &f.Columns[i]
		}
	}
	return nil
}

// Names lists the columns in order.
func (f *Frame) Names() []string {
	names := make([]string, len(f.Columns))
	for i := range f.Columns {
		names[i] = f.Columns[i].Name
	}
	return names
}

// Slice returns rows lo to hi (excluded), sharing memory with f.
func (f *Frame) Slice(lo, hi int) *Frame {
	return f.each(hi-lo, func(c *Column) {
		if c.Coded() {
			c.Codes = c.Codes[lo:hi]
		} else {
			c.Numbers = c.Numbers[lo:hi]
		}
	})
}

// Take returns the rows at the given places, in that order.
func (f *Frame) Take(places []int) *Frame {
	return f.each(len(places), func(c *Column) {
		if c.Coded() {
			c.Codes = take(c.Codes, places)
		} else {
			c.Numbers = take(c.Numbers, places)
		}
	})
}

// Select returns f with the named columns only, in that order; names that f lacks
// are left out.
func (f *Frame) Select(names []string) *Frame {
	out := &Frame{Rows: f.Rows, Dropped: f.Dropped}
	for _, n := range names {
		if c := f.Column(n); c != nil {
			out.Columns = append(out.Columns, *c)
		}
	}
	return out
}

func (f *Frame) each(rows int, change func(*Column)) *Frame {
	out := &Frame{Rows: rows, Columns: append([]Column(nil), f.Columns...), Dropped: f.Dropped}
	for i := range out.Columns {
		change(&out.Columns[i])
	}
	return out
}

func take[T any](src []T, places []int) []T {
	dst := make([]T, len(places))
	for k, i := range places {
		dst[k] = src[i]
	}
	return dst
}
