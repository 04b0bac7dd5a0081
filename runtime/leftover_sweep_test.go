package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSweepLeavesWhatIsNotOurs: --out may be a folder of the user's, in which a folder is named
// as the spec is; what killed runs left goes, and whatever is only called alike stays.
func TestSweepLeavesWhatIsNotOurs(t *testing.T) {
	out := t.TempDir()
	id := "20261122-010203-" + strings.Repeat("0a", 16)
	ours := []string{"cache/" + strings.Repeat("0a", 32) + "/.out.arrow.tmp12", "lies/" + id + "/internal/.noise.key.tmp3",
		"datasets/.index.json.tmp4", "owners/.a.weir-owner.json.tmp5", "ledgers/.d.weir-ledger.jsonl.tmp6"}
	theirs := []string{"lies/mine/.photo.tmp2024", "lies/.data.csv.tmp1", "cache/mine/.photo.tmp8",
		"datasets/x/.thesis.tmp7", "datasets/.thesis.tmp8", "owners/.me.tmp9", "lies/" + id + "x/.a.tmp1"}
	for _, name := range append(ours, theirs...) {
		path := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(t.Context(), planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1)), testOptions(out)); err != nil {
		t.Fatal(err)
	}
	for _, name := range ours {
		if _, err := os.Lstat(filepath.Join(out, name)); err == nil {
			t.Errorf("%s is left", name)
		}
	}
	for _, name := range theirs {
		if _, err := os.Lstat(filepath.Join(out, name)); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
}
