package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime/table"
)

// Cache keeps the outputs of stages under their addresses. It holds private
// tables: its folder is 0700 and belongs to the owner's side.
type Cache struct {
	Disk disk.Disk
	Dir  string
}

// PaidDir is the folder of a cache that holds the notes on what is paid for.
const PaidDir = "paid"

// CacheOf returns what the runs of a folder share.
func CacheOf(d disk.Disk, out string) Cache { return Cache{Disk: d, Dir: filepath.Join(out, "cache")} }

// manifest lists the outputs of one address. It is written last: without it they are
// not there.
type manifest struct {
	Outputs map[string]stored `json:"outputs"`
}

type stored struct {
	File   string         `json:"file"`
	Digest string         `json:"digest"`
	Bytes  int64          `json:"bytes"`
	Domain *domain.Domain `json:"domain,omitempty"` // as released, where the plan did not know it
}

// Forget removes what is stored under an address.
func (c Cache) Forget(address string) error { return c.Disk.RemoveAll(c.folder(address)) }

func (c Cache) folder(address string) string {
	return filepath.Join(c.Dir, strings.TrimPrefix(address, "sha256:"))
}

// Load returns the outputs that are stored under an address; false where they are not
// all there and whole. They get the headers of want, with the domain that was released.
func (c Cache) Load(address string, want pipeline.Headers) (pipeline.Tables, bool) {
	data, err := disk.ReadFile(filepath.Join(c.folder(address), "manifest.json"), 0)
	if err != nil {
		return nil, false
	}
	var e manifest
	if json.Unmarshal(data, &e) != nil {
		return nil, false
	}
	tables := pipeline.Tables{}
	for port, h := range want {
		s, ok := e.Outputs[port]
		named := s.File == fileOf(port, h) || s.File == earlierFile(port)
		if !ok || !named || !sameFile(filepath.Join(c.folder(address), s.File), s) {
			return nil, false
		}
		filled, err := h.Filled(s.Domain)
		if err != nil {
			return nil, false
		}
		tables[port] = c.table(address, s.File, filled)
	}
	return tables, true
}

// Holds reports whether outputs are stored under an address, without reading
// them: whether they are whole, Load finds.
func (c Cache) Holds(address string) bool {
	_, err := os.Stat(filepath.Join(c.folder(address), "manifest.json"))
	return err == nil
}

// Folders lists what is weir's in the folder of the cache, which may be one of the user's of
// the same name: outputs by their addresses, and the notes of what is paid for.
func (c Cache) Folders() (paths []string, err error) {
	all, err := os.ReadDir(c.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	address := regexp.MustCompile(`^[0-9a-f]{64}$`)
	for _, f := range all {
		if f.IsDir() && (f.Name() == PaidDir || address.MatchString(f.Name())) {
			paths = append(paths, filepath.Join(c.Dir, f.Name()))
		}
	}
	return paths, err
}

func sameFile(path string, s stored) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != s.Bytes {
		return false
	}
	digest, _, err := DigestFile(path)
	return err == nil && digest == s.Digest
}

// fileOf returns the name of the file that holds an output: of rows an Arrow stream, of files an archive.
func fileOf(port string, h pipeline.Header) string {
	if h.Form.IsFiles() {
		return port + ".archive"
	}
	return port + ".arrow"
}

// table reads a stored output, as often as it is opened.
func (c Cache) table(address, file string, h pipeline.Header) pipeline.Table {
	path := filepath.Join(c.folder(address), file)
	open := func() (io.ReadCloser, error) { return disk.Open(path) }
	switch {
	case !h.Form.IsFiles():
		return table.IPC(h, open)
	case filepath.Ext(file) == filepath.Ext(earlierFile("")):
		files := func(ctx context.Context) ([]pipeline.File, error) { return earlierFiles(ctx, open) }
		return pipeline.Table{Header: h, Files: files}
	}
	return pipeline.Table{Header: h, Files: func(context.Context) ([]pipeline.File, error) { return ReadArchive(path) }}
}

// earlierFile returns the name of the file that held an output of files until 27 November 2026: an Arrow stream of
// names and bytes. It is still read, since another build of weir may not make it again: what was paid for would be
// lost.
func earlierFile(port string) string { return port + ".arrow" }

func earlierFiles(ctx context.Context, open func() (io.ReadCloser, error)) (files []pipeline.File, err error) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String}, {Name: "value", Type: arrow.BinaryTypes.Binary}}, nil)
	for r, err := range table.IPC(pipeline.Header{Schema: schema}, open).Open(ctx) {
		if err != nil {
			return nil, err
		}
		names, data := r.Column(0).(*array.String), r.Column(1).(*array.Binary)
		for i := range names.Len() {
			files = append(files, pipeline.File{Name: names.Value(i), Data: data.Value(i)})
		}
	}
	return files, nil
}

// Store writes outputs and returns tables that read what was written. promised is
// asked when all rows have been made, and before any of them can be found: after
// an error nothing is kept.
func (c Cache) Store(ctx context.Context, address string, want pipeline.Headers, out pipeline.Tables,
	promised func() error) (pipeline.Tables, error) {
	e := manifest{Outputs: map[string]stored{}}
	tables := pipeline.Tables{}
	for port, planned := range want {
		h, err := planned.Filled(out[port].Domain)
		if err != nil {
			return nil, err
		}
		s, err := c.write(ctx, address, port, h, out[port])
		if err != nil {
			return nil, err
		}
		if len(planned.LateColumns()) > 0 {
			s.Domain = h.Domain
		}
		e.Outputs[port] = s
		tables[port] = c.table(address, s.File, h)
	}
	if err := promised(); err != nil {
		return nil, errors.Join(err, c.Forget(address))
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	err = c.Disk.WriteBytes(filepath.Join(c.folder(address), "manifest.json"), 0o600, data)
	return tables, errors.Join(err, c.Scratch(address).Remove())
}

func (c Cache) write(ctx context.Context, address, port string, h pipeline.Header, t pipeline.Table) (stored, error) {
	file := fileOf(port, h)
	path := filepath.Join(c.folder(address), file)
	t.Header = h
	err := c.Disk.Write(path, 0o600, func(w io.Writer) (err error) {
		defer func() {
			if recover() != nil {
				err = ErrInternal
			}
		}()
		return writeOutput(ctx, w, t)
	})
	if err != nil {
		return stored{}, err
	}
	digest, size, err := DigestFile(path)
	return stored{File: file, Digest: digest, Bytes: size}, err
}

// writeOutput writes rows as an Arrow stream, files as an archive.
func writeOutput(ctx context.Context, w io.Writer, t pipeline.Table) error {
	if !t.Form.IsFiles() {
		return table.WriteIPC(ctx, w, t)
	}
	files, err := pipeline.ReadFiles(ctx, t)
	if err != nil {
		return err
	}
	return WriteArchive(w, files)
}

// Turns lets runs that share a cache make what lies under one name one after the other: the
// first makes it, and the others find it.
type Turns struct{ held sync.Map } // of *sync.Mutex

// Take waits for the turn of a name and returns what ends it. Nil turns are everyone's.
func (t *Turns) Take(name string) (done func()) {
	if t == nil {
		return func() {}
	}
	turn, _ := t.held.LoadOrStore(name, &sync.Mutex{})
	turn.(*sync.Mutex).Lock()
	return turn.(*sync.Mutex).Unlock
}

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
