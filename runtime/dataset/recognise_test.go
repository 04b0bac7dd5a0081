package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/runtime/store"
)

// tree lists what lies below folders, with digests and times of change.
func tree(t *testing.T, roots ...string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				fmt.Fprintln(&b, path)
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			digest, _, err := store.DigestFile(path)
			fmt.Fprintln(&b, path, digest, info.ModTime())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// replay recognises the data of a replay under a folder of runs.
func (b *bench) replay(out string) (*Identity, error) {
	o := b.opening("a.csv", "1")
	o.Out, o.Replay = out, true
	return Identify(b.Context(), o)
}

// TestReplayLeavesNoTrace: by the owner file, by the index or by neither, a replay writes nothing, and it has the key
// of its run or none.
func TestReplayLeavesNoTrace(t *testing.T) {
	b, empty := newBench(t), filepath.Join(t.TempDir(), "empty")
	b.write("a.csv", people(0, 300))
	one := b.identify("a.csv", "1")
	b.charge(one, b.path("a.csv"+LedgerSuffix), 1)
	for _, c := range []struct {
		what, out   string
		owner, know bool
	}{{"with its side", b.out, true, true}, {"by the owner file", empty, true, true},
		{"by the folder of runs", b.out, false, true}, {"by its ledger, without the key", empty, false, false}} {
		if !c.owner {
			os.Remove(b.path("a.csv" + OwnerSuffix))
		}
		before := tree(t, b.dir, b.out, empty)
		id, err := b.replay(c.out)
		if after := tree(t, b.dir, b.out, empty); after != before {
			t.Errorf("%s: a replay changed\n%sto\n%s", c.what, before, after)
		}
		switch {
		case !c.know && !errors.Is(err, ErrUnknownData):
			t.Errorf("%s: %v, must be unknown", c.what, err)
		case c.know && (err != nil || id.ID != one.ID || id.Secret != one.Secret || id.Content() != one.Content()):
			t.Errorf("%s: %+v %v, must be %+v", c.what, id, err, one)
		case c.know && strings.Contains(strings.Join(id.Notes, "\n"), "written"):
			t.Errorf("%s: %q, must not say that anything is written", c.what, id.Notes)
		}
	}
}
