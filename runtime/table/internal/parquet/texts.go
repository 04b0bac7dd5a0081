package parquet

import (
	"errors"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
)

// texts are cells that are parts of a page or of a dictionary until they are finished:
// a few bytes can name one long word a million times.
type texts struct{ typed[parquet.ByteArray] }

func newTexts(room int64) *texts {
	return &texts{typed[parquet.ByteArray]{
		plain: func(b []byte) decoder[parquet.ByteArray] { return &lengthed{b} }, delta: textsOf, array: textArray, room: room}}
}

// size of the text of a cell that is not finished.
func (t *texts) size(i int64) int64 { return int64(len(t.values[i])) }

// textArray copies texts, and lets go of what they are parts of. Together they are
// valid where each is, but not the other way round: two can hold half a character each.
func textArray(values []parquet.ByteArray, valid *memory.Buffer, missing int) (arrow.Array, error) {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	offsets, text, whole := make([]int32, 1, len(values)+1), make([]byte, 0, size), true
	for _, v := range values {
		whole = whole && (len(v) == 0 || utf8.RuneStart(v[0]))
		text = append(text, v...)
		offsets = append(offsets, int32(len(text)))
	}
	clear(values)
	if !whole || !utf8.Valid(text) {
		return nil, errors.New("a text is not UTF-8")
	}
	return arrayOf(arrow.BinaryTypes.String, len(offsets)-1, missing, valid,
		memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets)), memory.NewBufferBytes(text)), nil
}
