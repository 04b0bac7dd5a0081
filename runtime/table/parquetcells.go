package table

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"weir/pipeline/domain"
)

// cellWriter writes the cells of a column whose levels are 1 into a chunk of a row group.
type cellWriter func(w file.ColumnChunkWriter, c *domain.Column, cells arrow.Array, levels []int16) error

// batchWriter is implemented by the writer of each physical type.
type batchWriter[T any] interface {
	WriteBatch(values []T, levels, repeated []int16) (int64, error)
}

// writeCells writes what convert makes of the cells that are there.
func writeCells[C, T any](w file.ColumnChunkWriter, c *domain.Column, cells []C, levels []int16, convert func(C) (T, error)) error {
	out, ok := w.(batchWriter[T])
	if !ok {
		return fmt.Errorf("column %q: has a writer of %s, which takes no %T", c.Name, w.Type(), *new(T))
	}
	values := make([]T, 0, len(cells))
	for i, cell := range cells {
		if levels[i] == 0 {
			continue
		}
		v, err := convert(cell)
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		values = append(values, v)
	}
	_, err := out.WriteBatch(values, levels, nil)
	return err
}

// same converts a value that is stored as it is in memory.
func same[T any](v T) (T, error) { return v, nil }

func writeNumbers(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Float64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Float64Values(), levels, same)
}

func writeEncoded(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Float32)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Float32Values(), levels, same)
}

func writeIntegers(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int64Values(), levels, same)
}

func writeDates(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int64Values(), levels, func(day int64) (int32, error) {
		if day < math.MinInt32 || day > math.MaxInt32 {
			return 0, errDate
		}
		return int32(day), nil
	})
}

// writeMoments writes seconds as microseconds.
func writeMoments(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int64)
	if !ok {
		return otherType(c, a)
	}
	least, greatest := c.Type.Span()
	return writeCells(w, c, v.Int64Values(), levels, func(at int64) (int64, error) {
		if x := float64(at); x < least || x > greatest {
			return 0, errMoment
		}
		return at * 1e6, nil
	})
}

func writeFlags(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.Int32)
	if !ok {
		return otherType(c, a)
	}
	return writeCells(w, c, v.Int32Values(), levels, func(code int32) (bool, error) {
		if code != 0 && code != 1 {
			return false, errCode
		}
		return code == 1, nil
	})
}

func writeTexts(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
	v, ok := a.(*array.String)
	if !ok {
		return otherType(c, a)
	}
	texts := make([]parquet.ByteArray, v.Len())
	for i := range texts {
		texts[i] = parquet.ByteArray(v.Value(i))
	}
	return writeCells(w, c, texts, levels, same)
}

// wordWriter returns a writer of codes as the words of their categories. A dictionary holds all categories in their
// order, so that readers of Arrow know those that no row has.
func wordWriter(c *domain.Column) cellWriter {
	list := categories(c)
	words := textArray(list)
	return func(w file.ColumnChunkWriter, c *domain.Column, a arrow.Array, levels []int16) error {
		v, ok := a.(*array.Int32)
		if !ok {
			return otherType(c, a)
		}
		codes := v.Int32Values()
		for i, code := range codes {
			if levels[i] == 1 && (code < 0 || int(code) >= len(list)) {
				return fmt.Errorf("column %q: %w", c.Name, errCode)
			}
		}
		if encoder, ok := w.CurrentEncoder().(dictionaryEncoder); ok {
			return writeCodes(w, encoder, words, codes, levels)
		}
		return writeCells(w, c, codes, levels, func(code int32) (parquet.ByteArray, error) { return parquet.ByteArray(list[code]), nil })
	}
}

// dictionaryEncoder is implemented by the encoder of a column that has a dictionary.
type dictionaryEncoder interface {
	PutDictionary(words arrow.Array) error
	PreservedDictionary() arrow.Array
}

// writeCodes writes codes into a column chunk whose dictionary is words.
func writeCodes(w file.ColumnChunkWriter, encoder dictionaryEncoder, words *array.String, codes []int32, levels []int16) error {
	if encoder.PreservedDictionary() == nil {
		if err := encoder.PutDictionary(words); err != nil {
			return err
		}
	}
	indices, used := usedCodes(codes, levels, words.Len())
	var shown []string
	for i, is := range used {
		if is {
			shown = append(shown, words.Value(i))
		}
	}
	stats := w.PageStatistics()
	stats.IncNulls(int64(indices.NullN()))
	stats.IncNumValues(int64(indices.Len() - indices.NullN()))
	if err := stats.UpdateFromArrow(textArray(shown), false); err != nil {
		return err
	}
	return w.WriteDictIndices(indices, levels, nil)
}

// usedCodes returns codes as an array that is null where a level is 0, and which of n categories it holds.
func usedCodes(codes []int32, levels []int16, n int) (*array.Int32, []bool) {
	used, there := make([]bool, n), make([]bool, len(codes))
	for i, code := range codes {
		if levels[i] == 1 {
			used[code], there[i] = true, true
		}
	}
	b := array.NewInt32Builder(memory.NewGoAllocator())
	b.AppendValues(codes, there)
	return b.NewInt32Array(), used
}

// textArray returns an array of exactly as many bytes as its texts have: statistics take the length of its buffer
// for theirs, so it must not grow as buffers of Growing do.
func textArray(texts []string) *array.String {
	b := array.NewStringBuilder(memory.NewGoAllocator())
	b.AppendValues(texts, nil)
	return b.NewStringArray()
}

var (
	errCode = errors.New("holds a code without a category")
	errDate = errors.New("holds a date outside the range of date32")
	// errMoment is what no file can spell.
	errMoment = errors.New("holds a date-time outside the years 0 to 9999, or a time outside its day")
)

func otherType(c *domain.Column, a arrow.Array) error {
	return fmt.Errorf("column %q: is %s in memory, which no column of type %s is", c.Name, a.DataType(), c.Type)
}
