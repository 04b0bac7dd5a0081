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
	"weir/runtime/dataset"
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
func findRuns(base, specDigest, dataset, version string) []found {
	paths, err := filepath.Glob(filepath.Join(base, "*", "run.json"))
	if err != nil {
		return nil
	}
	var runs []found
	for _, path := range paths {
		r, err := ReadRecord(filepath.Dir(path))
		if err == nil && r.SpecDigest == specDigest && r.Dataset.ID == dataset && r.Dataset.Version == version {
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

// ReadRecord reads the record of the run in dir, with the figures that lie in its
// internal folder.
func ReadRecord(dir string) (*record.Run, error) {
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return nil, err
	}
	var r record.Run
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: is no record of a run: %w", filepath.Join(dir, "run.json"), err)
	}
	r.Internal, r.Metrics, r.Notes = []record.File{}, map[string]float64{}, map[string]string{}
	if data, err := os.ReadFile(filepath.Join(dir, "internal", metricsFile)); err == nil {
		if err := json.Unmarshal(data, &figures{r.Metrics, r.Notes}); err != nil {
			return nil, fmt.Errorf("%s: internal/metrics.json is damaged: %w", dir, err)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "internal", internalFiles)); err == nil {
		if err := json.Unmarshal(data, &r.Internal); err != nil {
			return nil, fmt.Errorf("%s: internal/%s is damaged: %w", dir, internalFiles, err)
		}
	}
	return &r, nil
}

// internalFiles lists, on the owner's side, what lies in internal/.
const internalFiles = "files.json"

// figures is internal/metrics.json.
type figures struct {
	Metrics map[string]float64 `json:"metrics"`
	Notes   map[string]string  `json:"notes"`
}

func (d runDir) writeRecord(r *record.Run) error {
	return writeAtomic(filepath.Join(d.path, "run.json"), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// newRunDir makes a run folder of its own, whose id is the time and 128 random
// bits.
func newRunDir(base string, opts Options) (runDir, string, error) {
	var b [16]byte
	if _, err := io.ReadFull(opts.Random, b[:]); err != nil {
		return runDir{}, "", err
	}
	id := opts.Clock().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
	d := runDir{path: filepath.Join(base, id)}
	err := dataset.MakeRuns(opts.Out)
	if err != nil {
		return runDir{}, "", err
	}
	if err = os.MkdirAll(base, 0o755); err == nil {
		err = os.Mkdir(d.path, 0o755) // never one that is there
	}
	if err == nil {
		err = os.Mkdir(d.internal(), 0o700)
	}
	if err != nil {
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
