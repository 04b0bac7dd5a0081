package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/record"
)

// TestRunDirIsOfOneRun: its own, locked, with an inside for the owner, and read again.
func TestRunDirIsOfOneRun(t *testing.T) {
	out := filepath.Join(t.TempDir(), `[a-z]*\?{x}`) // whatever a folder is called
	random := bytes.NewReader(bytes.Repeat([]byte{7}, 64))
	current := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	d, id, err := NewRunDir(disk.Disk{}, out, "study", current, random)
	if err != nil || id != "20261122-010203-"+strings.Repeat("07", 16) || d.Path != filepath.Join(out, "study", id) {
		t.Fatalf("%s in %s, %v", id, d.Path, err)
	}
	if info, err := os.Stat(d.Internal()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("internal has mode %v, %v", info.Mode(), err)
	}
	if _, _, err := NewRunDir(disk.Disk{}, out, "study", current, random); !errors.Is(err, os.ErrExist) {
		t.Errorf("the folder of another run: %v, must be refused", err)
	}
	second := RunDir{Path: d.Path}
	if err := second.Lock(); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("a second holder: %v, must be refused", err)
	}
	if err := errors.Join(d.Unlock(), second.Lock(), second.Unlock()); err != nil {
		t.Errorf("after it is free: %v", err)
	}
	rec := &record.Run{SpecDigest: "s", Dataset: record.Dataset{ID: "d", Version: "1"}}
	if err := errors.Join(d.WriteRecord(rec), d.KeepContent("rows"),
		d.KeepJSON(MetricsFile, Figures{Metrics: map[string]float64{"a": 1}})); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadRecord(d.Path); err != nil || again.Metrics["a"] != 1 {
		t.Errorf("read again: %+v, %v", again, err)
	}
	if !d.HasRead("rows") || d.HasRead("other rows") {
		t.Error("which content was read is not known")
	}
}

// TestReleaseIsPlainFiles: what is missing, changed, or lies there beside them is found; a
// link is not a file, whatever it points to.
func TestReleaseIsPlainFiles(t *testing.T) {
	for name, c := range map[string]struct {
		change func(release string) error
		ok     bool
	}{
		"as written": {func(string) error { return nil }, true},
		"changed":    {func(r string) error { return os.WriteFile(filepath.Join(r, "a"), []byte("2"), 0o600) }, false},
		"missing":    {func(r string) error { return os.Remove(filepath.Join(r, "a")) }, false},
		"one more":   {func(r string) error { return os.WriteFile(filepath.Join(r, "b"), nil, 0o600) }, false},
		"two faults": {func(r string) error {
			return errors.Join(os.WriteFile(filepath.Join(r, "b"), nil, 0o600), os.Remove(filepath.Join(r, "a")))
		}, false},
		"a folder": {func(r string) error { return os.Mkdir(filepath.Join(r, "b"), 0o700) }, false},
		"a link": {func(r string) error {
			a := filepath.Join(r, "a")
			return errors.Join(os.Rename(a, filepath.Join(filepath.Dir(r), "a")), os.Symlink("../a", a))
		}, false},
	} {
		d := RunDir{Path: t.TempDir()}
		file := filepath.Join(d.Release(), "a")
		if err := (disk.Disk{}).WriteBytes(file, 0o644, []byte("1")); err != nil {
			t.Fatal(err)
		}
		digest, size, err := DigestFile(file)
		if err != nil || c.change(d.Release()) != nil {
			t.Fatal(err)
		}
		err = d.CheckRelease(&record.Run{Release: []record.File{{Path: "release/a", SHA256: digest, Bytes: size}}})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		const both = "release/a: is missing or has changed; release/b: is not in the record"
		if name == "two faults" && (err == nil || err.Error() != both) {
			t.Errorf("is %v, must be %s", err, both)
		}
	}
}
