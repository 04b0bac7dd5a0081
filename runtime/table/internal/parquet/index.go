package parquet

import (
	"encoding/binary"
	"errors"
)

var errFew = errors.New("a page has fewer values than it says")

// indexes reads the numbers of dictionary values of a page: runs of one number
// and packed ones by turns, each of width bits.
type indexes struct {
	buf    []byte
	width  int
	left   int64 // of the current run
	packed bool
	bit    int64 // in buf, where packed
	value  uint32
}

// newIndexes reads the width, with which the body of a page begins.
func newIndexes(body []byte) (*indexes, error) {
	if len(body) == 0 || body[0] > 32 {
		return nil, errFew
	}
	return &indexes{buf: body[1:], width: int(body[0])}, nil
}

func (x *indexes) begin() error {
	if x.packed { // step over the bytes of the run that ends here
		x.buf = x.buf[(x.bit+7)/8:]
	}
	h, n := binary.Uvarint(x.buf)
	if n <= 0 || h>>1 == 0 || h>>1 > 1<<31 {
		return errFew
	}
	x.buf, x.packed, x.bit = x.buf[n:], h&1 == 1, 0
	if x.packed {
		x.left = int64(h>>1) * 8
		if x.width > 0 {
			x.left = min(x.left, int64(len(x.buf))*8/int64(x.width))
		}
	} else {
		x.left = int64(h >> 1)
		var b [4]byte
		size := (x.width + 7) / 8
		if copy(b[:size], x.buf) < size {
			return errFew
		}
		x.value, x.buf = binary.LittleEndian.Uint32(b[:]), x.buf[size:]
	}
	if x.left == 0 {
		return errFew
	}
	return nil
}

// next reads as many numbers as to holds.
func (x *indexes) next(to []uint32) error {
	for len(to) > 0 {
		if x.left == 0 {
			if err := x.begin(); err != nil {
				return err
			}
		}
		n := min(int64(len(to)), x.left)
		for i := range to[:n] {
			if x.packed {
				to[i] = x.unpack()
			} else {
				to[i] = x.value
			}
		}
		to, x.left = to[n:], x.left-n
	}
	return nil
}

func (x *indexes) unpack() uint32 {
	at, shift := x.bit/8, x.bit%8
	x.bit += int64(x.width)
	var word uint64
	if rest := x.buf[at:]; len(rest) >= 8 {
		word = binary.LittleEndian.Uint64(rest)
	} else {
		var b [8]byte
		copy(b[:], rest)
		word = binary.LittleEndian.Uint64(b[:])
	}
	return uint32(word >> shift & (1<<x.width - 1))
}
