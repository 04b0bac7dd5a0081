package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
)

func parsed(t testing.TB, data []byte) []Entry {
	t.Helper()
	entries, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// copyOf writes a copy and returns it, read by nobody yet, with its path.
func copyOf(t testing.TB, data []byte) (*Copy, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "copy")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return NewCopy(disk.Disk{}, path, dataset), path
}

// TestCopyGrowsByLines: each charge writes its own line and nothing else, so that what is
// written of n charges is as long as the file.
func TestCopyGrowsByLines(t *testing.T) {
	full, written := filled(t, 40).data, int64(0)
	d := disk.Disk{Watch: func(c disk.Change) (int64, error) {
		if c.Op == disk.OpWrite {
			written += c.Size
		}
		return 0, nil
	}}
	path := filepath.Join(t.TempDir(), "copy")
	c, all := NewCopy(d, path, dataset), parsed(t, full)
	for n := range all {
		if err := c.Follow(all[:n+1]); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); ids(t, got) != ids(t, full[:len(got)]) || len(parsed(t, got)) != n+1 {
			t.Fatalf("after %d charges the copy holds %s", n+1, ids(t, got))
		}
	}
	if err := c.Follow(all[:3]); err != nil { // of a process that had read the ledger earlier
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, full) || written != int64(len(full)) {
		t.Errorf("%d bytes were written for a copy of %d, must be as many", written, len(full))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is open to others: %v %v", info.Mode(), err)
	}
}

// TestCopyCutAnywhere: wherever a crash cuts the last line, the copy holds the lines before, and
// the ledger makes it whole.
func TestCopyCutAnywhere(t *testing.T) {
	full := filled(t, 3).data
	two := len(lines(full)[0] + lines(full)[1])
	for cut := two; cut <= len(full); cut++ {
		for _, zeros := range []int{0, 7} {
			c, path := copyOf(t, append(bytes.Clone(full[:cut]), make([]byte, zeros)...))
			if got, err := c.Entries(); err != nil || len(got) < 2 || len(got) > 3 {
				t.Errorf("cut at %d, %d zeros: %d lines, %v", cut, zeros, len(got), err)
			}
			if got, _ := os.ReadFile(path); len(got) != cut+zeros {
				t.Errorf("cut at %d: reading it changed it", cut)
			}
			if err := c.Follow(parsed(t, full)); err != nil {
				t.Errorf("cut at %d, %d zeros: %v", cut, zeros, err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, full) {
				t.Errorf("cut at %d, %d zeros: the copy is not made whole", cut, zeros)
			}
		}
	}
}

// TestCopyFollowsMerges: a merged ledger is another chain, which the copy takes over because
// none of its charges is lost by it.
func TestCopyFollowsMerges(t *testing.T) {
	base := filled(t, 2).data
	ours, theirs := branch(t, base, 10, "a1", "a2"), branch(t, base, 5, "b1")
	both := merged(t, ours, theirs)
	c, path := copyOf(t, ours)
	if err := c.Follow(parsed(t, both)); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, both) {
		t.Errorf("the copy holds %s", ids(t, got))
	}
	for name, lost := range map[string][]byte{
		"the other branch":          branch(t, theirs, 20, "b2", "b3"),
		"a cut ledger that went on": branch(t, base, 20, "c"),
	} {
		err := c.Follow(parsed(t, lost))
		if !errors.Is(err, ErrLacking) || !errors.Is(err, ErrTampered) {
			t.Errorf("%s: %v, must be refused", name, err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, both) {
			t.Errorf("%s: the copy lost charges", name)
		}
	}
}

// TestCopyIsJudged: what is no copy of this dataset's ledger is an error, and stays.
func TestCopyIsJudged(t *testing.T) {
	full := filled(t, 3).data
	for name, text := range damaged(t) {
		c, path := copyOf(t, []byte(text))
		if _, err := c.Entries(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error is %v, must name the file", name, err)
		}
		if err := c.Follow(parsed(t, full)); err == nil {
			t.Errorf("%s: is written over", name)
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
	c, _ := copyOf(t, full)
	c.dataset = "ds-other"
	if err := c.Follow(parsed(t, full)); !errors.Is(err, ErrOtherDataset) {
		t.Errorf("the copy of another dataset: %v", err)
	}
}

// TestRestore: a ledger is written from a copy that holds all its charges, and stays otherwise.
func TestRestore(t *testing.T) {
	base := filled(t, 2).data
	ours, theirs := branch(t, base, 10, "a1", "a2"), branch(t, base, 5, "b1")
	both := merged(t, ours, theirs)
	cut := both[:len(both)-30]
	edit := func(text []byte) []byte { return bytes.Replace(text, []byte(`"run":"`), []byte(`"run":"x`), 1) }
	edited, other := edit(ours), append(bytes.Clone(base), edit(theirs[len(base):])...)
	lines := bytes.SplitAfter(ours, []byte("\n"))
	swapped := bytes.Join([][]byte{lines[1], lines[0], lines[2], lines[3]}, nil)
	for name, c := range map[string]struct {
		present, copy, want []byte
		there               int
		fault               error
	}{
		"gone":                      {nil, both, both, 0, nil},
		"an older one":              {base, ours, ours, 2, nil},
		"the same":                  {ours, ours, ours, 4, nil},
		"one that was cut":          {cut, both, both, 4, nil},
		"before a merge":            {theirs, both, both, 3, nil},
		"a longer one":              {ours, base, ours, 4, ErrBranch},
		"another branch":            {theirs, ours, theirs, 3, ErrBranch},
		"one that was edited":       {edited, ours, ours, 3, nil},
		"lines that changed places": {swapped, ours, ours, 4, nil},
		"one of garbage":            {[]byte("x\n\x00y\n"), ours, ours, 0, nil},
		"one line too many": {append(bytes.Clone(ours), "x\n"...), ours, append(bytes.Clone(ours), "x\n"...), 4,
			ErrTampered},
		"an edited other charge": {other, base, other, 2, ErrTampered},
		"one of an edited branch": {append(bytes.Clone(edited), theirs[len(base):]...), ours, append(bytes.Clone(edited),
			theirs[len(base):]...), 3, ErrBranch},
	} {
		path := filepath.Join(t.TempDir(), "folder", "ledger")
		if c.present != nil {
			os.Mkdir(filepath.Dir(path), 0o755)
			os.WriteFile(path, c.present, 0o644)
		}
		done, err := Restore(disk.Disk{}, path, parsed(t, c.copy))
		if done.There != c.there || !errors.Is(err, c.fault) {
			t.Errorf("%s: %d charges were there, %v; must be %d, %v", name, done.There, err, c.there, c.fault)
		}
		if kept, _ := os.ReadFile(done.Kept); err == nil && len(done.Altered) > 0 && !bytes.Equal(kept, c.present) {
			t.Errorf("%s: the ledger as it was is lost", name)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, c.want) {
			t.Errorf("%s: holds %d bytes, must hold %d", name, len(got), len(c.want))
		}
	}
}

// TestLinkedLedgerStaysLinked: what is written whole lands where a charge would be appended.
func TestLinkedLedgerStaysLinked(t *testing.T) {
	full := filled(t, 3).data
	for what, write := range map[string]func(path string) error{
		"restore": func(path string) error {
			_, err := Restore(disk.Disk{}, path, parsed(t, full))
			return err
		},
		"merge": func(path string) error {
			_, other := copyOf(t, full)
			return MergeFiles(disk.Disk{}, path, other)
		},
	} {
		home, path := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "ledger")
		one := full[:bytes.IndexByte(full, '\n')+1]
		if err := errors.Join(os.WriteFile(home, one, 0o644), os.Symlink(home, path), write(path)); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		got, _ := os.ReadFile(home)
		if to, err := os.Readlink(path); err != nil || to != home || !bytes.Equal(got, full) {
			t.Errorf("%s: %v: the ledger that the link leads to holds %d bytes, want %d", what, err, len(got), len(full))
		}
	}
}
