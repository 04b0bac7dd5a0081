package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// ErrEncrypted names a file that only its owner's keys can open.
var ErrEncrypted = errors.New("is encrypted Parquet, which is not read; accepted: Parquet that is not encrypted")

// readFooter reads the index of a file of size bytes. The library makes room for
// whatever an index claims to hold, so its form is checked first.
func readFooter(r io.ReaderAt, size int64) (*metadata.FileMetaData, error) {
	var end [8]byte
	if size < 12 {
		return nil, errors.New("is not a whole Parquet file")
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, UnreadableError{err}
	}
	switch string(end[4:]) {
	case "PARE":
		return nil, ErrEncrypted
	case "PAR1":
	default:
		return nil, errors.New("is not a whole Parquet file (gzip around it is not read): it ends without its index")
	}
	n := int64(binary.LittleEndian.Uint32(end[:]))
	if n > size-12 {
		return nil, errors.New("is a damaged Parquet file: its index is larger than the file")
	}
	b := make([]byte, n)
	if _, err := r.ReadAt(b, size-8-n); err != nil {
		return nil, UnreadableError{err}
	}
	if err := soundFooter(b); err != nil {
		return nil, err
	}
	meta, err := metadata.NewFileMetaData(b, nil)
	if err != nil {
		return nil, errors.New("is a damaged Parquet file: its index cannot be read")
	}
	return meta, nil
}

// soundFooter walks through an index without making anything of it.
func soundFooter(b []byte) error {
	t, deep, locked := &thrift{buf: b}, false, false
	t.each(0, func(id int64, kind byte) bool {
		if id == 8 { // the algorithm of encryption, where the index itself is plain
			locked = true
		}
		if id != 2 || kind != thriftList {
			return false
		}
		deep = t.deep()
		return true
	})
	switch {
	case t.bad:
		return errors.New("is a damaged Parquet file: its index cannot be read")
	case deep:
		return fmt.Errorf("is a Parquet file whose columns lie more than %d deep in each other", maxNesting)
	case locked:
		return ErrEncrypted
	}
	return nil
}

// deep reads the schema, a list of nodes that each say how many of those behind
// them are theirs, and reports whether they nest deeper than a call may go.
func (t *thrift) deep() bool {
	e := t.elements(thriftList)
	open := []int64{1} // nodes still to come, by level
	for range t.count(e.n) {
		children := int64(0)
		t.each(1, func(id int64, kind byte) bool {
			if id != 5 || kind <= thriftByte || kind >= thriftDouble {
				return false
			}
			children = t.int()
			return true
		})
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
		if len(open) == 0 || t.bad {
			return false // the library refuses nodes that belong to none
		}
		if open[len(open)-1]--; children > 0 {
			open = append(open, children)
		}
		if len(open) > maxNesting {
			return true
		}
	}
	return false
}
