package disk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLockIsWaitedFor: in silence for a while, then with a word, until it is free or the
// wait is ended; and it is its owner's alone.
func TestLockIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	unlock, err := Disk{}.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path + ".lock"); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock has mode %v, %v, must be 0600", info.Mode(), err)
	}
	if err := os.Symlink("elsewhere", filepath.Join(filepath.Dir(path), "link.lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := (Disk{}).Lock(filepath.Join(filepath.Dir(path), "link")); err == nil {
		t.Error("a lock is made through a link")
	}
	ctx, cancel := context.WithCancel(t.Context())
	output := 0
	waiting := Disk{}.Waiting(Wait{Context: ctx, Quiet: time.Millisecond, Tell: func(string) { output++; cancel() }})
	if _, err := waiting.Lock(path); !errors.Is(err, context.Canceled) || output != 1 {
		t.Errorf("%v, told %d times; must be cancelled and told once", err, output)
	}
	output = 0
	waiting = Disk{}.Waiting(Wait{Context: t.Context(), Quiet: time.Millisecond,
		Tell: func(string) { output++; unlock() }})
	again, err := waiting.Lock(path)
	if err != nil || output != 1 {
		t.Fatalf("%v, told %d times; must be got and told once", err, output)
	}
	if err := again(); err != nil {
		t.Fatal(err)
	}
	if held, err := (Disk{}).TryLock(path + ".lock"); err != nil || held() != nil {
		t.Errorf("%v, must be free", err)
	}
}
