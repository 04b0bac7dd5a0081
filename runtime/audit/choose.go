package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/bitmath"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/files"
	"weir/runtime/table"
)

// unit is all rows of a privacy unit of the dataset, in their order. It is private.
type unit struct {
	why    string // in public words
	places []int64
	rows   []arrow.Record
}

// scanned is what two passes over the rows of the dataset have found, and a third one gathers by unit.
type scanned struct {
	header pipeline.Header
	rows   int64
	counts []map[string]int64 // by column of categories and its values
	units  map[string]int64   // rows of each, where a column names them
	why    []string           // reasons
	marks  map[int64][]int    // reasons for which a row is chosen by its place
	best   map[string]candidate
}

// candidate is the row that a reason fits best.
type candidate struct {
	score float64
	place int64
	name  string // of its unit
}

// The reasons for which rows are chosen, in the order in which they are.
func reasons() []string {
	return []string{"the row farthest from the middle of its bounds", "the row of the rarest categories",
		"the row that lacks most values", "the row with most values at its bounds or beyond",
		"the unit of most rows", "the first row", "the row in the middle", "the last row",
		"the row nearest to the middle of its bounds", "a row at one fifth", "a row at two fifths", "a row at three fifths",
		"a row at four fifths"}
}

// Where the reasons begin that go by the place of a row: first, middle and last, and behind one more the fifths.
const (
	byPlace = 5
	byFifth = 9
)

// choose returns at most n units of the dataset: rows that move what mechanisms take in most, by what can be seen
// before any mechanism is asked, then rows by their place.
func (s *Subject) choose(ctx context.Context, n int) ([]unit, error) {
	found, err := s.scan(ctx)
	if err != nil {
		return nil, err
	}
	var chosen []candidate
	var why []string
	for _, reason := range reasons() {
		c, is := found.best[reason]
		same := func(o candidate) bool { return o.place == c.place || c.name != "" && o.name == c.name }
		if is && len(chosen) < n && !slices.ContainsFunc(chosen, same) {
			chosen, why = append(chosen, c), append(why, reason)
		}
	}
	return s.gather(ctx, chosen, why)
}

// unitsAt returns the units of rows by their places, which are counted from 0.
func (s *Subject) unitsAt(ctx context.Context, places []int64) ([]unit, error) {
	chosen, why := make([]candidate, len(places)), make([]string, len(places))
	for i, place := range places {
		chosen[i], why[i] = candidate{place: place}, "a row that was asked for"
	}
	named := s.plan.Spec.Dataset.PrivacyUnit.Column != ""
	if named {
		err := s.each(ctx, func(place int64, rec arrow.Record, i int) {
			for j := range chosen {
				if chosen[j].place == place {
					chosen[j].name = nameOf(rec, i, s.plan.Spec.Dataset.PrivacyUnit.Column)
				}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	units, err := s.gather(ctx, chosen, why)
	for i := range units {
		if err == nil && len(units[i].places) == 0 {
			err = &NoRowError{Place: places[i]}
		}
	}
	return units, err
}

// each calls f on every row of the dataset, as it is read.
func (s *Subject) each(ctx context.Context, f func(place int64, rec arrow.Record, i int)) error {
	d := &s.plan.Spec.Dataset
	source, err := d.Source.Open(ctx, pipeline.Opening{Files: s.files.Only(d.Declared.Files...), CSV: d.CSV,
		Columns: d.Columns(), Unit: d.PrivacyUnit.Column, MaxRows: d.PrivacyUnit.MaxRows, Seed: s.plan.Seed})
	if err != nil {
		return err
	}
	defer source.Close()
	var place int64
	for rec, err := range source.Table().Open(ctx) {
		if err != nil {
			return err
		}
		for i := range int(rec.NumRows()) {
			f(place, rec, i)
			place++
		}
	}
	return nil
}

// scan counts categories and units, and then finds the row that fits each reason best.
func (s *Subject) scan(ctx context.Context) (*scanned, error) {
	found := &scanned{header: s.plan.Spec.Header(), units: map[string]int64{}, why: reasons(), marks: map[int64][]int{},
		best: map[string]candidate{}}
	for range found.header.Domain.Columns {
		found.counts = append(found.counts, map[string]int64{})
	}
	unitColumn := s.plan.Spec.Dataset.PrivacyUnit.Column
	err := s.each(ctx, func(_ int64, rec arrow.Record, i int) {
		found.rows++
		for j, c := range found.header.Domain.Columns {
			if c.Type.Coded() {
				found.counts[j][rec.Column(j).ValueStr(i)]++
			}
		}
		if name := nameOf(rec, i, unitColumn); name != "" {
			found.units[name]++
		}
	})
	if err != nil {
		return nil, err
	}
	for n, place := range []int64{0, found.rows / 2, found.rows - 1} {
		found.marks[place] = append(found.marks[place], byPlace+n)
	}
	for fifth := range int64(4) {
		place := (fifth + 1) * found.rows / 5
		found.marks[place] = append(found.marks[place], byFifth+int(fifth))
	}
	return found, s.each(ctx, func(place int64, rec arrow.Record, i int) {
		found.judge(place, rec, i, nameOf(rec, i, unitColumn))
	})
}

// judge holds a row against every reason.
func (f *scanned) judge(place int64, rec arrow.Record, i int, name string) {
	far, rare, absent, outside := 0.0, 0.0, 0.0, 0.0
	for j, c := range f.header.Domain.Columns {
		column := rec.Column(j)
		switch x, numeric := number(column, i); {
		case column.IsNull(i):
			absent++
		case c.Type.Coded():
			rare += bitmath.Log(float64(f.rows) / float64(f.counts[j][column.ValueStr(i)]))
		case numeric && c.Bounds != nil && c.Name != f.header.Terms.Unit.Column:
			d := fromMiddle(c, x)
			far += float64(min(d, 2) * min(d, 2))
			if d >= 1 {
				outside++
			}
		}
	}
	scores := []float64{far, rare, absent, outside, 0}
	if f.units[name] > 1 {
		scores[4] = float64(f.units[name])
	}
	for n, score := range scores {
		f.offer(f.why[n], score, place, name)
	}
	f.offer(f.why[byPlace+3], 1/(1+far), place, name)
	for _, n := range f.marks[place] {
		f.offer(f.why[n], 1, place, name)
	}
}

// offer keeps the first row of the greatest score above 0.
func (f *scanned) offer(reason string, score float64, place int64, name string) {
	if score > f.best[reason].score {
		f.best[reason] = candidate{score, place, name}
	}
}

// fromMiddle returns how far a number is from the middle of its bounds, 1 at either bound.
func fromMiddle(c domain.Column, x float64) float64 {
	half := float64((c.Bounds[1] - c.Bounds[0]) / 2)
	if half <= 0 {
		return 0
	}
	return math.Abs(x-c.Bounds[0]-half) / half
}

func number(a arrow.Array, i int) (float64, bool) {
	if a.IsNull(i) {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Float64:
		return a.Value(i), true
	case *array.Int64:
		return float64(a.Value(i)), true
	}
	return 0, false
}

// nameOf returns the name of a row's unit, however it was spelled; "" where each row is one.
func nameOf(rec arrow.Record, i int, column string) string {
	for _, name := range []string{column, pipeline.UnlistedColumn} {
		for _, j := range rec.Schema().FieldIndices(name) {
			if column != "" && rec.Column(j).IsValid(i) {
				return name + " " + rec.Column(j).ValueStr(i)
			}
		}
	}
	return ""
}

// gather reads all rows of the units of chosen rows.
func (s *Subject) gather(ctx context.Context, chosen []candidate, why []string) ([]unit, error) {
	units := make([]unit, len(chosen))
	for i := range units {
		units[i].why = why[i]
	}
	column := s.plan.Spec.Dataset.PrivacyUnit.Column
	err := s.each(ctx, func(place int64, rec arrow.Record, i int) {
		name := nameOf(rec, i, column)
		for j, c := range chosen {
			if place == c.place || name != "" && name == c.name {
				row := rec.NewSlice(int64(i), int64(i)+1)
				units[j].places, units[j].rows = append(units[j].places, place), append(units[j].rows, row)
			}
		}
	})
	return units, err
}

// last returns the unit whose last row comes last.
func last(units []unit) unit {
	return slices.MaxFunc(units, func(a, b unit) int { return cmp.Compare(slices.Max(a.places), slices.Max(b.places)) })
}

// mostGiven is how many units a file of rows may name: each costs a run.
const mostGiven = 100

// ReadUnits reads rows for neighbours from a table with the columns of the dataset, a record for each unit: each row,
// or all rows of one value where a column names units.
func (s *Subject) ReadUnits(ctx context.Context, path string) (units []arrow.Record, err error) {
	folder, err := files.OpenFolder("", false)
	if err != nil {
		return nil, err
	}
	held := files.Hold(folder)
	defer held.Close()
	t, err := table.Open(held, path, s.plan.Spec.Dataset.CSV, s.plan.Spec.Dataset.Columns())
	if err != nil {
		return nil, err
	}
	rows, err := t.Collect(ctx)
	if err != nil {
		return nil, err
	}
	byName := map[string][]arrow.Record{}
	var names []string
	for i := range int(rows.NumRows()) {
		name := nameOf(rows, i, s.plan.Spec.Dataset.PrivacyUnit.Column)
		if name == "" {
			name = fmt.Sprint("row ", i)
		}
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], rows.NewSlice(int64(i), int64(i)+1))
	}
	if len(names) == 0 || len(names) > mostGiven {
		return nil, fmt.Errorf("%s: holds rows of %d units, must hold rows of 1 to %d", path, len(names), mostGiven)
	}
	for _, name := range names {
		unit, err := pipeline.FromRecords(pipeline.Header{Schema: rows.Schema()}, byName[name]...).Collect(ctx)
		if err != nil {
			return nil, err
		}
		units = append(units, unit)
	}
	return units, nil
}
