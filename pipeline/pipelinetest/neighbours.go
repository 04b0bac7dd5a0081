package pipelinetest

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/stattest"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/pipeline/neighbour"
	"weir/privacy"
)

// couple is a pair of tables that differ in what one unit changes, at a port.
type couple struct {
	what        string
	base, other Case
	moves       bool // rows that both have stand at other places
}

// neighbours lists pairs for each private table of a case, and one in which all of
// them change: they come from one source.
func neighbours(c Case) []couple {
	var list []couple
	all := couple{what: "all tables", base: c, other: c}
	ports := 0
	for _, port := range c.tablePorts() {
		in := c.In[port]
		if in.Header.Class != pipeline.Private || in.Rows.NumRows() == 0 {
			continue
		}
		for i, n := range variants(in) {
			base, other := c.edited(port, n.base), c.edited(port, n.other)
			list = append(list, couple{port + ": " + n.what, base, other, n.moves})
			if i == 0 {
				all.base, all.other = all.base.edited(port, n.base), all.other.edited(port, n.other)
				ports++
			}
		}
	}
	if ports > 1 {
		list = append(list, all)
	}
	return list
}

// inTurn returns what an ordinary run of the tests takes of the neighbours: all where a stage pays for noise,
// else a third, or as many as it takes for the cases of a kind to meet all of them together.
func (c Case) inTurn(all []couple) []couple {
	_, plan, err := c.planned()
	if stattest.Long || err != nil || len(plan) > 0 || len(all) <= 3 {
		return all
	}
	step := max(1, min(c.beside, 3))
	var some []couple
	for i := c.place % step; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// edited returns the case with other lines of the table at a port, the case itself where they are all as they were.
func (c Case) edited(port string, lines []line) Case {
	in := c.In[port]
	if slices.Equal(lines, keepAll(int(in.Rows.NumRows()))) {
		return c
	}
	return c.withRows(port, edited(in, lines))
}

// variant is two versions of one table.
type variant struct {
	what        string
	base, other []line
	moves       bool
}

// variants lists neighbours of a table under its stability and adjacency.
func variants(in Input) []variant {
	n := int(in.Rows.NumRows())
	s := in.Header.Stability
	switch {
	case s.Spread == pipeline.SpreadShards:
		return shardVariants(in, n)
	case in.Header.Terms.Adjacency == privacy.AddRemove:
		return removeVariants(in, n, max(1, s.N))
	}
	return replaceVariants(in, n, max(1, s.N))
}

// replaceVariants change the rows of one unit in place, each time to another style.
func replaceVariants(in Input, n, c int) []variant {
	groups := [][]int{unitRows(in, n-1, c), unitRows(in, 0, c), unitRows(in, n/2, c)}
	var list []variant
	for i, dest := range neighbour.Styles() {
		group := groups[i%len(groups)]
		list = append(list, variant{what: fmt.Sprintf("rows %v replaced (%s)", group, dest), base: keepAll(n),
			other: change(n, group, dest)})
	}
	return append(list, opposite(n, groups[0]))
}

// opposite goes from one end of the domain to the other: what a bound on the
// difference of two contributions needs to be reached.
func opposite(n int, group []int) variant {
	return variant{what: fmt.Sprintf("%d rows from end to end", len(group)), base: change(n, group, neighbour.Low),
		other: change(n, group, neighbour.High)}
}

func change(n int, group []int, dest neighbour.Style) []line {
	lines := keepAll(n)
	for _, row := range group {
		lines[row].to = dest
	}
	return lines
}

// removeVariants add or remove the rows of one unit: the last, so that all others keep
// their place, and then others (moveVariants).
func removeVariants(in Input, n, c int) []variant {
	group := unitRows(in, n-1, c)
	others := linesExcept(n, group)
	whole := slices.Clone(others)
	for _, row := range group {
		whole = append(whole, line{row: row})
	}
	list := []variant{{what: fmt.Sprintf("rows %v removed", group), base: whole, other: others},
		{what: "the only unit removed", base: whole[len(others):]}}
	for _, to := range neighbour.Styles() {
		list = append(list, variant{what: fmt.Sprintf("%d rows added (%s)", c, to), base: keepAll(n), other: added(n, c, to)})
	}
	return append(list, moveVariants(in, n, c)...)
}

// added puts c rows of one new unit behind the last.
func added(n, c int, dest neighbour.Style) []line {
	lines := keepAll(n)
	for i := range c {
		lines = append(lines, line{(n - 1 + i) % n, dest})
	}
	return lines
}

// shardVariants change all of one shard; its rows go where their number is private.
// The unit of the first row goes too: the rows of all other shards then move.
func shardVariants(in Input, n int) []variant {
	shards := texts(in, pipeline.ShardColumn)
	group := shardRows(shards, n-1)
	var list []variant
	for _, to := range neighbour.Styles() {
		list = append(list, variant{what: fmt.Sprintf("shard %s changed (%s)", shards[n-1], to), base: keepAll(n),
			other: change(n, group, to)})
	}
	list = append(list, opposite(n, group), variant{what: fmt.Sprintf("shard %s changed", shards[0]), base: keepAll(n),
		other: change(n, shardRows(shards, 0), neighbour.High)})
	if in.Header.Rows == 0 {
		list = append(list, variant{what: fmt.Sprintf("shard %s removed", shards[n-1]), base: keepAll(n),
			other: linesExcept(n, group)},
			variant{what: fmt.Sprintf("shard %s grows", shards[n-1]), base: keepAll(n), other: append(keepAll(n),
				line{n - 1, neighbour.High}, line{n - 1, neighbour.Low})},
			variant{what: fmt.Sprintf("shard %s removed", shards[0]), base: keepAll(n),
				other: linesExcept(n, shardRows(shards, 0)),
				moves: true},
			variant{what: fmt.Sprintf("shard %s grows at its beginning", shards[0]), base: keepAll(n),
				other: inserted(keepAll(n), 0, 1, neighbour.High), moves: true})
	}
	return list
}

// shardRows lists the rows of the shard that has the given one.
func shardRows(shards []string, row int) (group []int) {
	for i := range shards {
		if shards[i] == shards[row] {
			group = append(group, i)
		}
	}
	return group
}

// unitRows lists the rows of the unit that has the given row, or c rows up to it
// where each row is a unit.
func unitRows(in Input, row, c int) []int {
	var rows []int
	units := texts(in, in.Header.Terms.Unit.Column)
	for i := range int(in.Rows.NumRows()) {
		if units != nil && units[i] == units[row] || units == nil && (i <= row && i > row-c || row < c && i < c) {
			rows = append(rows, i)
		}
	}
	return rows[:min(len(rows), max(c, 1))]
}

// texts returns the values of a column; nil where there is none.
func texts(in Input, column string) []string { return textsOf(in.Rows, column) }

// checkNeighbours checks that with the mechanisms' outputs frozen, nothing that anyone else may
// see differs between couples, what goes into a mechanism moves by no more than
// stated, and private tables change no further than their headers say.
func checkNeighbours(t reporter, c Case) {
	for _, n := range c.inTurn(neighbours(c)) {
		before := n.base.recorded(1)
		if before.ledger == nil {
			t.Errorf("%s: %v", n.what, before.err)
			continue
		}
		replay := before.mechanisms.Neighbour()
		current := observe(context.Background(), n.other, manner{key: 1, probe: replay})
		faults := before.differences(t, current)
		chance := draws{}
		if n.moves {
			chance = drawsOf(before.work, before.ledger.Plan, c.adjacency())
		}
		// Past the mechanisms nothing may differ, whatever fell to the rows.
		faults = append(faults, neighbour.Texts(replay.FaultsBut(chance.incomparable(c.adjacency()), c.adjacency(),
			map[string][]pipeline.Planned{"": before.ledger.Plan}))...)
		if before.err == nil && current.err == nil && !chance.secrets {
			faults = append(faults, stabilityFaults(n, before.outcome, current)...)
		}
		for _, fault := range faults {
			t.Errorf("%s: %s", n.what, fault)
		}
	}
}

// moveVariants take rows away from the beginning and the middle, and put new ones
// there: all rows behind them move up or down. A kind that looks at where a row stands
// (a public coin for each row in turn, every second row, the first twenty, the row
// before) treats many rows otherwise because of one, which changes at the end never
// show.
func moveVariants(in Input, n, c int) []variant {
	var list []variant
	for i, pos := range slices.Compact([]int{0, n / 2}) {
		group := unitRows(in, pos, c)
		list = append(list, variant{what: fmt.Sprintf("rows %v removed", group), base: keepAll(n),
			other: linesExcept(n, group),
			moves: true})
		to := neighbour.Styles()[i]
		list = append(list, variant{what: fmt.Sprintf("%d rows put before row %d (%s)", c, pos, to), base: keepAll(n),
			other: inserted(keepAll(n), pos, c, to), moves: true})
	}
	if n > 1 && texts(in, in.Header.Terms.Unit.Column) == nil { // a row copied would be one more of its unit
		twice := keepAll(n)
		twice[n/2].row = n/2 - 1
		list = append(list, variant{what: fmt.Sprintf("%d rows put between two equal ones", c), base: twice,
			other: inserted(twice, n/2, c, neighbour.Another), moves: true})
	}
	return list
}

func linesExcept(n int, group []int) []line {
	return slices.DeleteFunc(keepAll(n), func(l line) bool { return slices.Contains(group, l.row) })
}

// inserted puts c rows of one new unit before a row.
func inserted(lines []line, pos, c int, dest neighbour.Style) []line {
	added := make([]line, c)
	for i := range added {
		added[i] = line{(pos + i) % len(lines), dest}
	}
	return slices.Insert(slices.Clone(lines), pos, added...)
}

// draws says what of a case falls to each row in turn by secret chance. Where rows
// have moved it falls otherwise on both tables, and they can be compared only after
// coupling: giving each row the coin that it had. The proofs do so; a replay cannot.
type draws struct{ samples, secrets bool }

// incomparable reports of a mechanism whether its inputs are.
func (d draws) incomparable(a privacy.Adjacency) func(neighbour.Place, privacy.Mechanism) bool {
	return func(_ neighbour.Place, m privacy.Mechanism) bool {
		return d.secrets || d.samples && neighbour.Sampled(m, a)
	}
}

func drawsOf(work pipeline.Work, plan []pipeline.Planned, adjacency privacy.Adjacency) draws {
	d := draws{secrets: work.Secret}
	for _, p := range plan {
		d.samples = d.samples || neighbour.Sampled(p.Value, adjacency)
	}
	return d
}

// line is a row of an edited table: row of the old one, changed to a style.
type line struct {
	row int
	to  neighbour.Style
}

func keepAll(n int) []line {
	lines := make([]line, n)
	for i := range lines {
		lines[i].row = i
	}
	return lines
}

// edited returns a table of the given lines. Changed lines all belong to one new unit,
// and stay in their shard.
func edited(in Input, lines []line) arrow.Record {
	columns := make([]arrow.Array, in.Rows.NumCols())
	for j := range columns {
		b := array.NewBuilder(memory.DefaultAllocator, in.Rows.Column(j).DataType())
		for _, l := range lines {
			appendLine(b, in, j, l)
		}
		columns[j] = b.NewArray()
	}
	return array.NewRecord(in.Rows.Schema(), columns, int64(len(lines)))
}

func appendLine(b array.Builder, in Input, j int, l line) {
	a, d := in.Rows.Column(j), in.Header.Domain
	switch {
	case l.to == neighbour.Kept || j >= len(d.Columns): // beyond the domain: the shard
		appendValue(b, a, l.row)
	case d.Columns[j].Name == in.Header.Terms.Unit.Column:
		appendUnit(b, a, d.Columns[j])
	case l.to == neighbour.Another:
		appendValue(b, a, (l.row+1)%a.Len())
	case l.to == neighbour.Absent && d.Columns[j].Nullable:
		b.AppendNull()
	default:
		neighbour.AppendExtreme(b, d.Columns[j], l.to)
	}
}

// appendUnit names a unit that the table does not have, where the type allows it.
func appendUnit(b array.Builder, a arrow.Array, c domain.Column) {
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append("someone new")
	case *array.Int64Builder:
		most := int64(math.MinInt32)
		for i := range a.Len() {
			most = max(most, a.(*array.Int64).Value(i))
		}
		b.Append(most + 1)
	default:
		neighbour.AppendExtreme(b, c, neighbour.High)
	}
}
