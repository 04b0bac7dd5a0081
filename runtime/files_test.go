package runtime

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

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
