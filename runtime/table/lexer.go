package table

import "bytes"

// Rules that a lexer finds broken.
const (
	ruleBareQuote = "holds a quote inside an unquoted value; accepted: a value quoted as a whole, with inner quotes doubled"
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

// skip moves over blank and comment lines. A blank line is no record where
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
