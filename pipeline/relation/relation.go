package relation

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
