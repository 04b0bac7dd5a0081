package parquet

import (
	"encoding/binary"
	"fmt"
)

// levels says which cells of a page are there: the definition levels of a column
// that is not nested, runs of equal bits and packed ones by turns. They are not
// spread out before they are read, so that a header cannot ask for memory.
type levels struct {
	buf    []byte
	left   int64 // values of the current run
	packed bool
	bit    int  // of buf[0], where packed
	there  bool // all of the run, where not
	all    bool // the column has no levels: nothing is missing
}

// begin reads the header of the next run.
func (l *levels) begin() error {
	h, n := binary.Uvarint(l.buf)
	if n <= 0 || h>>1 == 0 || len(l.buf) == n || h>>1 > 1<<31 {
		return errLevels
	}
	l.buf, l.packed, l.bit = l.buf[n:], h&1 == 1, 0
	if l.packed {
		// The last group may be cut off where no value needs it.
		l.left = min(int64(h>>1), int64(len(l.buf))) * 8
		return nil
	}
	if l.buf[0] > 1 {
		return errLevels
	}
	l.left, l.there = int64(h>>1), l.buf[0] == 1
	l.buf = l.buf[1:]
	return nil
}

var errLevels = fmt.Errorf("a page says wrongly which of its cells are missing")

// next reads n levels into to, if to is not nil, and returns how many cells are there.
func (l *levels) next(to []bool, n int64) (there int64, err error) {
	if l.all {
		for i := range to {
			to[i] = true
		}
		return n, nil
	}
	for at := int64(0); at < n; {
		if l.left == 0 {
			if err := l.begin(); err != nil {
				return 0, err
			}
		}
		m := min(n-at, l.left)
		if to == nil {
			there += l.take(nil, m)
		} else {
			there += l.take(to[at:at+m], m)
		}
		at += m
	}
	return there, nil
}

// take reads m levels of the current run.
func (l *levels) take(to []bool, m int64) (there int64) {
	l.left -= m
	if !l.packed {
		for i := range to {
			to[i] = l.there
		}
		if l.there {
			return m
		}
		return 0
	}
	for i := range m {
		is := l.buf[0]>>l.bit&1 == 1
		if is {
			there++
		}
		if to != nil {
			to[i] = is
		}
		if l.bit++; l.bit == 8 {
			l.buf, l.bit = l.buf[1:], 0
		}
	}
	return there
}
