package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// maxPage bounds a page once it is decompressed.
const maxPage = 1 << 30

// lz4Raw is the codec LZ4_RAW by its number in the format.
const lz4Raw compress.Compression = 7

// codec decompresses pages. What a page says of its size is believed only as far
// as the bytes that are there can make it true.
type codec func(packed []byte, size int) ([]byte, error)

// codecOf names what is not read.
func codecOf(c compress.Compression) (codec, error) {
	switch c {
	case compress.Codecs.Uncompressed:
		return func(b []byte, size int) ([]byte, error) { return sized(b, size) }, nil
	case compress.Codecs.Snappy:
		return unsnappy, nil
	case lz4Raw:
		return unlz4, nil
	case compress.Codecs.Gzip:
		return decompressing(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }), nil
	case compress.Codecs.Brotli:
		return decompressing(func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil }), nil
	case compress.Codecs.Zstd:
		return unzstd()
	case compress.Codecs.Lz4:
		return nil, UnsupportedError{errors.New("is compressed with LZ4 as Hadoop writes it, which is not read; " +
			"accepted: " + codecs)}
	}
	return nil, UnsupportedError{fmt.Errorf("is compressed in a way that is not read (codec %d); accepted: %s",
		int(c), codecs)}
}

const codecs = "no compression, Snappy, gzip, Brotli, LZ4_RAW and Zstandard"

func sized(b []byte, size int) ([]byte, error) {
	if len(b) != size {
		return nil, fmt.Errorf("a page has another size than it says")
	}
	return b, nil
}

// unsnappy: no element of two bytes makes more than 64.
func unsnappy(packed []byte, size int) ([]byte, error) {
	n, err := snappy.DecodedLen(packed)
	if err != nil || n != size || n > 32*len(packed)+64 {
		return nil, fmt.Errorf("a page has another size than it says")
	}
	return snappy.Decode(make([]byte, size), packed)
}

// unlz4: no byte makes more than 255.
func unlz4(packed []byte, size int) ([]byte, error) {
	if size > 255*len(packed)+64 {
		return nil, fmt.Errorf("a page has another size than it says")
	}
	if size == 0 {
		return nil, nil
	}
	out := make([]byte, size)
	n, err := lz4.UncompressBlock(packed, out)
	if err != nil {
		return nil, err
	}
	return sized(out[:n], size)
}

// decompressing unpacks as far as size and one byte more.
func decompressing(open func(io.Reader) (io.Reader, error)) codec {
	return func(packed []byte, size int) ([]byte, error) {
		if size == 0 {
			return nil, nil
		}
		r, err := open(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readSized(r, len(packed), size)
	}
}

func readSized(r io.Reader, packed, size int) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(size+bytes.MinRead, 64*packed+bytes.MinRead)))
	if _, err := b.ReadFrom(io.LimitReader(r, int64(size)+1)); err != nil {
		return nil, err
	}
	return sized(b.Bytes(), size)
}

// unzstd keeps one decoder, in the goroutine of who reads.
func unzstd() (codec, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	return func(packed []byte, size int) ([]byte, error) {
		if size == 0 {
			return nil, nil
		}
		if err := d.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return readSized(d, len(packed), size)
	}, nil
}

// UnreadableError is an error of the disk, not of the file's form.
type UnreadableError struct{ Err error }

func (u UnreadableError) Error() string { return u.Err.Error() }
func (u UnreadableError) Unwrap() error { return u.Err }

// UnsupportedError is sound Parquet of a kind that is not read.
type UnsupportedError struct{ error }

var errTypes = errors.New("is a damaged Parquet file: a column has a type that the format does not define " +
	"for the way in which it is stored")

var errIndex = errors.New("is a damaged Parquet file: its index points outside of it or contradicts itself")

// errLarger is a chunk with more cells than the footer says.
var errLarger = errors.New("a row group has more rows than the footer says")
