// Package source holds the sources of rows that weir knows, a file each: their settings in a spec, what is known of
// them before they are opened, and how they are opened. Nothing else knows one of them from another
// (pipeline.Source).
package source

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// Kinds lists every source, in the order in which they are shown.
func Kinds() []pipeline.SourceKind {
	return []pipeline.SourceKind{fileKind(), demoKind(), databaseKind()}
}

// Browsed is a database's table that is read before a domain says which columns it has: to draft one, or to compare.
// It has all columns that can be read. Of a table whose rows stay it has the columns, and every reading of rows is an
// error.
type Browsed struct {
	stored table.Stored
	stays  bool
	types  []string             // of the stored columns, as the database calls them
	labels [][]string           // of the stored columns: the values that an enum type lists
	unread []table.UnreadColumn // further columns of the table, which are not asked for
	notes  []string
	close  func() error
}

// errStays is a reading by a command of rows that may not be read.
var errStays = errors.New("rows stay in the database (dataset.database.rows: stay), and this command reads them; " +
	"evaluations of a spec read those that dataset.database.sample_may_leave lets leave")

// Browse opens the table of a database. Of o it takes the files and csv. Of a table whose rows stay there are columns,
// and a reading of rows is an error.
func (s *Database) Browse(ctx context.Context, o pipeline.Opening) (*Browsed, error) {
	e, _ := s.engine()
	b, err := e.browse(ctx, o)
	if err == nil && s.Database.Rows == stay {
		b.stays = true
		b.stored.Begin = func(context.Context, []int) (table.StoredRows, error) {
			return nil, fmt.Errorf("%s: %w", b.stored.Name, errStays)
		}
	}
	return b, err
}

// Name returns what messages call the table.
func (b *Browsed) Name() string { return b.stored.Name }

// Raw returns the table without a domain. An error of its rows quotes no cell. Of rows that stay no number is known to
// be whole that is stored as a fraction, so its column is numeric.
func (b *Browsed) Raw(ctx context.Context) (*table.Raw, error) {
	r, err := table.RawStored(ctx, b.stored)
	if err != nil {
		return nil, err
	}
	for i, c := range r.Unread {
		r.Unread[i].Type = b.types[c.Place-1]
	}
	if b.stays {
		b.outline(r)
	}
	r.Unread = append(r.Unread, b.unread...)
	slices.SortFunc(r.Unread, func(x, y table.UnreadColumn) int { return x.Place - y.Place })
	return r, nil
}

// outline declares columns that are stored as numbers with a fraction as numeric, and the labels of an enum type as
// categories.
func (b *Browsed) outline(r *table.Raw) {
	pos := 0
	for i, f := range b.stored.Schema.Fields() {
		if pos == len(r.Names) || r.Names[pos] != f.Name {
			continue // unread
		}
		name := strings.ToLower(b.types[i])
		if slices.ContainsFunc([]string{"decimal", "numeric", "float", "double"},
			func(w string) bool { return strings.HasPrefix(name, w) }) {
			r.Stored[pos] = domain.Column{Type: domain.Numeric}
		}
		// an empty text is missing
		if labels := slices.DeleteFunc(slices.Clone(b.labels[i]), func(s string) bool { return s == "" }); len(labels) > 0 {
			r.Stored[pos] = domain.Column{Type: domain.Categorical, Categories: labels}
		}
		pos++
	}
}

// Asks reports whether columns that no domain declares are left out by not asking for them; else a spec has to set
// csv.extra: ignore.
func (b *Browsed) Asks() bool { return len(b.unread) > 0 }

// Open returns the table by a domain.
func (b *Browsed) Open(csv *pipeline.CSV, d *domain.Domain) (pipeline.Table, error) {
	t, _, err := table.OpenStored(b.stored, cells(csv), d, "")
	return t, err
}

// Notes says which columns are left out, for the owner.
func (b *Browsed) Notes() []string { return b.notes }

// Close ends what Browse began.
func (b *Browsed) Close() error { return b.close() }
