package sql

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// counting is how an engine counts best.
type counting struct {
	joint int // most combinations that are counted at once for several keys; 0: each key on its own
	batch int // most keys on their own, or joint counts, of a statement
	// spread prints rows (k, v, n) for the number and SQL of each key, from rows with a count n.
	spread func(keys [][2]string, from string) string
	// rows prints a SELECT of rows (p, s0), places and values, of which nothing is computed before it runs.
	rows func(literals []string) string
}

// longest is the most bytes of a statement that several keys share.
const longest = 1 << 20

// postgresCounting counts jointly: a GROUP BY costs it some 0.25 us a row.
func postgresCounting() counting {
	return counting{joint: 1 << 15, batch: 1, rows: tuples, spread: func(keys [][2]string, source string) string {
		var list []string
		for _, k := range keys {
			list = append(list, "("+k[0]+", "+k[1]+")")
		}
		return "SELECT u.k, u.v, x.n FROM " + source +
			" CROSS JOIN LATERAL (VALUES " + strings.Join(list, ", ") + ") AS u(k, v)"
	}}
}

// duckdbCounting counts each key on its own: measured, that is two to three times as fast as jointly.
func duckdbCounting() counting { return counting{batch: 64, rows: tuples} }

func sparkCounting() counting {
	return counting{joint: 1 << 15, batch: 12, spread: func(keys [][2]string, source string) string {
		var list []string
		for _, k := range keys {
			list = append(list, k[0]+", "+k[1])
		}
		return "SELECT stack(" + strconv.Itoa(len(keys)) + ", " + strings.Join(list, ", ") + ") AS (k, v), n FROM " + source
	}, rows: func(literals []string) string {
		return "SELECT CAST(id AS INT) AS p, element_at(array(" + strings.Join(literals, ", ") +
			"), CAST(id + 1 AS INT)) AS s0 FROM range(" + strconv.Itoa(len(literals)) + ")"
	}}
}

// tuples returns a table of constants.
func tuples(literals []string) string {
	list := make([]string, len(literals))
	for i, x := range literals {
		list[i] = "(" + strconv.Itoa(i) + ", " + x + ")"
	}
	return "SELECT v.p, v.s0 FROM (VALUES " + strings.Join(list, ", ") + ") AS v(p, s0)"
}

// Count prints statements that count the rows of a kept table, whose columns are named c0, c1, ..., by keys. Each
// answers rows of the number of a key, a value and how many rows have it, which is never 0; keys come in no order, and
// a key's values come from one statement.
func (d Dialect) Count(copyPath string, keys []relation.Key) ([]string, error) {
	var parts []string
	for _, g := range d.groups(keys) {
		part, err := d.group(copyPath, keys, g)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return d.batches(parts), nil
}

// batches joins parts to statements.
func (d Dialect) batches(parts []string) (list []string) {
	n, size := 0, 0
	for i, part := range parts {
		if i > 0 && n < d.batch && size+len(part) < longest {
			list[len(list)-1] += " UNION ALL " + part
			n, size = n+1, size+len(part)
			continue
		}
		list = append(list, part)
		n, size = 1, len(part)
	}
	return list
}

// leaf is a whole number of a key that follows from one column.
type leaf struct {
	relation.Expr
	name string // the same for equal leaves
	size float64
}

// leavesOf returns the leaves that an expression is made of: of what follows from one column, the part with the fewest
// values.
func leavesOf(e relation.Expr) (list []leaf) {
	parts := 1.0
	for _, operand := range relation.Operands(e) {
		for _, one := range leavesOf(operand) {
			list, parts = append(list, one), parts*one.size
		}
	}
	if columns(e) > 1 || e.Type() != relation.Whole && e.Type() != relation.Code {
		return list
	}
	least, greatest := e.Span()
	size := float64(greatest) + 1
	if least < 0 {
		size = math.Inf(1)
	}
	if size < parts || len(list) == 0 && columns(e) == 1 {
		return []leaf{{e, identity(e), size}}
	}
	return list
}

// columns returns the number of columns that an expression reads; 2 stands for more.
func columns(e relation.Expr) int {
	seen := map[int]bool{}
	var walk func(relation.Expr)
	walk = func(e relation.Expr) {
		if c, is := e.(relation.Column); is {
			seen[c.At] = true
		}
		for _, operand := range relation.Operands(e) {
			walk(operand)
		}
	}
	walk(e)
	return len(seen)
}

// group is keys that are counted at once, by the combinations of their leaves.
type group struct {
	keys   []int
	leaves []leaf
}

// groups covers keys by joint counts, greedily: the first key that is left, and leaf by leaf the one by which most
// others are counted too, for its size. A key of more combinations than the engine's limit is counted on its own.
func (d Dialect) groups(keys []relation.Key) (list []group) {
	terms, left := make([][]leaf, len(keys)), make([]bool, len(keys))
	for i, k := range keys {
		terms[i], left[i] = leavesOf(k.Expr), true
	}
	for i := range keys {
		if !left[i] {
			continue
		}
		g := joint{leaves: map[string]leaf{}, size: 1}
		g.add(terms[i]...)
		for g.size <= float64(d.joint) && g.grow(float64(d.joint), terms, left) {
		}
		one := group{leaves: g.list}
		for j := range keys {
			if left[j] && (j == i || g.size <= float64(d.joint) && g.hasRoom(terms[j], nil)) {
				one.keys, left[j] = append(one.keys, j), false
			}
		}
		list = append(list, one)
	}
	return list
}

// joint is leaves whose combinations are counted.
type joint struct {
	leaves map[string]leaf
	list   []leaf
	size   float64 // combinations
}

func (g *joint) add(leaves ...leaf) {
	for _, one := range leaves {
		if _, is := g.leaves[one.name]; !is {
			g.leaves[one.name], g.list, g.size = one, append(g.list, one), g.size*one.size
		}
	}
}

// hasRoom reports whether a key is counted by the joint with one more leaf.
func (g *joint) hasRoom(key []leaf, more *leaf) bool {
	for _, one := range key {
		if _, is := g.leaves[one.name]; !is && (more == nil || one.name != more.name) {
			return false
		}
	}
	return true
}

// grow adds the leaf that is worth most, if there is one.
func (g *joint) grow(most float64, of [][]leaf, left []bool) bool {
	gain, seen := map[string]float64{}, map[string]leaf{}
	for i, key := range of {
		if !left[i] {
			continue
		}
		for _, one := range key {
			if _, is := g.leaves[one.name]; !is && g.size*one.size <= most && g.hasRoom(key, &one) {
				gain[one.name] += 1 / float64(bits.Len64(uint64(one.size)))
				seen[one.name] = one
			}
		}
	}
	best := ""
	for name, worth := range gain {
		if best == "" || worth > gain[best] || worth == gain[best] && name < best {
			best = name
		}
	}
	if best != "" {
		g.add(seen[best])
	}
	return best != ""
}

// group prints what counts the keys of a group.
func (d Dialect) group(copyPath string, keys []relation.Key, g group) (string, error) {
	if len(g.keys) == 1 {
		return d.one(copyPath, g.keys[0], keys[g.keys[0]].Expr)
	}
	p := newPrinter(d, d.keptColumn, nil)
	codes, decoded, stride := make([]string, len(g.leaves)), make([]string, len(g.leaves)), 1
	inside := newPrinter(d, d.keptColumn, nil)
	inside.known = map[string]piece{}
	for i, one := range g.leaves {
		codes[i] = p.keptWhole(one.Expr) + " * " + strconv.Itoa(stride) // below the limit of joint, in whatever width
		place := "(x.code " + d.quotient + " " + strconv.Itoa(stride) + ") % " + strconv.Itoa(int(one.size))
		decoded[i] = d.toWhole.fill(place) + " AS g" + strconv.Itoa(i)
		inside.known[one.name] = literal("x.g" + strconv.Itoa(i))
		stride *= int(one.size)
	}
	code := strings.Join(codes, " + ")
	source := "(SELECT CAST(" + code + " AS " + d.integer + ") AS code FROM " + p.fromClause(copyPath+" AS x", code) +
		") AS x"
	source = d.nested("SELECT x.code, count(*) AS n FROM " + source + " GROUP BY x.code")
	source = d.nested("SELECT " + strings.Join(decoded, ", ") + ", x.n FROM " + source)
	var list [][2]string
	outer := ""
	for _, i := range g.keys {
		key := inside.expr(keys[i].Expr).sql
		list, outer = append(list, [2]string{strconv.Itoa(i), key}), outer+" "+key
	}
	source = d.nested(d.spread(list, inside.fromClause(source, outer, "n")))
	counts := "SELECT x.k, x.v, " + d.toWhole.fill("sum(x.n)") + " AS n FROM " + source + " GROUP BY x.k, x.v"
	return counts, errors.Join(p.err, inside.err)
}

// one prints what counts one key.
func (d Dialect) one(copyPath string, pos int, key relation.Expr) (string, error) {
	p := newPrinter(d, d.keptColumn, nil)
	value := p.keptWhole(key)
	return "SELECT " + strconv.Itoa(pos) + " AS k, x.v, count(*) AS n FROM (SELECT " + value + " AS v FROM " +
		p.fromClause(copyPath+" AS x", value) + ") AS x GROUP BY x.v", p.err
}

// keptWhole prints an expression over kept columns; a column alone is as narrow as it is kept.
func (p *printer) keptWhole(e relation.Expr) string {
	if c, is := e.(relation.Column); is {
		return "x.c" + strconv.Itoa(c.At)
	}
	return p.expr(e).sql
}

// identity returns the same text for equal expressions.
func identity(e relation.Expr) string { return fmt.Sprintf("%#v", e) }
