package relation

import (
	"context"
)

// Named is a column of what a layer gives.
type Named struct {
	Name string
	Expr Expr // over the columns of the layer below
}

// Layer is computed from the rows below it, each on its own: those for which Where is true stay (all where it is nil),
// and each becomes a row of Columns.
type Layer struct {
	Where   Expr
	Columns []Named
}

// Relation is a table as it is computed from stored rows, layer upon layer.
type Relation struct {
	Stored []Named // columns of a stored row
	Layers []Layer
}

// Stored returns a table whose rows are stored in columns of these types, of which nothing more is known.
func Stored(names []string, types []Type) Relation {
	var r Relation
	for i, name := range names {
		least, greatest := Anything()
		r.Stored = append(r.Stored, Named{name, Column{i, types[i], least, greatest}})
	}
	return r
}

// Columns returns the columns that come out, as the columns of a row for the next layer.
func (r Relation) Columns() []Expr {
	below := r.Stored
	if n := len(r.Layers); n > 0 {
		below = r.Layers[n-1].Columns
	}
	list := make([]Expr, len(below))
	for i, c := range below {
		least, greatest := c.Expr.Span()
		list[i] = Column{i, c.Expr.Type(), least, greatest}
	}
	return list
}

// With returns the relation with one more layer.
func (r Relation) With(l Layer) Relation {
	r.Layers = append(r.Layers[:len(r.Layers):len(r.Layers)], l)
	return r
}

// Session computes relations over the stored rows of one table where they lie, and counts the rows that come out. It
// gives whole numbers and nothing else: no cell of a row leaves it. An error of it quotes no cell. What it keeps is
// gone when the session ends, which whoever opened it brings about.
type Session interface {
	// Keep computes the rows of a relation once, so that every count sees the same ones. The columns that come out
	// are whole numbers or codes from 0 to 2^31 - 1 and never missing.
	Keep(ctx context.Context, r Relation) (Kept, error)
	// Try computes expressions over one column, a public number that a session computes as it would compute one of a
	// row: real numbers where of is Real, else whole ones (each value is one then). The result has a list for each
	// expression with a whole number for each value.
	Try(ctx context.Context, of Type, values []float64, list []Expr) ([][]int64, error)
}

// Kept is rows that were computed once. It is used by one goroutine at a time.
type Kept interface {
	// Count hands on the number of rows that have each value of a key, from 0 to Of - 1, key by key in their order. A
	// value outside is an error.
	Count(ctx context.Context, keys []Key, use func(key int, counts []int64) error) error
	// Keep computes columns of the same kind from each kept row, once.
	Keep(ctx context.Context, columns []Named) (Kept, error)
}

// Key is a whole number from 0 to Of - 1, over the columns of a kept row.
type Key struct {
	Expr Expr
	Of   int
}
