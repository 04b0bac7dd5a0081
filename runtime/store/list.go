package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"weir/internal/disk"
	"weir/record"
)

// Names lists the folders of out that may hold runs, by the names of their specs. What
// weir keeps beside them, and links, are none.
func Names(out string) (names []string, err error) {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Entries lists what in the folder of a spec is named as a run, whether it is one or not.
func Entries(base string) (paths []string, err error) {
	entries, err := os.ReadDir(base)
	for _, e := range entries {
		if _, is := Began(e.Name()); is {
			paths = append(paths, filepath.Join(base, e.Name()))
		}
	}
	return paths, err
}

// Began returns when a run began, by its id; false for what is not an id.
func Began(id string) (time.Time, bool) {
	if !runID().MatchString(id) {
		return time.Time{}, false
	}
	at, err := time.Parse("20060102-150405", id[:15])
	return at, err == nil
}

// Summary is what a list of runs reads of run.json, which holds the whole plan besides.
type Summary struct {
	ID       string         `json:"id"`
	Status   record.Status  `json:"status"`
	Started  time.Time      `json:"started"`
	Build    string         `json:"build"`
	Insecure bool           `json:"not_private"`
	Spec     string         `json:"spec"` // canonical
	KeyKept  bool           `json:"noise_key_kept"`
	Dataset  record.Dataset `json:"dataset"`
	Charges  []struct {
		Run string `json:"run"` // another one that paid it
	} `json:"charges"`
	Stages []struct {
		ID     string `json:"id"`
		Kind   string `json:"kind"`
		Recipe string `json:"recipe"`
		From   string `json:"from"`
	} `json:"stages"`
	Terms struct {
		Delta     float64  `json:"delta"`
		Proven    *float64 `json:"epsilon_proven"`
		Published *float64 `json:"epsilon_published"`
	} `json:"terms"`
}

// Kinds returns the kinds of the stages by their names.
func (s Summary) Kinds() map[string]string {
	kinds := map[string]string{}
	for _, stage := range s.Stages {
		kinds[stage.ID] = stage.Kind
	}
	return kinds
}

// ReadSummary reads the summary of the run in dir. It follows no link and quotes nothing
// of what it reads.
func ReadSummary(dir string) (s Summary, err error) {
	if err := plainFolder(dir); err != nil {
		return s, err
	}
	data, err := disk.ReadFile(recordPath(dir), mostOfRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, fmt.Errorf("has no run.json: the run was killed before it began, or weir gc while removing it: %w",
			fs.ErrNotExist)
	case err != nil:
		return s, Reason(err)
	case json.Unmarshal(data, &s) != nil:
		return s, errors.New("run.json: is not the record of a run, must be one")
	case s.Status != record.Running && s.Status != record.Done && s.Status != record.Failed &&
		s.Status != record.Interrupted:
		return s, errors.New("run.json: has an unknown status, must be running, done, failed or interrupted")
	}
	return s, nil
}

func plainFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return Reason(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return errors.New("is a link, must be a folder")
	case !info.IsDir():
		return errors.New("is a file, must be a folder")
	}
	return nil
}

// ReadMetrics reads the figures of the run in dir, without the notes on them; none where they
// cannot be read.
func ReadMetrics(dir string) map[string]float64 {
	var f struct {
		Metrics map[string]float64 `json:"metrics"`
	}
	data, err := disk.ReadFile(filepath.Join(dir, "internal", MetricsFile), mostOfRecord)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return nil
	}
	return f.Metrics
}

// ReportOf returns the file of a run's report below its folder, or "".
func ReportOf(dir string) string {
	var files []record.File
	data, err := disk.ReadFile(filepath.Join(dir, "internal", FilesFile), mostOfRecord)
	if err != nil || json.Unmarshal(data, &files) != nil {
		return ""
	}
	for _, f := range files {
		if strings.HasSuffix(f.Path, ".html") && filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return f.Path
		}
	}
	return ""
}

// Held reports whether a process works on the run in dir. It makes no file and follows no
// link.
func Held(d disk.Disk, dir string) bool {
	lock := filepath.Join(dir, "internal", "lock")
	if plainFolder(filepath.Dir(lock)) != nil {
		return false
	}
	if info, err := os.Lstat(lock); err != nil || !info.Mode().IsRegular() {
		return false
	}
	unlock, err := d.TryLock(lock)
	if err != nil {
		return errors.Is(err, disk.ErrLocked)
	}
	return unlock() != nil
}

// Size returns the length of all files below a path, links not followed. What cannot be read
// counts nothing.
func Size(path string) (bytes int64) {
	filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Newest lists the folders of all runs below out, the newest first.
func Newest(out string) ([]string, error) {
	names, err := Names(out)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range names {
		found, err := Entries(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(filepath.Base(b), filepath.Base(a)) })
	return all, nil
}
