package store

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"time"

	"github.com/gofrs/flock"

	"weir/record"
)

// RunDir is Out/NAME/ID with release/ and internal/.
type RunDir struct {
	Path string
	lock *flock.Flock
}

func (d RunDir) Internal() string { return filepath.Join(d.Path, "internal") } // for the owner
func (d RunDir) Release() string  { return filepath.Join(d.Path, "release") }  // may leave
func (d RunDir) Aside() string    { return d.Release() + ".tmp" }              // where a release is built before it takes its name

// Keep writes internal/name, which only the owner reads (mode 0600).
func (d RunDir) Keep(name string, write func(io.Writer) error) error {
	return Write(filepath.Join(d.Internal(), name), 0o600, write)
}

// KeepJSON is Keep of v as indented JSON.
func (d RunDir) KeepJSON(name string, v any) error {
	return d.Keep(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// FindRuns lists the records of earlier runs of the same spec and data under
// base, newest first.
func FindRuns(base, specDigest, dataset, version string) []Found {
	paths, err := filepath.Glob(filepath.Join(base, "*", "run.json"))
	if err != nil {
		return nil
	}
	var runs []Found
	for _, path := range paths {
		r, err := ReadRecord(filepath.Dir(path))
		if err == nil && r.SpecDigest == specDigest && r.Dataset.ID == dataset && r.Dataset.Version == version {
			runs = append(runs, Found{filepath.Dir(path), r})
		}
	}
	sort.Slice(runs, func(i, j int) bool { return runs[i].Record.Started.After(runs[j].Record.Started) })
	return runs
}

// Found is the folder and the record of an earlier run.
type Found struct {
	Path   string
	Record *record.Run
}

// mostOfRecord is far above what the plan of a thousand stages takes.
const mostOfRecord = 1 << 28

// ReadRecord reads the record of the run in dir, with the figures that lie in its
// internal folder.
func ReadRecord(dir string) (*record.Run, error) {
	data, err := ReadRegular(filepath.Join(dir, "run.json"), mostOfRecord)
	if err != nil {
		return nil, err
	}
	var r record.Run
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s: is not the record of a run: %w", filepath.Join(dir, "run.json"), err)
	}
	r.Internal, r.Metrics, r.Notes = []record.File{}, map[string]float64{}, map[string]string{}
	for name, into := range map[string]any{MetricsFile: &Figures{r.Metrics, r.Notes}, FilesFile: &r.Internal} {
		if data, err := os.ReadFile(filepath.Join(dir, "internal", name)); err == nil {
			if err := json.Unmarshal(data, into); err != nil {
				return nil, fmt.Errorf("%s: internal/%s is damaged: %w", dir, name, err)
			}
		}
	}
	return &r, nil
}

// Files of internal/ that the runtime itself writes and reads.
const (
	FilesFile   = "files.json"   // what lies in internal/
	MetricsFile = "metrics.json" // Figures
	contentFile = "content"      // tells which content the run read
)

// Figures are all figures of a run against real rows.
type Figures struct {
	Metrics map[string]float64 `json:"metrics"`
	Notes   map[string]string  `json:"notes"`
}

// WriteRecord writes run.json.
func (d RunDir) WriteRecord(r *record.Run) error {
	return Write(filepath.Join(d.Path, "run.json"), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// NewRunDir makes and locks a run folder of its own under out/name, whose id is the time
// and 128 random bits.
func NewRunDir(out, name string, now time.Time, random io.Reader) (RunDir, string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return RunDir{}, "", err
	}
	id := now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
	base := filepath.Join(out, name)
	d := RunDir{Path: filepath.Join(base, id)}
	err := MakeRuns(out)
	if err != nil {
		return RunDir{}, "", err
	}
	if err = os.MkdirAll(base, 0o755); err == nil {
		err = os.Mkdir(d.Path, 0o755) // never one that is there
	}
	if err == nil {
		err = os.Mkdir(d.Internal(), 0o700)
	}
	if err != nil {
		return RunDir{}, "", fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, Reason(err))
	}
	return d, id, d.Lock()
}

// Lock holds the run against a second process. It ends with the process, even a killed one.
func (d *RunDir) Lock() error {
	d.lock = flock.New(filepath.Join(d.Internal(), "lock"), flock.SetPermissions(0o600))
	locked, err := d.lock.TryLock()
	if err == nil && !locked {
		return ErrLocked
	}
	return err
}

// Unlock lets another process take the run over.
func (d *RunDir) Unlock() error { return d.lock.Close() }

// KeepContent writes which content the run reads.
func (d RunDir) KeepContent(content string) error {
	return d.Keep(contentFile, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// HasRead reports whether the run read this content.
func (d RunDir) HasRead(content string) bool {
	read, err := os.ReadFile(filepath.Join(d.Internal(), contentFile))
	return err == nil && string(read) == content
}

const runsIgnore = `# Keys of data and of noise, figures of private rows: nothing in this folder is
# for version control. Copy from it what lies in a release folder.
*
`

// MakeRuns makes the folder of runs. A new one, or an empty one, tells git to leave
// its files alone: "git add -A" would stage every key. A folder that holds anything is
// the owner's and gets no file.
func MakeRuns(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) > 0 {
		return err
	}
	f, err := os.OpenFile(filepath.Join(out, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil // of a run that began at the same time
	}
	if err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	_, err = f.WriteString(runsIgnore)
	return errors.Join(err, f.Close())
}
