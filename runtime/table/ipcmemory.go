package table

import "github.com/apache/arrow/go/v15/arrow/memory"

// allowance gives the library the memory that a message needs, and no more. The
// library reads past the end of a list of buffers where a column needs one that is
// not in it, and takes what it meets there for a length.
type allowance struct{ left, last, kept int64 }

// allow makes room for one message: bytes in a number of buffers, each rounded up,
// and all dictionaries so far, which it may put together anew.
func (a *allowance) allow(bytes int64, buffers int) {
	a.last = bytes + 128*int64(buffers) + 1024
	a.left = a.last + a.kept
}

// keep notes that the last message was a dictionary.
func (a *allowance) keep() { a.kept += a.last }

func (a *allowance) take(size int) {
	if a.left -= int64(size); size < 0 || a.left < 0 {
		panic(brokenStructure) // the library has no other way; it and we catch it
	}
}

// Allocate implements memory.Allocator.
func (a *allowance) Allocate(size int) []byte {
	a.take(size)
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a *allowance) Reallocate(size int, b []byte) []byte {
	a.take(max(0, size-len(b)))
	return memory.DefaultAllocator.Reallocate(size, b)
}

// Free implements memory.Allocator.
func (a *allowance) Free(b []byte) { memory.DefaultAllocator.Free(b) }
