package pipeline

import (
	"strings"
	"testing"
)

// TestFilesTooLarge: 2 GiB is one byte more than 32-bit offsets count. Nobody touches the
// bytes, so that they take no memory.
func TestFilesTooLarge(t *testing.T) {
	_, err := ReadFiles(t.Context(), WriteFiles(Header{}, []File{{Name: "a", Data: make([]byte, 1<<31)}}))
	if err == nil || !strings.Contains(err.Error(), "2147483648 bytes together, must be below 2 GiB") {
		t.Errorf("%v", err)
	}
}
