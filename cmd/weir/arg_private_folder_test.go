package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"weir/internal/disk"
)

// TestFoldersOfKilledAuditsAreRemoved: a folder whose process is gone is removed by the next command, with the rows in
// it; one whose process lives, one that is just being made, and one of another prefix stay.
func TestFoldersOfKilledAuditsAreRemoved(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary)
	lay := func(name string, files ...string) string {
		dir := filepath.Join(temporary, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, file := range append(files, "rows.csv") {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	killed, unlocked, other := lay("weir-audit-1", privateLock), lay("weir-audit-2"), lay("weir-verify-3", privateLock)
	alive := lay("weir-audit-4", privateLock)
	unlock, err := disk.Disk{}.TryLock(filepath.Join(alive, privateLock))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	folder, remove, err := privateFolder(auditFolder)
	if err != nil {
		t.Fatal(err)
	}
	for dir, stays := range map[string]bool{killed: false, unlocked: true, other: true, alive: true, folder: true} {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) == stays {
			t.Errorf("%s: %v, must stay: %t", dir, err, stays)
		}
	}
	if _, err := os.Stat(folder); err != nil {
		t.Error(err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left: %v", folder, err)
	}
}
