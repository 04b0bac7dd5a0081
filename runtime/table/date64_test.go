package table

import (
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline/domain"
)

// TestDate64IsFloored: a millisecond lies in the day that holds it, before 1970 as after;
// the day of -1 ms is 1969-12-31, which is day -1.
func TestDate64IsFloored(t *testing.T) {
	const day = 24 * 60 * 60 * 1000
	list := array.NewDate64Builder(memory.DefaultAllocator)
	list.AppendValues([]arrow.Date64{0, 1, day - 1, day, -1, -day, -day - 1, math.MinInt64}, nil)
	want := []int64{0, 0, 0, 1, -1, -1, -2, -106751991168} // the last: floor(-2^63 / 86,400,000)
	b := newBuilder(&domain.Column{Name: "day", Type: domain.Date}, &dialect{}, 8).(*ints)
	add := intAdder(b, list.NewArray())
	for i, w := range want {
		if rule := add(i); rule != "" || b.values[i] != w {
			t.Errorf("value %d is day %d (%s), must be %d", i, b.values[i], rule, w)
		}
	}
}
