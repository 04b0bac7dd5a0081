package table

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// parser turns chunks into records; it is used by one goroutine at a time.
type parser struct {
	table    *csvTable
	lexer    *lexer
	columns  []builder // see newBuilders
	problems problems
}

func newParser(t *csvTable) *parser {
	return &parser{table: t, lexer: newLexer(t.dialect)}
}

// chunk parses whole records. The result holds a record, or problems.
func (p *parser) chunk(c chunk) result {
	p.problems = problems{file: p.table.name, unit: "line"}
	room := min(bytes.Count(c.data, []byte{'\n'})+1, p.table.options.BatchRows)
	p.columns = newBuilders(p.table.domain, p.table.dialect, room)
	p.lexer.buf, p.lexer.line = c.data, c.line
	rows := int64(0)
	if p.encoded(c) {
		rows = p.records(p.start(c))
	}
	return p.result(rows)
}

func (p *parser) result(rows int64) result {
	if len(p.problems.list) > 0 || rows == 0 {
		return result{problems: p.problems}
	}
	arrays := make([]arrow.Array, len(p.columns))
	for i, b := range p.columns {
		arrays[i] = b.finish()
	}
	return result{record: array.NewRecord(p.table.schema, arrays, rows)}
}

// encoded checks the encoding of a whole chunk, which is faster than by value.
func (p *parser) encoded(c chunk) bool {
	d := p.table.dialect
	place := d.unreadable(c.data)
	if place < 0 {
		return true
	}
	p.problems.add(c.lineAt(place), "", d.encodingRule())
	p.problems.fatal = true
	return false
}

// start steps over the header in the first chunk.
func (p *parser) start(c chunk) int {
	header := p.table.header
	if !c.first || header == "" {
		return 0
	}
	if !bytes.HasPrefix(c.data, []byte(header)) {
		p.problems.add(1, "", "is another header than when the file was opened: the file changed")
		p.problems.fatal = true
		return len(c.data)
	}
	p.lexer.line += int64(bytes.Count([]byte(header), []byte{'\n'}))
	return len(header)
}

// records parses from pos to the end of the chunk.
func (p *parser) records(pos int) (rows int64) {
	x := p.lexer
	for !p.problems.full() {
		pos = x.skip(pos)
		if pos >= len(x.buf) {
			return rows
		}
		pos = p.record(pos)
		rows++
	}
	return rows
}

// record parses one record and returns the position after it.
func (p *parser) record(pos int) int {
	x, line := p.lexer, p.lexer.line
	for i := 0; ; i++ {
		v, end, rule := x.value(pos)
		if rule != "" {
			p.problems.add(line, p.name(i), rule)
			p.problems.fatal = true
			return len(x.buf)
		}
		if i < len(p.table.layout) && p.table.layout[i] >= 0 {
			p.cell(line, i, v, end)
		}
		if x.atEnd(end) {
			x.line++
			if i+1 != len(p.table.layout) {
				p.problems.add(line, "", fmt.Sprintf("has %d values where the file has %d columns", i+1, len(p.table.layout)))
			}
			return end + 1
		}
		pos = end + 1
	}
}

func (p *parser) cell(line int64, i int, v []byte, end int) {
	if i == len(p.table.layout)-1 && len(p.table.dialect.suffix) > 0 {
		v = p.lexer.finish(bytes.TrimSuffix(v, p.table.dialect.suffix), end)
	}
	if rule := p.columns[p.table.layout[i]].add(v); rule != "" {
		p.problems.add(line, p.name(i), rule)
	}
}

// name returns the declared name of column i of the file.
func (p *parser) name(i int) string {
	if i >= len(p.table.layout) || p.table.layout[i] < 0 {
		return ""
	}
	return p.table.domain.Columns[p.table.layout[i]].Name
}
