package table

import (
	"bytes"
	"errors"
	"io"
)

const (
	// chunkBytes is what is read at a time; a chunk ends with a record.
	chunkBytes = 8 << 20
	// maxRecord bounds one record, and with it what an unclosed quote can eat.
	maxRecord = 16 << 20
)

// errLong is turned into a problem with its line by who reads.
var errLong = errors.New("a record is longer than 16 MiB; accepted: shorter records (is a quote never closed, or do lines end with CR alone?)")

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
