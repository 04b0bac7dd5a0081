package runtime

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestAtomicFiles: a file that is not committed never shows, and a failed write
// leaves what was there.
func TestAtomicFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	if err := writeAtomic(path, 0o600, func(w io.Writer) error { _, err := io.WriteString(w, "old"); return err }); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := writeAtomic(path, 0o600, func(w io.Writer) error { io.WriteString(w, "half"); return broken })
	data, _ := os.ReadFile(path)
	if !errors.Is(err, broken) || string(data) != "old" {
		t.Errorf("%v, file holds %q, must hold old", err, data)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left, must be 1", len(files))
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("mode is %v, must be 0600", info.Mode())
	}
}

func TestConfinedFolder(t *testing.T) {
	outside, inside := t.TempDir(), t.TempDir()
	os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600)
	os.WriteFile(filepath.Join(inside, "data"), []byte("x"), 0o600)
	os.Symlink(outside, filepath.Join(inside, "link"))
	os.Symlink("data", filepath.Join(inside, "alias"))
	f, err := OpenFolder(inside, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, name := range []string{"data", "./data", "alias"} {
		if err := f.Check(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"../" + filepath.Base(outside) + "/secret", "link/secret", filepath.Join(outside, "secret"), "/etc/passwd"} {
		if err := f.Check(name); !errors.Is(err, ErrConfined) {
			t.Errorf("%s: %v, must be refused", name, err)
		}
	}
	if err := f.Check("."); err == nil {
		t.Error("a folder passes for a file")
	}
}

// TestPublicRandIsAFunctionOfItsNames and of nothing else.
func TestPublicRandIsAFunctionOfItsNames(t *testing.T) {
	a := PublicRand(1, "train", "weights").Uint64()
	if a != PublicRand(1, "train", "weights").Uint64() {
		t.Error("the same names give other numbers")
	}
	for _, b := range []uint64{PublicRand(2, "train", "weights").Uint64(), PublicRand(1, "trai", "nweights").Uint64(), PublicRand(1, "train", "latent").Uint64()} {
		if a == b {
			t.Error("other names give the same numbers")
		}
	}
}
