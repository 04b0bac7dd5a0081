package table

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"

	"github.com/klauspost/compress/gzip"

	"weir/privacy/digest"
	"weir/runtime/table/internal/parquet"
)

// FS opens files by name; names may be anything that the implementation
// accepts, unlike those of io/fs.
type FS interface {
	Open(name string) (fs.File, error)
}

// format of a file, told by its first bytes: names lie more often.
type format int

const (
	textFormat format = iota
	parquetFormat
	ipcFileFormat
	ipcStreamFormat
)

// stream is an opened file, decompressed where it is gzip.
type stream struct {
	*bufio.Reader
	file   fs.File
	format format
}

func (s *stream) Close() error { return s.file.Close() }

// openStream opens a file and looks at its first bytes.
func openStream(fsys FS, name string) (*stream, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return nil, wrong(name, "%v", plain(err))
	}
	s := &stream{bufio.NewReaderSize(file, 1<<18), file, textFormat}
	if err := s.sniff(name); err != nil {
		file.Close()
		return nil, err
	}
	return s, nil
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

func (s *stream) sniff(name string) error {
	head, err := s.Peek(8)
	if err != nil && err != io.EOF {
		return readError(name, err)
	}
	if bytes.HasPrefix(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(s.Reader)
		if err != nil {
			return readError(name, err)
		}
		s.Reader = bufio.NewReaderSize(z, 1<<18)
		if head, err = s.Peek(8); err != nil && err != io.EOF {
			return readError(name, err)
		}
	}
	return s.detect(name, head)
}

func (s *stream) detect(name string, head []byte) error {
	starts := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case starts("PAR1"):
		s.format = parquetFormat
	case starts("PARE"):
		return wrong(name, "%v", parquet.ErrEncrypted)
	case starts("ARROW1"):
		s.format = ipcFileFormat
	case starts("\xff\xff\xff\xff"):
		s.format = ipcStreamFormat
	case starts("PK\x03\x04"), starts("\x28\xb5\x2f\xfd"), starts("BZh"), starts("\xfd7zXZ"):
		return wrong(name, "is an archive of a kind that is not read; accepted: plain or gzip text, Parquet, Arrow")
	case starts("\xff\xfe"), starts("\xfe\xff"):
		return wrong(name, "is UTF-16 text; accepted: UTF-8")
	case starts("\xef\xbb\xbf"):
		s.Discard(3) // a byte order mark
	}
	return nil
}

// plain drops the operation and path that package os puts before its reason.
func plain(err error) error {
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
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return wrong(name, "the compressed data is damaged: %v", err)
	}
	return wrong(name, "cannot be read: %v", plain(err))
}

// Digest is "sha256:" and the SHA-256 of the uncompressed content, so that a
// file and its gzip are the same dataset. It streams.
func Digest(ctx context.Context, fsys FS, name string) (string, error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", wrong(name, "%v", plain(err))
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 1<<18)
	var content io.Reader = r
	if head, _ := r.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		if content, err = gzip.NewReader(r); err != nil {
			return "", readError(name, err)
		}
	}
	h := sha256.New()
	if _, err := io.Copy(h, untilDone{ctx, content}); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		return "", readError(name, err)
	}
	return digest.Sum(h), nil
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
