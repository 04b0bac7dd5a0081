package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weir/pipeline/compile"
)

// uses counts, by mechanism, the uses that have released.
type uses map[string]int64

// usesFile lies with the checkpoints of a stage and says how many uses had
// released when they were written. The runtime writes it, not the stage: a stage
// that continues can skip what it really drew, and no more.
const usesFile = "uses.json"

// scratch is where a stage's own files lie: under its address, so that only the
// same stage of the same run finds them again.
func (r *run) scratch(step *compile.Step, name string) string {
	return filepath.Join(r.cache.folder(r.address(step)), "scratch", filepath.Base(name))
}

// create opens a file of a stage. Before it takes its name, what has been released
// by then is written: a crash between the two lets the stage skip less than it
// might, never more.
func (r *run) create(step *compile.Step, payer *stagePayer, name string) (io.WriteCloser, error) {
	if filepath.Base(name) == usesFile {
		return nil, fmt.Errorf("%s: is a name of the runtime's own", usesFile)
	}
	f, err := createAtomic(r.scratch(step, name), 0o600)
	if err != nil {
		return nil, err
	}
	return &checkpoint{f, func() error { return r.noteUses(step, payer.released()) }}, nil
}

// checkpoint notes the uses when it is closed.
type checkpoint struct {
	*atomicFile
	note func() error
}

func (c *checkpoint) Close() error {
	if err := c.note(); err != nil {
		c.Abort()
		return err
	}
	return c.Commit()
}

func (r *run) noteUses(step *compile.Step, so uses) error {
	data, err := json.Marshal(so)
	if err != nil {
		return err
	}
	return writeAtomic(r.scratch(step, usesFile), 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// drawn reads what an interrupted attempt of the step had released; nothing where
// there was none, or nobody can tell.
func (r *run) drawn(step *compile.Step) uses {
	data, err := os.ReadFile(r.scratch(step, usesFile))
	so := uses{}
	if err = errors.Join(err, json.Unmarshal(data, &so)); err != nil {
		return nil
	}
	return so
}
