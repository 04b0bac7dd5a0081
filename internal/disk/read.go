package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// errIrregular says what a path must lead to. A pipe or a device has no end, no second
// reading, and blocks whoever opens it.
var errIrregular = errors.New("must be a regular file")

// Open opens a regular file to read, and never waits for the other end of a pipe.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadFile is the content of a regular file of at most most bytes; 0 sets no bound.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && most > 0 && info.Size() > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("has %d bytes, must have at most %d", info.Size(), most)}
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
