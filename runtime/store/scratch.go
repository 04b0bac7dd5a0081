package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"weir/internal/disk"
)

// Uses counts, by mechanism, the uses that have released.
type Uses map[string]int64

// usesFile lies with the checkpoints of a stage and says how many uses had
// released when they were written. The runtime writes it, not the stage: a stage
// that continues can skip what it really drew, and no more.
const usesFile = "uses.json"

// Scratch is where a stage's own files lie: under its address, so that only the
// same stage of the same run finds them again.
type Scratch struct {
	disk disk.Disk
	dir  string
}

// Scratch returns the files of the stage whose outputs have this address.
func (c Cache) Scratch(address string) Scratch {
	return Scratch{c.Disk, filepath.Join(c.folder(address), "scratch")}
}

// Remove removes all files of a stage that is done: they are private, and have served
// their purpose.
func (s Scratch) Remove() error { return s.disk.RemoveAll(s.dir) }

func (s Scratch) path(name string) string { return filepath.Join(s.dir, filepath.Base(name)) }

// Open reads a file that the stage has left.
func (s Scratch) Open(name string) (io.ReadCloser, error) { return disk.Open(s.path(name)) }

// Create opens a file of a stage. Before it takes its name, what has been released
// by then is written: a crash between the two lets the stage skip less than it
// might, never more.
func (s Scratch) Create(name string, released func() Uses) (io.WriteCloser, error) {
	if filepath.Base(name) == usesFile {
		return nil, fmt.Errorf("%s: is a name of the runtime, must be another one", usesFile)
	}
	f, err := s.disk.Create(s.path(name), 0o600)
	if err != nil {
		return nil, err
	}
	return &checkpoint{f, s, released}, nil
}

// checkpoint notes the uses when it is closed.
type checkpoint struct {
	*disk.File
	scratch  Scratch
	released func() Uses
}

func (c *checkpoint) Close() error {
	data, err := json.Marshal(c.released())
	if err == nil {
		err = c.scratch.disk.WriteBytes(c.scratch.path(usesFile), 0o600, data)
	}
	if err != nil {
		c.Abort()
		return err
	}
	return c.Commit()
}

// Drawn reads what an interrupted attempt of the stage had released; nothing where
// there was none, or nobody can tell.
func (s Scratch) Drawn() Uses {
	data, err := disk.ReadFile(s.path(usesFile), 0)
	uses := Uses{}
	if err = errors.Join(err, json.Unmarshal(data, &uses)); err != nil {
		return nil
	}
	return uses
}
