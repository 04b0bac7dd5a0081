package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/table"
)

// cache keeps the outputs of stages under their addresses. It holds private
// tables: its folder is 0700 and belongs to the owner's side.
type cache struct{ dir string }

// entry is the manifest of one address, written last: without it the outputs are
// not there.
type entry struct {
	Outputs map[string]stored `json:"outputs"`
}

type stored struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

func (c cache) folder(address string) string {
	return filepath.Join(c.dir, strings.TrimPrefix(address, "sha256:"))
}

// load returns the stored outputs of a address; false where they are not all
// there, whole and of the planned schema.
func (c cache) load(address string, step *compile.Step) (pipeline.Tables, bool) {
	data, err := os.ReadFile(filepath.Join(c.folder(address), "manifest.json"))
	if err != nil {
		return nil, false
	}
	var e entry
	if json.Unmarshal(data, &e) != nil {
		return nil, false
	}
	tables := pipeline.Tables{}
	for port, h := range step.Work.Out {
		s, ok := e.Outputs[port]
		if !ok || !sameFile(filepath.Join(c.folder(address), s.File), s) {
			return nil, false
		}
		tables[port] = c.table(address, s.File, h)
	}
	return tables, true
}

func sameFile(path string, s stored) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != s.Bytes {
		return false
	}
	digest, _, err := digestFile(path)
	return err == nil && digest == s.Digest
}

// table reads a stored output, as often as it is opened.
func (c cache) table(address, file string, h pipeline.Header) pipeline.Table {
	path := filepath.Join(c.folder(address), file)
	return table.IPC(h, func() (io.ReadCloser, error) { return os.Open(path) })
}

// store writes outputs and returns tables that read what was written. promised is
// asked when all rows have been made, and before any of them can be found: after
// an error nothing is kept.
func (c cache) store(ctx context.Context, address string, step *compile.Step, out pipeline.Tables, promised func() error) (pipeline.Tables, error) {
	e := entry{Outputs: map[string]stored{}}
	tables := pipeline.Tables{}
	for port, h := range step.Work.Out {
		s, err := c.write(ctx, address, port, h, out[port])
		if err != nil {
			return nil, err
		}
		e.Outputs[port] = s
		tables[port] = c.table(address, s.File, h)
	}
	if err := promised(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder(address)))
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	err = writeAtomic(filepath.Join(c.folder(address), "manifest.json"), 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	// Checkpoints are private and served their purpose.
	return tables, errors.Join(err, os.RemoveAll(filepath.Join(c.folder(address), "scratch")))
}

func (c cache) write(ctx context.Context, address, port string, h pipeline.Header, t pipeline.Table) (stored, error) {
	file := port + ".arrow"
	path := filepath.Join(c.folder(address), file)
	if err := os.MkdirAll(c.folder(address), 0o700); err != nil {
		return stored{}, err
	}
	t.Header = h
	err := writeAtomic(path, 0o600, func(w io.Writer) (err error) {
		defer func() {
			if recover() != nil {
				err = errInternal
			}
		}()
		return table.WriteIPC(ctx, w, t)
	})
	if err != nil {
		return stored{}, err
	}
	digest, size, err := digestFile(path)
	return stored{file, digest, size}, err
}
