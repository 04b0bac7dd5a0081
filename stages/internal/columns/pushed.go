package columns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"weir/pipeline"
	"weir/pipeline/relation"

	"weir/train/marginal"
)

// pushed is a Counter of rows that stay in the database which stores them: it computes their cells once, and counts
// those in every round, so all rounds are of one table. Of the rows weir sees counts alone, and the statements for
// them follow from grids, sets and released codes, which are public.
//
// What the database says is held to what any table would give, as rows that are read again are: every column has as
// many rows, and every set the rows of each code. A database that computes cells otherwise than weir is refused before
// it counts, by public numbers at and beside the borders of each grid.
type pushed struct {
	checked
	fine   relation.Kept // a cell a column, and behind these the point of its cell of each grid with HasInnerCounts
	told   []int         // by grid, the place of its points; -1
	coded  relation.Kept // the codes, from the first Count on
	beyond [][]int       // columns tied by rules whose codes are not moved in there
}

// pushedOf counts the cells of a table whose rows stay in a database.
func pushedOf(ctx context.Context, t pipeline.Table, grids []Grid) (*pushed, error) {
	p := &pushed{checked: checkedOf(grids), told: toldOf(grids)}
	fields, err := fieldsOf(t, grids)
	if err != nil {
		return nil, err
	}
	if err := p.tries(ctx, t.Pushed.Session); err != nil {
		return nil, err
	}
	kept, keys := countedKeys(t.Pushed.Relation, fields, grids)
	if p.fine, err = t.Pushed.Session.Keep(ctx, kept); err != nil {
		return nil, err
	}
	if err := p.one(ctx, keys); err != nil {
		return nil, err
	}
	if public := PublicRows(t.Header); public > 0 && public != p.number {
		return nil, pipeline.ErrRowsPublic
	}
	return p, nil
}

// NewAsking returns what a Counter of grids asks first of a database that keeps the rows of a table.
func NewAsking(h pipeline.Header, gridsOf func() ([]Grid, error)) pipeline.Asking {
	return func(r relation.Relation) (kept relation.Relation, keys []relation.Key) {
		grids, err := gridsOf()
		if err != nil {
			return r, nil // whoever counts says so
		}
		fields, err := fieldsOf(pipeline.Table{Header: h}, grids)
		if err != nil {
			return r, nil // CounterOf says so
		}
		return countedKeys(r, fields, grids)
	}
}

// countedKeys returns the cells of each row by all grids, with the points of those with HasInnerCounts, and each
// column's cells to be counted.
func countedKeys(r relation.Relation, fields []int, grids []Grid) (kept relation.Relation, keys []relation.Key) {
	var l relation.Layer
	row := r.Columns()
	for j, g := range grids {
		l.Columns = append(l.Columns, relation.Named{Name: fmt.Sprintf("cell%d", j), Expr: g.Stated(row[fields[j]])})
		keys = append(keys, place(j, g.Cells()+1))
	}
	for j, g := range grids {
		if g.HasInnerCounts() {
			l.Columns = append(l.Columns, relation.Named{Name: fmt.Sprintf("point%d", j), Expr: g.StatedWithin(row[fields[j]])})
		}
	}
	return r.With(l), keys
}

// toldOf returns, by grid, the place of its points among what is asked for; -1 where they lack HasInnerCounts.
func toldOf(grids []Grid) []int {
	certain, next := make([]int, len(grids)), len(grids)
	for j, g := range grids {
		if certain[j] = -1; g.HasInnerCounts() {
			certain[j], next = next, next+1
		}
	}
	return certain
}

// tries holds the cells of public numbers, as the database computes them, to what they are.
func (p *pushed) tries(ctx context.Context, s relation.Session) error {
	for _, g := range p.grids {
		if g.Coded() {
			continue
		}
		values := g.Borders()
		col := relation.Column{Of: pipeline.RelationType(&g.column)}
		col.Least, col.Greatest = relation.Anything()
		list := []relation.Expr{g.Stated(col)}
		if g.HasInnerCounts() {
			list = append(list, g.StatedWithin(col))
		}
		got, err := s.Try(ctx, col.Of, values, list)
		if err != nil {
			return err
		}
		if !g.computes(values, got) {
			return fmt.Errorf("column %s: this database computes the cells of public test values unlike weir; its counts "+
				"would be of other cells", g.Name())
		}
	}
	return nil
}

// computes tells whether values have these cells and points.
func (g Grid) computes(values []float64, got [][]int64) bool {
	for i, x := range values {
		if got[0][i] != int64(g.Cell(x)) || len(got) > 1 && got[1][i] != int64(g.PointOf(x)) {
			return false
		}
	}
	return true
}

// one counts every column on its own.
func (p *pushed) one(ctx context.Context, keys []relation.Key) error {
	var errs []error
	err := p.fine.Count(ctx, keys, func(j int, counts []int64) error {
		cells := p.grids[j].Cells()
		if counts[cells] > 0 {
			errs = append(errs, fmt.Errorf("column %s: %w", p.grids[j].Name(), errMissing))
		}
		p.cells[j] = slices.Clone(counts[:cells])
		if n := sum(counts); j == 0 {
			p.number = n
		} else if n != p.number {
			return errSizes
		}
		return nil
	})
	return errors.Join(err, errors.Join(errs...))
}

// errSizes is about the answers of a database.
var errSizes = errors.New("the database counted different numbers of rows for columns of one table")

// place returns column j of a kept row as a key, with values from 0 to below-1.
func place(j, below int) relation.Key { return relation.Key{Expr: keptAt(j, below), Of: below} }

func keptAt(j, below int) relation.Column {
	return relation.Column{At: j, Of: relation.Whole, Greatest: int64(below) - 1}
}

// Points implements Counter.
func (p *pushed) Points(ctx context.Context, column int, cells []int) (counts []int64, err error) {
	from, points := p.placesOf(column, cells)
	point := relation.Lookup{E: keptAt(column, len(from)), To: from}
	none := relation.Constant{Of: relation.Whole}
	key := relation.Key{Of: int(points) + 1, Expr: relation.Choice{If: relation.Compare{Op: "==", A: point, B: none},
		Then: none,
		Else: relation.Arithmetic{Op: "+", A: point, B: keptAt(p.told[column], mostWithin)}}}
	err = p.fine.Count(ctx, []relation.Key{key}, func(_ int, of []int64) error {
		counts = slices.Clone(of)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if sum(counts) != p.number || !p.agreesWithin(column, cells, counts[1:]) {
		return nil, errOther
	}
	return counts[1:], nil
}

// Count implements Counter. Codes that rules forbid are moved as they are kept, or here where rules tie more codes than
// the database looks up: a set with one of their columns is then counted with all of them.
func (p *pushed) Count(ctx context.Context, sets [][]int, use func(set int, counts []int64) error) error {
	if err := p.keepCodes(ctx); err != nil {
		return err
	}
	questions, err := p.askedFor(ctx, sets)
	if err != nil {
		return err
	}
	for first := 0; first < len(sets); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := inOneRound(p.coding.Sizes, questions[first:])
		keys, err := p.keys(questions[first : first+n])
		if err == nil {
			err = p.coded.Count(ctx, keys, func(k int, counts []int64) error {
				if counts = p.moved(counts, questions[first+k], sets[first+k]); !p.agrees(sets[first+k], counts) {
					return errOther
				}
				return use(first+k, counts)
			})
		}
		if err != nil {
			return err
		}
		first += n
	}
	return nil
}

// askedFor returns the sets with all columns that rules tie to theirs. Where these would have too many cells the
// database moves the codes after all, by lists as long as it takes.
func (p *pushed) askedFor(ctx context.Context, sets [][]int) ([][]int, error) {
	questions, large := make([][]int, len(sets)), false
	for i, set := range sets {
		questions[i] = p.withTied(set)
		_, err := marginal.Cells(p.coding.Sizes, questions[i])
		large = large || err != nil && len(questions[i]) > len(set)
	}
	if !large {
		return questions, nil
	}
	codes := make([]relation.Named, len(p.grids))
	for j := range codes {
		codes[j] = relation.Named{Name: fmt.Sprintf("code%d", j), Expr: keptAt(j, p.coding.Sizes[j])}
	}
	before := len(p.beyond)
	if p.beyond = p.obey(codes, p.beyond, mostTabled); len(p.beyond) == before {
		return questions, nil // whoever counts says what is too large
	}
	var err error
	if p.coded, err = p.coded.Keep(ctx, codes); err != nil {
		return nil, err
	}
	for i, set := range sets {
		questions[i] = p.withTied(set)
	}
	return questions, nil
}

// keepCodes computes the codes of all rows from their cells, once.
func (p *pushed) keepCodes(ctx context.Context) (err error) {
	if p.coded != nil {
		return nil
	}
	list := make([]relation.Named, len(p.grids))
	for j, to := range p.coding.To {
		look := relation.Lookup{E: keptAt(j, len(to)), To: make([]int64, len(to))}
		for cell, code := range to {
			look.To[cell] = int64(code)
		}
		list[j] = relation.Named{Name: fmt.Sprintf("code%d", j), Expr: look}
	}
	p.beyond = p.obey(list, p.nearest.Groups(), mostLooked)
	p.coded, err = p.fine.Keep(ctx, list)
	return err
}

// mostLooked is the most combinations of codes that the database looks up where one of them moves by rules, unless it
// has to: all of them are moved beforehand, since those that rows have are private, and stand in the statement.
const mostLooked = 1 << 13

// obey moves codes of a row by the rules of groups, and returns the columns of groups of more than so many
// combinations, whose codes stay as they are.
func (p *pushed) obey(codes []relation.Named, groups [][]int, most int) (outside [][]int) {
	for _, group := range groups {
		cells, err := marginal.Cells(p.coding.Sizes, group)
		if err != nil || cells > most {
			outside = append(outside, group)
			continue
		}
		dst := p.combinations(group, cells)
		p.nearest.Codes(dst)
		at := p.joint(group, func(j int) relation.Expr { return codes[j].Expr })
		for _, j := range group {
			look := relation.Lookup{E: at, To: make([]int64, cells)}
			for i, code := range dst[j] {
				look.To[i] = int64(code)
			}
			codes[j].Expr = look
		}
	}
	return outside
}

// combinations lists the codes of each of some columns in all their combinations, row-major; nil of other columns.
func (p *pushed) combinations(owner []int, cells int) [][]uint16 {
	codes := make([][]uint16, len(p.grids))
	after := cells
	for _, j := range owner {
		codes[j] = make([]uint16, cells)
		after /= p.coding.Sizes[j]
		for at := range codes[j] {
			codes[j][at] = uint16(at / after % p.coding.Sizes[j])
		}
	}
	return codes
}

// withTied returns a set of columns with all that rules tie to one of them, where the database did not move their
// codes.
func (p *pushed) withTied(set []int) []int {
	all := slices.Clone(set)
	for _, group := range p.beyond {
		if slices.ContainsFunc(group, func(j int) bool { return slices.Contains(set, j) }) {
			all = append(all, group...)
		}
	}
	if len(all) == len(set) {
		return set
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keys numbers the combinations of codes of each set, row-major.
func (p *pushed) keys(sets [][]int) ([]relation.Key, error) {
	keys := make([]relation.Key, len(sets))
	for i, set := range sets {
		cells, err := marginal.Cells(p.coding.Sizes, set)
		if err != nil {
			return nil, err
		}
		keys[i] = relation.Key{Expr: p.joint(set, func(j int) relation.Expr { return keptAt(j, p.coding.Sizes[j]) }),
			Of: cells}
	}
	return keys, nil
}

// joint numbers the combinations of codes of some columns, row-major.
func (p *pushed) joint(of []int, code func(j int) relation.Expr) (point relation.Expr) {
	for _, j := range of {
		if point == nil {
			point = code(j)
			continue
		}
		size := relation.Constant{Of: relation.Whole, Int: int64(p.coding.Sizes[j])}
		point = relation.Arithmetic{Op: "+", A: relation.Arithmetic{Op: "*", A: point, B: size}, B: code(j)}
	}
	return point
}

// moved sums the counts of some columns to the counts of a set of them, where combinations that rules forbid count as
// the nearest that they allow.
func (p *pushed) moved(counts []int64, owner, set []int) []int64 {
	tied := slices.Concat(p.beyond...)
	if !slices.ContainsFunc(owner, func(j int) bool { return slices.Contains(tied, j) }) {
		return counts
	}
	codes, there := p.combinations(owner, len(counts)), make([][]uint16, len(p.grids))
	for _, j := range owner {
		there[j] = codes[j][:0]
		for at, n := range counts {
			if n > 0 {
				there[j] = append(there[j], codes[j][at])
			}
		}
	}
	moving := make([][]uint16, len(codes))
	for _, j := range tied {
		moving[j] = there[j]
	}
	p.nearest.Codes(moving)                         // groups of rules whose columns are not asked for have no rows here
	cells, _ := marginal.Cells(p.coding.Sizes, set) // no more than a set around it has
	sums := make([]int64, cells)
	for i, n := range slices.DeleteFunc(slices.Clone(counts), func(n int64) bool { return n == 0 }) {
		end := 0
		for _, j := range set {
			end = end*p.coding.Sizes[j] + int(there[j][i])
		}
		sums[end] += n
	}
	return sums
}
