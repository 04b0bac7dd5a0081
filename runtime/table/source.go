package table

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"weir/privacy"
)

// FS opens files by name; names may be anything that the implementation
// accepts, unlike names of io/fs.
type FS interface {
	Open(name string) (fs.File, error)
}

// stream is an opened file, decompressed where it is gzip or Zstandard.
type stream struct {
	*bufio.Reader
	file fs.File
	head []byte // first bytes, decompressed
}

func (s *stream) Close() error { return s.file.Close() }

// openStream opens a file and looks at its first bytes.
func openStream(fsys FS, name string) (*stream, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, wrong(name, "%v", reason(err))
	}
	s := &stream{Reader: buffered(file, 1<<18), file: file}
	if err := s.sniff(name); err != nil {
		file.Close()
		return nil, err
	}
	return s, nil
}

// buffered returns a reader of a file with a buffer of at most the given number of bytes, or of the whole file and one
// byte more, which finds its end, where that is less.
func buffered(file io.Reader, most int64) *bufio.Reader {
	if size := sizeOf(file); size >= 0 {
		most = min(most, max(size+1, 1<<9))
	}
	return bufio.NewReaderSize(file, int(most))
}

// dropLine moves behind the next newline.
func (s *stream) dropLine() error {
	for {
		if _, err := s.ReadSlice('\n'); err == nil || err == io.EOF {
			return nil
		} else if err != bufio.ErrBufferFull {
			return err
		}
	}
}

// sniff decompresses what is compressed and looks at the first bytes.
func (s *stream) sniff(name string) error {
	content, err := decompressed(s.Reader)
	if err != nil {
		return readError(name, err)
	}
	if content != s.Reader {
		s.Reader = bufio.NewReaderSize(content, 1<<18)
	}
	head, err := s.Peek(8)
	if err != nil && err != io.EOF {
		return readError(name, err)
	}
	s.head = bytes.Clone(head)
	return nil
}

// Compressed files begin with these bytes (RFC 1952, RFC 8878).
const (
	gzipMark = "\x1f\x8b"
	zstdMark = "\x28\xb5\x2f\xfd"
)

// mostWindow bounds the memory that a Zstandard file may ask for; zstd --long=27 needs as much.
const mostWindow = 1 << 27

// decompressed returns the content behind a compression that is told by its first bytes, or the reader itself.
func decompressed(r *bufio.Reader) (io.Reader, error) {
	head, err := r.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	u := &unpacking{from: r}
	switch {
	case begins(head, gzipMark):
		u.content, err = gzip.NewReader(u.watched())
	case begins(head, zstdMark):
		u.content, err = zstd.NewReader(u.watched(), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
	default:
		return r, nil
	}
	return u, u.judged(err)
}

// errDamaged is a compressed file that its decoder refuses.
var errDamaged = errors.New("the compressed data is damaged")

// unpacking reads the content of a compressed file, and tells a damaged file from one that cannot be read.
type unpacking struct {
	content io.Reader
	from    io.Reader
	failed  error // of reading the file
}

// Read implements io.Reader.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.content.Read(p)
	return n, u.judged(err)
}

func (u *unpacking) judged(err error) error {
	if err == nil || err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || u.failed != nil {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// watched returns the file, whose errors are kept.
func (u *unpacking) watched() io.Reader {
	return readFunc(func(p []byte) (int, error) {
		n, err := u.from.Read(p)
		if err != nil && err != io.EOF {
			u.failed = err
		}
		return n, err
	})
}

type readFunc func(p []byte) (int, error)

// Read implements io.Reader.
func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// begins reports whether a file begins with one of these marks.
func begins(head []byte, marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.HasPrefix(head, []byte(mark)) })
}

// formatOf finds the format of a file by its first bytes.
func formatOf(name string, head []byte) (Format, error) {
	for _, f := range formats() {
		if f.Begins(head) {
			return f, nil
		}
	}
	return nil, wrong(name, "is an archive of a kind that is not read; accepted: %s; text may be gzip or Zstandard",
		strings.Join(names(), ", "))
}

// reason drops the operation and path that package os puts before its reason.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && err == error(p) {
		return p.Err
	}
	return err
}

// readError says what a failed read means.
func readError(name string, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return wrong(name, "the compressed data ends early: the file is truncated")
	case errors.Is(err, errDamaged):
		return wrong(name, "%v", err)
	}
	return wrong(name, "cannot be read: %v", reason(err))
}

// Digest returns "sha256:" and the SHA-256 of the uncompressed content, so that a
// file and its compressed form are the same dataset. It streams.
func Digest(ctx context.Context, fsys FS, name string) (string, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", wrong(name, "%v", reason(err))
	}
	defer file.Close()
	content, err := decompressed(buffered(file, 1<<18))
	if err != nil {
		return "", readError(name, err)
	}
	h := sha256.New()
	if _, err := io.Copy(h, untilDone{ctx, content}); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", readError(name, err)
	}
	return privacy.DigestHash(h), nil
}

// untilDone stops reading when its context ends.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
