package store

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"weir/record"
)

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
