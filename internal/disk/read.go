package disk

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file for reading. Anything but a regular file is refused: a read of a
// pipe or a device may block for ever, and no signal ends it, or never come to an end.
// The open itself does not wait for the other end of a pipe.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	return regular(f, path, err)
}

// OpenIn is Open for a name inside a folder.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	return regular(f, name, err)
}

// regular passes on what was opened if it is a regular file.
func regular(f *os.File, path string, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, nil
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: IrregularError{info.Mode()}}
}

// IrregularError says what a path leads to that is no regular file.
type IrregularError struct{ Mode fs.FileMode }

func (e IrregularError) Error() string {
	return fmt.Sprintf("is %s, must be a regular file", what(e.Mode))
}

func what(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// ReadFile reads a whole file of at most `most` bytes; 0 sets no bound.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if most == 0 {
		return io.ReadAll(f)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is longer than %d bytes, which is the most that is read of such a file", most)}
	}
	return data, err
}
