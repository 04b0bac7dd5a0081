package store

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/record"
)

// RunDir is Out/NAME/ID with release/ and internal/.
type RunDir struct {
	Disk   disk.Disk
	Path   string
	unlock func() error
}

func (d RunDir) Internal() string { return filepath.Join(d.Path, "internal") } // for the owner
func (d RunDir) Release() string  { return filepath.Join(d.Path, "release") }  // may leave
// Aside returns where a release is built before it takes its name.
func (d RunDir) Aside() string { return d.Release() + ".tmp" }

// Keep writes internal/name, which only the owner reads (mode 0600).
func (d RunDir) Keep(name string, write func(io.Writer) error) error {
	return d.Disk.Write(filepath.Join(d.Internal(), name), 0o600, write)
}

// KeepJSON keeps v as indented JSON.
func (d RunDir) KeepJSON(name string, v any) error {
	return d.Keep(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// Runs lists the folders in base that have a record, by their ids, which begin with the
// time. base, which the user names, is never used as a glob pattern.
func Runs(base string) (paths []string, err error) {
	folders, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, folder := range folders {
		path := filepath.Join(base, folder.Name())
		if _, err := os.Lstat(recordPath(path)); err == nil {
			paths = append(paths, path)
		}
	}
	return paths, err
}

// RunFolders lists the folders in base that are named as NewRunDir names them, also of runs
// that were killed before they had a record.
func RunFolders(base string) (paths []string, err error) {
	folders, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, folder := range folders {
		if folder.IsDir() && runID().MatchString(folder.Name()) {
			paths = append(paths, filepath.Join(base, folder.Name()))
		}
	}
	return paths, err
}

// runID returns how NewRunDir names a run.
func runID() *regexp.Regexp { return regexp.MustCompile(`^\d{8}-\d{6}-[0-9a-f]{32}$`) }

func recordPath(dir string) string { return filepath.Join(dir, "run.json") }

// mostOfRecord is far above what the plan of a thousand stages takes.
const mostOfRecord = 1 << 28

// ReadRecord reads the record of the run in dir, with the figures that lie in its
// internal folder.
func ReadRecord(dir string) (*record.Run, error) {
	data, err := disk.ReadFile(recordPath(dir), mostOfRecord)
	if err != nil {
		return nil, err
	}
	internal := map[string][]byte{}
	for _, name := range []string{MetricsFile, FilesFile} {
		if data, err := disk.ReadFile(filepath.Join(dir, "internal", name), 0); err == nil {
			internal[name] = data
		}
	}
	return decodeRecord(dir, data, internal)
}

// decodeRecord does not pass on what the decoder says, which may quote a figure.
func decodeRecord(dir string, run []byte, internal map[string][]byte) (*record.Run, error) {
	var r record.Run
	if json.Unmarshal(run, &r) != nil {
		return nil, fmt.Errorf("%s: is not the record of a run, must be one", recordPath(dir))
	}
	r.Internal, r.Metrics, r.Notes = []record.File{}, map[string]float64{}, map[string]string{}
	into := map[string]any{MetricsFile: &Figures{r.Metrics, r.Notes}, FilesFile: &r.Internal}
	for _, name := range slices.Sorted(maps.Keys(internal)) {
		if json.Unmarshal(internal[name], into[name]) != nil {
			return nil, fmt.Errorf("%s: internal/%s is damaged: it is not JSON as weir writes it", dir, name)
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

// Figures holds the figures of a run that were computed from real rows, and their notes.
type Figures struct {
	Metrics map[string]float64 `json:"metrics"`
	Notes   map[string]string  `json:"notes"`
}

// WriteRecord writes run.json.
func (d RunDir) WriteRecord(r *record.Run) error {
	return d.Disk.Write(recordPath(d.Path), 0o600, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(r)
	})
}

// NewRunDir makes and locks a run folder of its own under out/name, whose id is the time
// and 128 random bits.
func NewRunDir(files disk.Disk, out, name string, began time.Time, random io.Reader) (RunDir, string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return RunDir{}, "", err
	}
	id := began.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
	base := filepath.Join(out, name)
	d := RunDir{Disk: files, Path: filepath.Join(base, id)}
	err := MakeRuns(files, out)
	if err != nil {
		return RunDir{}, "", err
	}
	if err = files.MkdirAll(base, 0o755); err == nil {
		err = files.Mkdir(d.Path, 0o755) // never one that is there
	}
	if err == nil {
		err = files.Mkdir(d.Internal(), 0o700)
	}
	if err != nil {
		return RunDir{}, "", fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, Reason(err))
	}
	return d, id, d.Lock()
}

// Lock holds the run against a second process. It ends with the process, even a killed one.
func (d *RunDir) Lock() (err error) {
	d.unlock, err = d.Disk.TryLock(filepath.Join(d.Internal(), "lock"))
	return err
}

// Unlock lets another process take the run over.
func (d *RunDir) Unlock() error { return d.unlock() }

// KeepContent writes which content the run reads.
func (d RunDir) KeepContent(content string) error {
	return d.Keep(contentFile, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	})
}

// HasRead reports whether the run read this content.
func (d RunDir) HasRead(content string) bool {
	read, err := disk.ReadFile(filepath.Join(d.Internal(), contentFile), 0)
	return err == nil && string(read) == content
}

const runsIgnore = `# Keys of data and of noise, figures of private rows: nothing in this folder is
# for version control. Copy from it what lies in a release folder.
*
`

// MakeRuns makes the folder of runs. A new one, or an empty one, tells git to leave
// its files alone: "git add -A" would stage every key. A folder that holds anything is
// the owner's and gets no file.
func MakeRuns(d disk.Disk, out string) error {
	if err := d.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	files, err := os.ReadDir(out)
	if err != nil || len(files) > 0 {
		return err
	}
	err = d.New(filepath.Join(out, ".gitignore"), 0o644, []byte(runsIgnore))
	if errors.Is(err, fs.ErrExist) {
		return nil // of a run that began at the same time
	}
	if err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable (--out): %w", out, Reason(err))
	}
	return nil
}

// LockRuns holds the finding and beginning of runs of one name against other processes. It
// is held for as long as that takes; a run that is at work holds a lock of its own.
func LockRuns(d disk.Disk, out, name string) (unlock func() error, err error) {
	base := filepath.Join(out, name)
	if err := MakeRuns(d, out); err != nil {
		return nil, err
	}
	if err := d.MkdirAll(base, 0o755); err != nil {
		return nil, fmt.Errorf("%s: the folder of runs must be writable (--out): %w", base, Reason(err))
	}
	return d.Lock(filepath.Join(base, "begin"))
}

// again is how often a run that another process holds is looked at.
const again = 50 * time.Millisecond

// Wait returns when no process holds the run any more, or it is gone.
func (d RunDir) Wait(ctx context.Context) error {
	for {
		err := d.Lock()
		switch {
		case err == nil:
			return d.Unlock()
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, disk.ErrLocked):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(again):
		}
	}
}

// Notes is what its owner has written about a run. It stays in internal/: people write down what they saw.
type Notes struct {
	Note string   `json:"note,omitempty"`
	Tags []string `json:"tags,omitempty"`
}

// notesFile is the file of notes in the internal folder of a run.
const notesFile = "notes.json"

// mostOfNotes is far above what a person writes.
const mostOfNotes = 1 << 20

// ReadNotes reads the notes on the run in dir; none where there are none.
func ReadNotes(dir string) (n Notes, err error) {
	path := filepath.Join(RunDir{Path: dir}.Internal(), notesFile)
	data, err := disk.ReadFile(path, mostOfNotes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return n, nil
	case err != nil:
		return n, Reason(err)
	case json.Unmarshal(data, &n) != nil:
		return Notes{}, fmt.Errorf("%s: holds no notes, must be what weir runs note writes", path)
	}
	return n, nil
}

// ChangeNotes changes the notes on the run, one writer at a time.
func (d RunDir) ChangeNotes(change func(*Notes)) (err error) {
	unlock, err := d.Disk.Lock(filepath.Join(d.Internal(), notesFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	n, err := ReadNotes(d.Path)
	if err != nil {
		return err
	}
	change(&n)
	return d.KeepJSON(notesFile, n)
}

// Digests returns the digests of recorded files, by name.
func Digests(files []record.File) map[string]string {
	digests := map[string]string{}
	for _, f := range files {
		digests[f.Path] = f.SHA256
	}
	return digests
}

// Listing returns all that lies under release/, whoever put it there, with its digest. A
// release is plain files: a folder, a link or anything else has a text in place of a
// digest that no record holds. What a link points to may be another file tomorrow.
func (d RunDir) Listing() (map[string]string, error) {
	files := map[string]string{}
	root := d.Release()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root && e.IsDir() {
			return err
		}
		name, err := filepath.Rel(d.Path, path)
		if err != nil {
			return err
		}
		digest := "no regular file"
		if e.Type().IsRegular() {
			digest, _, err = DigestFile(path)
		}
		files[filepath.ToSlash(name)] = digest
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return files, nil
	}
	return files, err
}

// CheckRelease reports whether a release is as its record says; its error names every file that is not.
func (d RunDir) CheckRelease(rec *record.Run) error {
	listed, err := d.Listing()
	if err != nil {
		return err
	}
	recorded, faults := Digests(rec.Release), []string(nil)
	for name, digest := range recorded {
		if listed[name] != digest {
			faults = append(faults, name+": is missing or has changed")
		}
	}
	for name := range listed {
		if recorded[name] == "" {
			faults = append(faults, name+": is not in the record")
		}
	}
	if len(faults) == 0 {
		return nil
	}
	slices.Sort(faults)
	return errors.New(strings.Join(faults, "; "))
}

// Releasing returns the folder of the run in whose release a file would lie; "" where it lies in none.
func Releasing(file string) string {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		run := RunDir{Path: filepath.Dir(dir)}
		if _, err := ReadRecord(run.Path); err == nil && filepath.Clean(run.Release()) == dir {
			return run.Path
		}
	}
	return ""
}
