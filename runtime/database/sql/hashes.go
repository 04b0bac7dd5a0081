package sql

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/pipeline/relation"
)

// Meant is what a column of rows as they are read holds.
type Meant struct {
	Name  string
	Of    relation.Type
	Names []string // of Code: what each code stands for
}

// Hashes prints a SELECT of the least hashes of the distinct rows of a table, at most the given number, ascending: a
// bottom-k sketch, by which tables that share rows are found. rows is a SELECT of the columns s0, s1, ... in the types
// of Meant.
//
// A row's hash is the first 60 bits of the MD5 of what its cells mean: a number W,P as in docs/design/units.md, whole
// ones, and categories that spell a number, among them; any other text the hexadecimal form of its bytes; a missing
// cell -. They stand in the order of the columns' names and are joined by ; behind a digest of these names. So neither
// stored types, nor the order of columns, rows or categories change it. Whole numbers beyond 2^53 are exact.
//
// The hash has no key, since one would stand in the server's log: whoever sees it can test what he takes a whole row to
// be. It goes to the owner's side alone.
func (d Dialect) Hashes(rows string, columns []Meant, most int) string {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(columns[a].Name, columns[b].Name) })
	names, texts := make([]string, len(order)), make([]string, len(order))
	for at, i := range order {
		names[at], texts[at] = strconv.Quote(columns[i].Name), d.meaning(i, columns[i])
	}
	of := sha256.Sum256([]byte(strings.Join(names, ",")))
	text := "'" + hex.EncodeToString(of[:8]) + ";' || " + strings.Join(texts, " || ';' || ")
	hash := d.piece.fill("substr(" + d.md5.fill("code") + ", 1, 15)")
	return "SELECT DISTINCT 0 AS first, h FROM (SELECT " + hash + " AS h FROM (SELECT " + text + " AS code FROM (" +
		rows + d.fence +
		") AS base" + d.fence + ") AS coded" + d.fence + ") AS hashed ORDER BY h LIMIT " + strconv.Itoa(most)
}

// meaning returns the text of what a cell of a column means.
func (d Dialect) meaning(pos int, c Meant) string {
	e := fmt.Sprintf("s%d", pos)
	if c.Of == relation.Whole {
		return "coalesce(" + d.asText.fill(e) + " || ',0', '-')"
	}
	if c.Of != relation.Code {
		return d.code(pos, c.Of)
	}
	cases := make([]string, len(c.Names))
	for code, name := range c.Names {
		cases[code] = fmt.Sprintf("WHEN %d THEN '%s'", code, meaningOf(name))
	}
	return "coalesce(" + matched(e, cases) + ", '-')"
}

// meaningOf returns the text of a category: of the number that it spells, or of its bytes.
func meaningOf(name string) string {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return strconv.FormatInt(n, 10) + ",0"
	}
	if x, err := strconv.ParseFloat(name, 64); err == nil && math.Abs(x) <= relation.Exact {
		whole := math.Trunc(x)
		return fmt.Sprintf("%d,%d", int64(whole), int64((x-whole)*relation.Exact))
	}
	return hex.EncodeToString([]byte(name))
}

// Hashes prints the statement over the rows of the stored table, all of them: those that a cap leaves out too.
func (b Base) Hashes(d Dialect, most int) string {
	columns := make([]Meant, len(b.columns))
	for i, c := range b.columns {
		columns[i] = Meant{c.Name, c.Of, c.Names}
	}
	return d.Hashes(b.every, columns, most)
}

// HashCells is how many cells a row of Hashes has.
const HashCells = 2

// Hashed takes the rows of Hashes.
type Hashed struct {
	list []uint64
	most int
}

// NewHashed takes so many rows at most.
func NewHashed(most int) *Hashed { return &Hashed{most: most} }

// Add takes a row of the answer.
func (h *Hashed) Add(row []string) error {
	if len(row) != HashCells || len(h.list) == h.most {
		return errAnswer
	}
	n, err := strconv.ParseUint(row[1], 10, 60)
	if err != nil || len(h.list) > 0 && n<<4 <= h.list[len(h.list)-1] {
		return errAnswer
	}
	h.list = append(h.list, n<<4)
	return nil
}

// List returns the hashes, ascending, each over all 64 bits.
func (h *Hashed) List() []uint64 { return h.list }
