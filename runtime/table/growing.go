package table

import "github.com/apache/arrow/go/v15/arrow/memory"

// Growing allocates the buffers of Arrow so that one that grows a little at a time is
// seldom copied: a quarter more than is asked for is kept in hand.
//
// Why: the Parquet writer of Arrow 15 asks for a buffer some bytes larger at each run
// of levels of a nullable column (encoding.PooledBufferWriter.Reserve adds its offset
// to the capacity every time), and Go's allocator copies all of it each time: two
// thirds of the time of a column with missing values. What is written is the same.
// The pool of those buffers knows no other allocator than memory.DefaultAllocator, so a
// program sets that before it starts anything. The kernels of arrow/compute take what is
// in hand for a part of the buffer and must have another allocator.
type Growing struct{ memory.Allocator }

// Reallocate gives b size bytes, with the old ones in front.
func (g Growing) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	larger := g.Allocate(size + size/4)[:size]
	copy(larger, b)
	return larger
}
