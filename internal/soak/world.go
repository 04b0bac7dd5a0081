package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"weir/pipeline/domain"
	"weir/privacy"
)

// world is a random private table with a neighbour, and what is publicly known of
// both.
type world struct {
	columns     []domain.Column
	unit        int // place of the unit's column, or -1: each row is a unit
	maxRows     int
	adjacency   privacy.Adjacency
	rowsPublic  int // 0: none
	constraints []domain.Constraint
	unknown     bool // some rows hold a category that nobody declared, which the spec says to take for missing
	laid        laid // what a test makes of the private table; may be nil
	pair
	reference         [][]string // rows of a public table of the same columns
	extra, otherExtra [][]string // of a private table that is not part of the dataset
}

// laid makes another table of one whose units are named in a column; -1 is none.
type laid func(rows [][]string, unit int) [][]string

// newWorld draws a domain, a table and a neighbour.
func newWorld(c chance) *world {
	w := &world{unit: -1, maxRows: 1, adjacency: pick(c, privacy.AddRemove, privacy.ReplaceOne)}
	if c.yes(0.5) {
		w.unit, w.maxRows = 0, c.within(1, 4)
		w.columns = append(w.columns, c.unitColumn())
	}
	for i := range c.within(2, 8) {
		w.columns = append(w.columns, c.column(i))
	}
	w.pair = c.neighbours(w)
	if w.rowsPublic = 0; w.fixedRows() && len(w.one) > 0 {
		w.rowsPublic = len(w.one)
	}
	if w.unknown = c.yes(0.15); w.unknown {
		c.spoil(w)
	}
	for range c.within(1, 30) {
		w.reference = append(w.reference, c.row(w.columns, pick(c, typical, typical, typical, high)))
	}
	w.extra = c.table(w, c.within(0, 40))
	w.otherExtra = w.extra
	if c.yes(0.5) { // only evaluation may read it, so any change of it must stay inside
		w.otherExtra = c.table(w, c.within(0, 40))
	}
	return w
}

// spoil puts categories that nobody declared into some rows, the same ones of both
// tables.
func (c chance) spoil(w *world) {
	seen := map[*string]bool{}
	for _, r := range append(slices.Clone(w.one), w.other...) {
		for i, col := range w.columns {
			if !seen[&r[0]] && i != w.unit && col.Type.Coded() && col.Nullable && c.yes(0.1) {
				r[i] = "nobody declared this"
			}
		}
		seen[&r[0]] = true
	}
}

// unlisted begins the name of a unit that is not a category.
const unlisted = "unlisted "

// rename spells some units otherwise, alike in both tables. Where categories name them some
// get names that nobody declared, which the spec says to take for missing: the cap must count
// them all the same. Where integers do, each row may spell its unit's in its own way.
func (c chance) rename(w *world) {
	often := 0.9
	if w.adjacency == privacy.ReplaceOne {
		often = 0.3 // shards by such units are refused, and other faults live behind shards
	}
	if w.unit < 0 || !c.yes(often) {
		return
	}
	col, names, seen := &w.columns[w.unit], map[string]string{}, map[*string]bool{}
	if col.Type == domain.Categorical {
		w.unknown, col.Nullable = true, true
	}
	for _, r := range append(slices.Clone(w.one), w.other...) {
		if name := r[w.unit]; name != "" && !seen[&r[0]] {
			r[w.unit] = c.otherName(col.Type, name, names)
		}
		seen[&r[0]] = true
	}
}

// otherName remembers what names of categories have become.
func (c chance) otherName(subject domain.ColumnType, name string, names map[string]string) string {
	switch {
	case subject == domain.Integer:
		return fmt.Sprintf(pick(c, "%s", "%s", "0%s", "+%s", "%s.0", "%s0e-1"), name)
	case subject != domain.Categorical:
		return name
	}
	if names[name] == "" {
		names[name] = pick(c, name, name, unlisted+name)
		if name == "u88" || name == "u89" { // the units that change
			names[name] = pick(c, name, unlisted+name, unlisted+name)
		}
	}
	return names[name]
}

// fixedRows: whether a public row count is declared is decided by the table, so
// that neighbours agree on it. Under add_remove the count is an estimate.
func (w *world) fixedRows() bool {
	return w.declared && (w.adjacency == privacy.AddRemove || len(w.one) == len(w.other))
}

func (c chance) unitColumn() domain.Column {
	col := domain.Column{Name: pick(c, "pid", "pid", "person-id"), Type: pick(c, domain.Integer, domain.Categorical,
		domain.Text, domain.Categorical)}
	switch col.Type {
	case domain.Integer:
		if c.yes(0.7) {
			col.Bounds = &[2]float64{0, 100000}
		}
	case domain.Categorical:
		for i := range 90 {
			col.Categories = append(col.Categories, fmt.Sprint("u", i))
		}
	}
	col.Nullable = c.yes(0.4)
	return col
}

func (c chance) column(i int) domain.Column {
	col := domain.Column{Name: fmt.Sprint(pick(c, "c", "c", "c", "c-"), i), Nullable: c.yes(0.45)}
	col.Type = pick(c, domain.Numeric, domain.Numeric, domain.Integer, domain.Integer, domain.Date, domain.Datetime,
		domain.Time, domain.Categorical, domain.Categorical, domain.Ordinal, domain.Boolean, domain.Text)
	switch col.Type {
	case domain.Text:
	case domain.Boolean:
		col.Categories = pick(c, []string{"no", "yes"}, []string{"0", "1"})
	case domain.Categorical, domain.Ordinal:
		for k := range c.within(1, 6) {
			col.Categories = append(col.Categories, string(rune('a'+k)))
		}
	case domain.Datetime:
		col.Step = pick(c, 1, 60, 3600, 86400.)
		col.Bounds = &[2]float64{86400 * 10000, 86400 * float64(10000+c.within(1, 9000))}
	case domain.Time:
		col.Step = pick(c, 1, 60, 900, 3600.)
		col.Bounds = &[2]float64{0, 86400 - col.Step}
	case domain.Date:
		col.Bounds = &[2]float64{10000, float64(10000 + c.within(0, 9000))}
	default:
		c.bound(&col)
	}
	if col.Nullable && c.yes(0.3) {
		col.Missing = pick(c, []string{"?"}, []string{"NA", "?"})
	}
	return col
}

func (c chance) bound(col *domain.Column) {
	if c.yes(0.1) {
		return // numbers without bounds
	}
	from := float64(pick(c, 0, -100, 18, 1000))
	col.Bounds = &[2]float64{from, from + float64(pick(c, 0, 1, 10, 100, 5000))}
	if c.yes(0.3) {
		col.Step = pick(c, 1, 2, 5.)
	}
}

// The files that a spec of the soak names.
const (
	dataFile      = "data.csv"
	referenceFile = "reference.csv" // public
	extraFile     = "extra.csv"     // private, and no part of the dataset
	specFile      = "spec.yaml"
)

// lay writes the files of one of the two runs into an empty folder.
func (w *world) lay(dir, spec string, other bool) error {
	rows, extra := w.one, w.extra
	if other {
		rows, extra = w.other, w.otherExtra
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if w.laid != nil {
		rows = w.laid(rows, w.unit)
	}
	for name, table := range map[string][][]string{dataFile: rows, referenceFile: w.reference, extraFile: extra} {
		if err := writeCSV(filepath.Join(dir, name), w.columns, table); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, specFile), []byte(spec), 0o644)
}

func writeCSV(path string, columns []domain.Column, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	// else a public file may be one of the two tables, byte for byte (W13)
	w.UseCRLF = filepath.Base(path) == referenceFile
	if err := w.WriteAll(append([][]string{names(columns)}, rows...)); err != nil {
		return err
	}
	return f.Close()
}
