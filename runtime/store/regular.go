package store

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// OpenRegular opens a file for reading. Anything but a regular file is refused: a
// read of a pipe or a device may block for ever, and no signal ends it, or never
// come to an end. The open itself does not wait for the other end of a pipe.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	return regular(f, err)
}

// OpenRegularIn is OpenRegular for a name inside a folder.
func OpenRegularIn(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	return regular(f, err)
}

// regular passes on what was opened if it is a regular file.
func regular(f *os.File, err error) (*os.File, error) {
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
	return nil, fmt.Errorf("is %s, must be a regular file", what(info.Mode()))
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

// ReadRegular reads a whole file of at most `most` bytes.
func ReadRegular(path string, most int64) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("is longer than %d bytes, which is the most that is read of such a file", most)
	}
	return data, err
}
