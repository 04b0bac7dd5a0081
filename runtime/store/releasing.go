package store

import "path/filepath"

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
