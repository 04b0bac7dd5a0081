package table

import (
	"bytes"
	"errors"
	"io"
)

// Rules that a lexer finds broken.
const (
	ruleBareQuote = "holds a quote inside an unquoted value; accepted: a value quoted as a whole, with inner quotes " +
		"doubled"
	ruleAfter     = "has text after its closing quote; accepted: the delimiter or the end of the line"
	ruleOpenQuote = "opens a quote that is never closed"
	ruleNUL       = "holds a NUL byte; accepted: UTF-8 text"
)

// lexer cuts records into values. Values point into buf, or into scratch where
// a doubled quote had to be undone; they live until the next call.
type lexer struct {
	*dialect
	stop    [256]bool // bytes that end the plain scan of an unquoted value
	buf     []byte
	scratch []byte
	line    int64 // of the current position, from 1
}

func newLexer(d *dialect) *lexer {
	x := &lexer{dialect: d}
	for _, c := range []byte{d.delim, d.quote, '\n', 0} {
		x.stop[c] = true
	}
	return x
}

// skip moves over blank and comment lines. A blank line is not a record where
// records have several values; in a table of one column it is a missing value
// only if it is quoted.
func (x *lexer) skip(p int) int {
	for p < len(x.buf) {
		if x.buf[p] == '\n' {
			p++
			x.line++
			continue
		}
		rest := x.buf[p:]
		if !x.commented(rest) && !x.blank(rest) {
			return p
		}
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			return len(x.buf)
		}
		p += n + 1
		x.line++
	}
	return p
}

func (x *lexer) commented(rest []byte) bool {
	return len(x.comment) > 0 && bytes.HasPrefix(rest, x.comment)
}

func (x *lexer) blank(rest []byte) bool {
	i := 0
	if x.trim {
		for i < len(rest) && rest[i] == ' ' {
			i++
		}
	}
	if i < len(rest) && rest[i] == '\r' {
		i++
	}
	return i == len(rest) || rest[i] == '\n'
}

// value reads the value at p and returns it with the position of what ended
// it: a delimiter, a newline, or the end of buf. A broken rule is fatal.
func (x *lexer) value(p int) (v []byte, end int, rule string) {
	buf := x.buf
	if x.trim {
		for p < len(buf) && buf[p] == ' ' {
			p++
		}
	}
	i := p
	for i < len(buf) && !x.stop[buf[i]] {
		i++
	}
	if i < len(buf) && buf[i] != x.delim && buf[i] != '\n' {
		return x.special(p, i)
	}
	return x.finish(buf[p:i], i), i, ""
}

// finish drops a carriage return before a line's end, and blanks.
func (x *lexer) finish(v []byte, end int) []byte {
	if n := len(v); n > 0 && v[n-1] == '\r' && (end == len(x.buf) || x.buf[end] == '\n') {
		v = v[:n-1]
	}
	if x.trim {
		for n := len(v); n > 0 && v[n-1] == ' '; n = len(v) {
			v = v[:n-1]
		}
	}
	return v
}

func (x *lexer) special(p, i int) ([]byte, int, string) {
	if x.buf[i] == 0 {
		return nil, i, ruleNUL
	}
	if i != p {
		return nil, i, ruleBareQuote
	}
	return x.quoted(p + 1)
}

func (x *lexer) quoted(p int) ([]byte, int, string) {
	buf, start := x.buf, p
	x.scratch = x.scratch[:0]
	for {
		n := bytes.IndexByte(buf[p:], x.quote)
		if n < 0 {
			return nil, len(buf), ruleOpenQuote
		}
		p += n + 1
		if p == len(buf) || buf[p] != x.quote {
			break
		}
		x.scratch = append(x.scratch, buf[start:p]...)
		p++
		start = p
	}
	v := buf[start : p-1]
	if len(x.scratch) > 0 {
		x.scratch = append(x.scratch, v...)
		v = x.scratch
	}
	return x.close(v, p)
}

// close checks what follows a closing quote.
func (x *lexer) close(v []byte, p int) ([]byte, int, string) {
	if bytes.IndexByte(v, 0) >= 0 {
		return nil, p, ruleNUL
	}
	x.line += int64(bytes.Count(v, []byte{'\n'}))
	for x.trim && p < len(x.buf) && x.buf[p] == ' ' {
		p++
	}
	if p < len(x.buf) && x.buf[p] == '\r' && (p+1 == len(x.buf) || x.buf[p+1] == '\n') {
		p++
	}
	if p < len(x.buf) && x.buf[p] != x.delim && x.buf[p] != '\n' {
		return nil, p, ruleAfter
	}
	return v, p, ""
}

// atEnd reports whether a record ends at p.
func (x *lexer) atEnd(p int) bool { return p >= len(x.buf) || x.buf[p] == '\n' }

const (
	// chunkBytes is what is read at a time; a chunk ends with a record.
	chunkBytes = 8 << 20
	// maxRecord bounds one record, and with it what an unclosed quote can eat.
	maxRecord = 16 << 20
)

// errLong is turned into a problem with its line by who reads.
var errLong = errors.New("a record is longer than 16 MiB; accepted: shorter records (is a quote never closed, or do " +
	"lines end with CR alone?)")

// chunk is a run of whole records. Where chunks begin depends on the content
// alone, so that batches are the same on every machine.
type chunk struct {
	data  []byte
	line  int64 // of its first byte
	first bool
}

// splitter cuts a text into chunks of at most rows records.
type splitter struct {
	r     io.Reader
	d     *dialect
	rows  int
	size  int
	rest  []byte // read, but after the last chunk
	line  int64
	end   bool
	begun bool
}

func newSplitter(r io.Reader, d *dialect, rows, size int) *splitter {
	return &splitter{r: r, d: d, rows: rows, size: size, line: 1}
}

// next fills buf (grown as needed) with the next chunk; io.EOF after the last.
// How much is read before a chunk is cut does not depend on buf's capacity.
func (s *splitter) next(buf []byte) (chunk, error) {
	buf = append(buf[:0], s.rest...)
	for limit := s.size; ; limit = min(2*limit, maxRecord) {
		var err error
		if buf, err = s.fill(buf, limit); err != nil {
			return chunk{}, err
		}
		if n, lines := s.cut(buf); n > 0 {
			return s.emit(buf, n, lines), nil
		}
		if len(buf) == 0 {
			return chunk{}, io.EOF
		}
		if len(buf) >= maxRecord {
			return chunk{}, errLong
		}
	}
}

// fill reads until buf holds limit bytes or the text ends. Capacity begins
// small, for the sake of small files.
func (s *splitter) fill(buf []byte, limit int) ([]byte, error) {
	for !s.end && len(buf) < limit {
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(max(2*cap(buf), 1<<14), limit)), buf...)
		}
		n, err := s.r.Read(buf[len(buf):min(cap(buf), limit)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			s.end = true
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

func (s *splitter) emit(buf []byte, n int, lines int64) chunk {
	c := chunk{data: buf[:n], line: s.line, first: !s.begun}
	s.begun = true
	s.rest = append(s.rest[:0], buf[n:]...)
	s.line += lines
	return c
}

// cut finds the end of the last whole record among the first rows ones, and
// counts lines. A record ends at a newline before which quotes are even in
// number; comment lines are outside of that.
func (s *splitter) cut(buf []byte) (end int, lines int64) {
	quotes := bytes.IndexByte(buf, s.d.quote) >= 0
	odd, pos, pending := false, 0, int64(0)
	for rows := 0; rows < s.rows; {
		n := bytes.IndexByte(buf[pos:], '\n')
		if n < 0 {
			if s.end {
				return len(buf), lines + pending
			}
			return end, lines
		}
		line := buf[pos : pos+n]
		if quotes && (odd || !s.comment(line)) && bytes.Count(line, []byte{s.d.quote})%2 == 1 {
			odd = !odd
		}
		pos += n + 1
		pending++
		if !odd {
			end, lines, pending = pos, lines+pending, 0
			rows++
		}
	}
	return end, lines
}

func (s *splitter) comment(line []byte) bool {
	return len(s.d.comment) > 0 && bytes.HasPrefix(line, s.d.comment)
}
