package columns

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestColumnsFromArrow: columns come in the width that is asked for, behind what is there, with missing
// values marked; an array of another type is named.
func TestColumnsFromArrow(t *testing.T) {
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.AppendValues([]int32{7, 9, 3}, []bool{true, false, true})
	a := b.NewInt32Array()
	codes, err := appendCodes([]int32{1}, a)
	if d := cmp.Diff([]int32{1, 7, -1, 3}, codes); d != "" || err != nil {
		t.Error(d, err)
	}
	floats, err := appendFloats([]float32{1}, a)
	if d := cmp.Diff([]float32{1, 7, float32(nan), 3}, floats, cmpopts.EquateNaNs()); d != "" || err != nil {
		t.Error(d, err)
	}
	text := array.NewStringBuilder(memory.DefaultAllocator).NewArray()
	if _, err := appendCodes(nil, text); err == nil || !strings.Contains(err.Error(),
		"has the Arrow type utf8, must be int32 codes") {
		t.Errorf("error of codes is %v", err)
	}
	if _, err := appendFloats[float64](nil, text); err == nil || !strings.Contains(err.Error(),
		"has the Arrow type utf8, must be a number") {
		t.Errorf("error of floats is %v", err)
	}
}
