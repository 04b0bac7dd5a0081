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
	"weir/runtime/table"
)

// cache keeps the outputs of stages under the digest of their recipe. It holds
// private tables: its folder is 0700 and belongs to the run's internal side.
type cache struct{ dir string }

// entry is the manifest of one recipe, written last: without it the outputs are
// not there.
type entry struct {
	Outputs map[string]stored `json:"outputs"`
}

type stored struct {
	File   string `json:"file"`
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
}

func (c cache) folder(recipe string) string {
	return filepath.Join(c.dir, strings.TrimPrefix(recipe, "sha256:"))
}

// load returns the stored outputs of a recipe; false where they are not all
// there, whole and of the planned schema.
func (c cache) load(recipe string, step *pipeline.Step) (pipeline.Tables, entry, bool) {
	data, err := os.ReadFile(filepath.Join(c.folder(recipe), "manifest.json"))
	if err != nil {
		return nil, entry{}, false
	}
	var e entry
	if json.Unmarshal(data, &e) != nil {
		return nil, entry{}, false
	}
	tables := pipeline.Tables{}
	for port, h := range step.Outline.Out {
		s, ok := e.Outputs[port]
		if !ok || !sameFile(filepath.Join(c.folder(recipe), s.File), s) {
			return nil, entry{}, false
		}
		tables[port] = c.table(recipe, s.File, h)
	}
	return tables, e, true
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
func (c cache) table(recipe, file string, h pipeline.Header) pipeline.Table {
	path := filepath.Join(c.folder(recipe), file)
	return table.IPC(h, func() (io.ReadCloser, error) { return os.Open(path) })
}

// store writes outputs and returns tables that read what was written.
func (c cache) store(ctx context.Context, recipe string, step *pipeline.Step, out pipeline.Tables) (pipeline.Tables, entry, error) {
	e := entry{Outputs: map[string]stored{}}
	tables := pipeline.Tables{}
	for port, h := range step.Outline.Out {
		s, err := c.write(ctx, recipe, port, h, out[port])
		if err != nil {
			return nil, e, err
		}
		e.Outputs[port] = s
		tables[port] = c.table(recipe, s.File, h)
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, e, err
	}
	err = writeAtomic(filepath.Join(c.folder(recipe), "manifest.json"), 0o600, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	// Checkpoints are private and served their purpose.
	return tables, e, errors.Join(err, os.RemoveAll(filepath.Join(c.folder(recipe), "scratch")))
}

func (c cache) write(ctx context.Context, recipe, port string, h pipeline.Header, t pipeline.Table) (stored, error) {
	file := port + ".arrow"
	path := filepath.Join(c.folder(recipe), file)
	if err := os.MkdirAll(c.folder(recipe), 0o700); err != nil {
		return stored{}, err
	}
	t.Header = h
	err := writeAtomic(path, 0o600, func(w io.Writer) error { return table.WriteIPC(ctx, w, t) })
	if err != nil {
		return stored{}, err
	}
	digest, size, err := digestFile(path)
	return stored{file, digest, size}, err
}
