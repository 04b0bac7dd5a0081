package audit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/privacy"
)

// board is the dataset of a game: its rows, the canaries, and how these are looked for.
type board struct {
	subject *Subject
	real    pipeline.Table // all rows, in memory
	made    canaryRows     // a canary each; where they replace rows, as many again: what each is where its coin says so
	rows    arrow.Record   // all of them
	places  []int64        // of the rows that canaries replace; nil: they come behind all
	copies  int            // rows of each canary: as many as a unit may have, so that it moves all that a unit may move
	own     int            // canaries with a value that no row of the dataset and no other canary has
	attack  string
	look    func(ctx context.Context, r *Rehearsal) ([]float64, error) // see play
}

// board reads the dataset and makes up the canaries, by nothing but the rows: before any coin is tossed.
func (s *Subject) board(ctx context.Context, g Game) (*board, error) {
	t, err := &board{subject: s}, error(nil)
	if t.real, err = s.everyRow(ctx); err != nil {
		return nil, err
	}
	number, d := g.Canaries, &s.plan.Spec.Dataset
	t.copies = max(1, d.PrivacyUnit.MaxRows)
	if s.plan.Spec.Privacy.Adjacency == privacy.ReplaceOne {
		if d.PrivacyUnit.Column != "" {
			return nil, unplayable("dataset.privacy_unit: is %s under replace_one, must be row, or privacy.adjacency "+
				"add_remove: a canary cannot replace all rows of a unit", d.PrivacyUnit.Column)
		}
		if t.places, err = t.replaced(ctx, number); err != nil {
			return nil, err
		}
		number *= 2
	}
	if err := t.makeUp(ctx, number); err != nil {
		return nil, err
	}
	return t, t.aim(g)
}

// everyRow reads all rows of the dataset into memory.
func (s *Subject) everyRow(ctx context.Context) (pipeline.Table, error) {
	d := &s.plan.Spec.Dataset
	source, err := d.Source.Open(ctx, pipeline.Opening{Files: s.files.Only(d.Declared.Files...), CSV: d.CSV,
		Columns: d.Columns(), Unit: d.PrivacyUnit.Column, MaxRows: d.PrivacyUnit.MaxRows, Seed: s.plan.Seed})
	if err != nil {
		return pipeline.Table{}, err
	}
	defer source.Close()
	rows := source.Table()
	h := s.plan.Spec.Header()
	rows.Header = h
	all, err := rows.Collect(ctx)
	return pipeline.FromRecords(h, all), err
}

// replaced returns the places of the rows that canaries replace: the last ones.
func (t *board) replaced(ctx context.Context, number int) ([]int64, error) {
	all, err := t.real.Collect(ctx)
	if err != nil {
		return nil, err
	}
	if int64(number) > all.NumRows() {
		return nil, unplayable("canaries: are %d, must be at most as many as there are rows, each of which one replaces",
			number)
	}
	places := make([]int64, number)
	for i := range places {
		places[i] = all.NumRows() - int64(number-i)
	}
	return places, nil
}

// makeUp makes rows of values that no row of the dataset has where there are such, each canary with its own while they
// last, and else of the rarest: what a column says of a canary is then not hidden by rows.
func (t *board) makeUp(ctx context.Context, number int) error {
	all, err := t.real.Collect(ctx)
	if err != nil {
		return err
	}
	d, random := t.real.Domain, rand.New(rand.NewPCG(1, uint64(number)))
	columns, alone := make(canaryRows, len(d.Columns)), make([]bool, number)
	for j := range d.Columns {
		columns[j] = canaryColumnOf(&d.Columns[j], all.Column(j), number)
		if d.Columns[j].Name == t.subject.plan.Spec.Dataset.PrivacyUnit.Column && !columns[j].single(number) {
			return unplayable("canaries: are %d, must be so few that each has a value of column %s which no unit has", number,
				d.Columns[j].Name)
		}
		columns[j].deal(number, random)
		for i := range alone {
			alone[i] = alone[i] || columns[j].single(number)
		}
	}
	if err := keepRules(d, columns, number, random); err != nil {
		return err
	}
	for _, is := range alone {
		if is {
			t.own++
		}
	}
	if t.places != nil {
		t.own /= 2
	}
	everyone := make([]int, number)
	for i := range everyone {
		everyone[i] = i
	}
	t.made, t.rows = columns, columns.rows(t.real.Schema, everyone)
	return nil
}

// canaryColumn is the values of one column of canaries.
type canaryColumn struct {
	column *domain.Column
	free   []float64 // that no row has
	values []float64 // that canaries may have: the free ones, or all with the rarest first
	dealt  []float64 // by canary
}

// canaryColumnOf lists the values of a column, of numbers at most four times as many as there are canaries.
func canaryColumnOf(c *domain.Column, rows arrow.Array, number int) canaryColumn {
	l, seen := canaryColumn{column: c}, map[float64]int{}
	for i := range rows.Len() {
		if x, known := numberAt(rows, i); known {
			seen[x]++
		}
	}
	for _, x := range valuesOf(c, number) {
		l.values = append(l.values, x)
		if seen[x] == 0 {
			l.free = append(l.free, x)
		}
	}
	if len(l.free) > 0 {
		l.values = l.free
	}
	slices.SortStableFunc(l.values, func(a, b float64) int { return cmp.Compare(seen[a], seen[b]) })
	return l
}

// single reports whether each canary has a value of the column that nobody else has.
func (l canaryColumn) single(number int) bool {
	return l.column.Type == domain.Text || len(l.free) >= number
}

// deal gives each canary a value, in an order of the column's own.
func (l *canaryColumn) deal(number int, random *rand.Rand) {
	l.dealt = make([]float64, number)
	for i := range l.dealt {
		if len(l.values) > 0 {
			l.dealt[i] = l.values[i%len(l.values)]
		}
	}
	random.Shuffle(number, func(i, j int) { l.dealt[i], l.dealt[j] = l.dealt[j], l.dealt[i] })
}

// numberAt returns a value as a number, categories by code; text has none.
func numberAt(a arrow.Array, i int) (float64, bool) {
	if a.IsNull(i) {
		return 0, false
	}
	switch a := a.(type) {
	case *array.Float64:
		return a.Value(i), true
	case *array.Int64:
		return float64(a.Value(i)), true
	case *array.Int32:
		return float64(a.Value(i)), true
	}
	return 0, false
}

// valuesOf lists values of a column that its domain has; of numbers evenly spread ones, on its steps.
func valuesOf(c *domain.Column, number int) (list []float64) {
	switch {
	case c.Type.Coded():
		categories := len(c.Categories)
		if categories == 0 && c.Type == domain.Boolean {
			categories = 2
		}
		for k := range categories {
			list = append(list, float64(k))
		}
		return list
	case c.Type == domain.Text:
		return nil
	case c.Bounds == nil:
		for k := range mostBeyond {
			list = append(list, math.Ldexp(1, k))
		}
		return list
	}
	return spread(c.Bounds[0], c.Bounds[1], stepOf(c), number)
}

// mostBeyond is how many powers of two numbers without bounds may be.
const mostBeyond = 40

// stepOf returns the step of a number: 1 of whole numbers without another one, 0 of others.
func stepOf(c *domain.Column) float64 {
	if c.Step == 0 && c.Type != domain.Numeric {
		return 1
	}
	return c.Step
}

// spread lists numbers from low to high, at most four times as many as there are canaries, and one.
func spread(low, high, step float64, number int) (list []float64) {
	parts := float64(4*number + 1)
	if step > 0 {
		parts = min(parts, math.Floor((high-low)/step*(1+1e-12)))
	}
	for k := range int(parts) + 1 {
		x := low + float64((high-low)*float64(k))/max(parts, 1)
		if step > 0 {
			x = low + float64(math.Floor((x-low)/step+1e-9)*step)
		}
		list = append(list, x)
	}
	return slices.Compact(list)
}

// tries is how often a canary that breaks a rule of the domain is dealt anew.
const tries = 1000

// keepRules deals values anew where the values of a canary break a rule of the domain, from values of the columns.
func keepRules(d *domain.Domain, columns canaryRows, number int, random *rand.Rand) error {
	rules, _ := domain.ReadRules(d)
	allowed := func(i int) bool {
		for k := range rules {
			values := make([]float64, len(rules[k].Columns))
			for a, j := range rules[k].Columns {
				values[a] = columns[j].dealt[i]
			}
			if !rules[k].Keeps(values) {
				return false
			}
		}
		return true
	}
	for i := range number {
		for try := 0; !allowed(i); try++ {
			if try == tries {
				return unplayable("dataset.domain.constraints: leave no room for canaries, must leave rows that are soon found")
			}
			for k := range rules {
				for _, j := range rules[k].Columns {
					all := valuesOf(columns[j].column, number)
					if len(all) > 0 {
						columns[j].dealt[i] = all[random.IntN(len(all))]
					}
				}
			}
		}
	}
	return nil
}

// canaryRows holds made-up rows by column.
type canaryRows []canaryColumn

// rows returns some of them as a table of the dataset.
func (r canaryRows) rows(schema *arrow.Schema, places []int) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for j, l := range r {
		for _, i := range places {
			switch f := b.Field(j).(type) {
			case *array.Float64Builder:
				f.Append(l.dealt[i])
			case *array.Int64Builder:
				f.Append(int64(l.dealt[i]))
			case *array.Int32Builder:
				f.Append(int32(l.dealt[i]))
			case *array.StringBuilder:
				f.Append(fmt.Sprintf("canary %d", i+1))
			default:
				f.AppendNull()
			}
		}
	}
	return b.NewRecord()
}
