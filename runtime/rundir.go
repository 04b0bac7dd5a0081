package runtime

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"weir/record"
)

// runDir is Out/NAME/ID with release/ and internal/.
type runDir struct {
	path string
	lock io.Closer
}

func (d runDir) internal() string { return filepath.Join(d.path, "internal") }
func (d runDir) release() string  { return filepath.Join(d.path, "release") }

// findRuns lists the records of earlier runs of the same spec and data under
// base, newest first.
func findRuns(base, specDigest, dataDigest string) []found {
	paths, err := filepath.Glob(filepath.Join(base, "*", "run.json"))
	if err != nil {
		return nil
	}
	var runs []found
	for _, path := range paths {
		r, err := readRecord(path)
		if err == nil && r.SpecDigest == specDigest && r.Dataset.Digest == dataDigest {
			runs = append(runs, found{filepath.Dir(path), r})
		}
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].record.Started.After(runs[j].record.Started) })
	return runs
}

type found struct {
	path   string
	record *record.Run
}

func readRecord(path string) (*record.Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r record.Run
	return &r, json.Unmarshal(data, &r)
}

func (d runDir) writeRecord(r *record.Run) error {
	return writeAtomic(filepath.Join(d.path, "run.json"), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// newRunDir makes a run folder whose id is the time and six random digits.
func newRunDir(base string, opts Options) (runDir, string, error) {
	var b [3]byte
	if _, err := io.ReadFull(opts.Random, b[:]); err != nil {
		return runDir{}, "", err
	}
	id := opts.Clock().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
	d := runDir{path: filepath.Join(base, id)}
	if err := os.MkdirAll(d.internal(), 0o700); err != nil {
		return runDir{}, "", fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, unwrapPath(err))
	}
	return d, id, d.acquire()
}

// acquire locks the run against a second process.
func (d *runDir) acquire() error {
	lock, err := lockFile(filepath.Join(d.internal(), "lock"))
	if err != nil {
		return err
	}
	d.lock = lock
	return nil
}
