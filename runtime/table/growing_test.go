package table_test

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/runtime/table"
)

// counting counts the bytes that are allocated.
type counting struct {
	memory.Allocator
	bytes *int
}

func (c counting) Allocate(size int) []byte {
	*c.bytes += size
	return c.Allocator.Allocate(size)
}

// TestGrowingBuffersAreSeldomCopied: a buffer that grows by 64 bytes up to n takes n (1 + 4/5 + (4/5)^2 + ...) bytes, 5
// n and a quarter in hand, where each growth in turn would take n^2/128.
func TestGrowingBuffersAreSeldomCopied(t *testing.T) {
	const n = 1 << 17
	allocated := 0
	g := table.Growing{Allocator: counting{memory.NewGoAllocator(), &allocated}}
	b := g.Allocate(64)
	for i := range b {
		b[i] = byte(i)
	}
	want := bytes.Clone(b)
	for size := 128; size <= n; size += 64 {
		b = g.Reallocate(size, b)
		if len(b) != size {
			t.Fatalf("has %d bytes, must have %d", len(b), size)
		}
	}
	if !bytes.Equal(b[:64], want) {
		t.Errorf("the first bytes were lost")
	}
	if b = g.Reallocate(64, b); !bytes.Equal(b, want) {
		t.Errorf("a buffer that shrinks is %v, must be its first bytes", b)
	}
	if most := 13 * n / 2; allocated > most {
		t.Errorf("%d bytes were allocated, must be at most %d", allocated, most)
	}
}
