package source

import (
	"context"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// Browsed is a database's table that is read before a domain says which columns it has: to draft one, or to compare.
// It has all columns that can be read.
type Browsed struct {
	stored table.Stored
	types  []string             // of the stored columns, as the database calls them; nil: as Arrow does
	unread []table.UnreadColumn // further columns of the table, which are not asked for
	notes  []string
	close  func() error
}

// Browse opens the table of a database. Of o it takes the files and csv. Of a table whose rows stay there are columns,
// and a reading of rows is an error.
func (s *Database) Browse(ctx context.Context, o pipeline.Opening) (*Browsed, error) {
	e, _ := s.engine()
	b, err := e.browse(ctx, o)
	if err == nil && s.Database.Rows == stay {
		b.stored.Begin = func(context.Context, []int) (table.StoredRows, error) {
			return nil, fmt.Errorf("%s: %w", b.stored.Name, errStay)
		}
	}
	return b, err
}

// Name returns what messages call the table.
func (b *Browsed) Name() string { return b.stored.Name }

// Raw returns the table without a domain. An error of its rows quotes no cell.
func (b *Browsed) Raw(ctx context.Context) (*table.Raw, error) {
	r, err := table.RawStored(ctx, b.stored)
	if err != nil {
		return nil, err
	}
	for i, c := range r.Unread {
		if b.types != nil {
			r.Unread[i].Type = b.types[c.Place-1]
		}
	}
	r.Unread = append(r.Unread, b.unread...)
	slices.SortFunc(r.Unread, func(x, y table.UnreadColumn) int { return x.Place - y.Place })
	return r, nil
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
