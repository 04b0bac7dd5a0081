package stattest

import (
	"runtime/debug"
	"testing"
)

// Sparing runs the tests of a package that allocates much with its garbage collected only when the heap has grown by
// so many percent (Go's default is 100): a test is over before its memory counts.
func Sparing(m *testing.M, percent int) {
	debug.SetGCPercent(percent)
	m.Run()
}
