package ledger

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
)

// branch returns the ledger with charges appended at the given second.
func branch(t testing.TB, data []byte, second int, ids ...string) []byte {
	t.Helper()
	m := &memory{data: bytes.Clone(data)}
	l, err := newLedger(m, dataset, func() time.Time { return time.Date(2026, 2, 1, 0, 0, second, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if _, err := l.Append(nil, charge(id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	return m.data
}

func merged(t testing.TB, branches ...[]byte) []byte {
	t.Helper()
	out, err := merge(branches...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ids(t testing.TB, data []byte) string {
	t.Helper()
	entries, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.ID)
	}
	return strings.Join(out, " ")
}

func TestMerge(t *testing.T) {
	base := filled(t, 2).data
	ours := branch(t, base, 10, "a1", "a2")
	theirs := branch(t, base, 5, "b1")
	const want = "c1 c2 b1 a1 a2"
	got := merged(t, ours, theirs)
	if ids(t, got) != want && ids(t, got) != "c1 c2 b1 a2 a1" {
		t.Errorf("merge holds %s, must hold %s", ids(t, got), want)
	}
	if !bytes.HasPrefix(got, base) {
		t.Error("the common beginning was changed")
	}
	if !bytes.Equal(got, merged(t, theirs, ours)) || !bytes.Equal(got, merged(t, ours, theirs, ours, base)) {
		t.Error("the order of the branches matters")
	}
	if !bytes.Equal(got, merged(t, got)) || !bytes.Equal(ours, merged(t, ours, base)) {
		t.Error("merging what is merged changes it")
	}
	before, _ := Parse(ours)
	after, _ := Parse(got)
	if err := Includes(after, Head{4, before[3].Hash}); err != nil {
		t.Errorf("the head of a branch is lost: %v", err)
	}
}

// TestMergeAgain merges a merged ledger with a branch that went on.
func TestMergeAgain(t *testing.T) {
	base := filled(t, 1).data
	ours, theirs := branch(t, base, 10, "a"), branch(t, base, 20, "b")
	first := branch(t, merged(t, ours, theirs), 30, "after")
	second := branch(t, theirs, 40, "more")
	if got := ids(t, merged(t, first, second)); got != "c1 a b after more" {
		t.Errorf("second merge holds %s", got)
	}
}

func TestMergeWhatGitLeaves(t *testing.T) {
	base := filled(t, 1).data
	ours, theirs := branch(t, base, 10, "a"), branch(t, base, 20, "b")
	a, b := string(ours[len(base):]), string(theirs[len(base):])
	for name, file := range map[string]string{
		"conflict": string(base) + "<<<<<<< HEAD\n" + a + "=======\n" + b + ">>>>>>> theirs\n",
		"diff3":    string(base) + "<<<<<<< HEAD\n" + a + "||||||| base\n=======\n" + b + ">>>>>>> theirs\n",
		"union":    string(base) + b + a,
		"crlf":     strings.ReplaceAll(string(base)+b+a, "\n", "\r\n"),
	} {
		if got := ids(t, merged(t, []byte(file))); got != "c1 a b" {
			t.Errorf("%s: holds %s", name, got)
		}
		path := filepath.Join(t.TempDir(), "l")
		os.WriteFile(path, []byte(file), 0o644)
		if err := MergeFiles(disk.Disk{}, path); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(disk.Disk{}, path, dataset, ticking()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMergeWithoutCommonCharge(t *testing.T) {
	a, b := branch(t, nil, 1, "a"), branch(t, nil, 2, "b")
	if got := ids(t, merged(t, b, nil, a)); got != "a b" {
		t.Errorf("holds %s", got)
	}
}

func TestMergeRefuses(t *testing.T) {
	three := lines(filled(t, 3).data)
	edited := strings.Replace(three[1], `"epsilon":2`, `"epsilon":1`, 1)
	for name, file := range map[string]string{"a removed line": three[0] + three[2], "an edited line": three[0] + edited +
		three[2], "text": "x\n"} {
		_, err := merge([]byte(three[0]), []byte(file))
		var at *lineError
		if !errors.As(err, &at) || !strings.Contains(err.Error(), "file 2") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	m := &memory{}
	l, _ := newLedger(m, "ds-other", ticking())
	l.Append(nil, charge("x", 1))
	if _, err := merge([]byte(three[0]), m.data); err == nil || !strings.Contains(err.Error(), "dataset") {
		t.Errorf("ledgers of two datasets: %v", err)
	}
}

// TestForgedOriginIsNamed edits a merged charge and chains everything anew: its
// origin still tells.
func TestForgedOriginIsNamed(t *testing.T) {
	base := filled(t, 1).data
	entries, err := Parse(merged(t, branch(t, base, 10, "a"), branch(t, base, 20, "b")))
	if err != nil {
		t.Fatal(err)
	}
	forged, prev := []byte(nil), entries[0].Prev
	for i, e := range entries {
		if i == 1 {
			e.Stage = "other"
		}
		e.Prev = prev
		e, err = e.seal()
		if err != nil {
			t.Fatal(err)
		}
		line, _ := e.line()
		forged, prev = append(forged, line...), e.Hash
	}
	var at *lineError
	if _, err := Parse(forged); !errors.As(err, &at) || at.Line != 2 {
		t.Errorf("a forged charge with an origin: %v, must name line 2", err)
	}
}

const elsewhere = "ds-ffeeddccbbaa99887766554433221100"

// TestJoin: charges of another dataset are appended without a cap, once, all or
// none, under the filter of the ledger that takes them.
func TestJoin(t *testing.T) {
	limit := &Cap{Epsilon: 3, Delta: 1e-6, Adjacency: privacy.AddRemove, Filter: "basic"}
	other, _ := newLedger(&memory{}, elsewhere, ticking())
	if _, err := other.Append(&Cap{Epsilon: 50, Delta: 1e-6, Adjacency: privacy.AddRemove}, charge("a", 1),
		charge("b", 2)); err != nil {
		t.Fatal(err)
	}
	store := &memory{}
	l, _ := newLedger(store, dataset, ticking())
	if _, err := l.Append(limit, charge("a", 2)); err != nil {
		t.Fatal(err)
	}
	store.failAppend = true
	if n, err := l.Join(other.Entries()); !errors.Is(err, errDisk) || len(l.Entries()) != 1 {
		t.Errorf("%d, %v: must fail and add nothing", n, err)
	}
	store.failAppend = false
	for _, want := range []int{2, 0} {
		if n, err := l.Join(other.Entries()); n != want || err != nil {
			t.Errorf("%d, %v, must be %d", n, err, want)
		}
	}
	entries, err := Parse(store.data)
	if err != nil || len(entries) != 3 || entries[1].ID != "a joined from "+elsewhere ||
		!entries[1].Time.Equal(other.Entries()[0].Time) {
		t.Errorf("%+v, %v", entries, err)
	}
	if f, _, err := FilterOf(entries); err != nil || f.Name != "basic" {
		t.Errorf("%v, %v: must stay basic", f, err)
	}
	if _, err := l.Append(limit, charge("c", 0.1)); !errors.Is(err, ErrOverBudget) {
		t.Errorf("%v: joined charges do not count", err)
	}
	fresh, _ := newLedger(&memory{}, dataset, ticking())
	if _, err := fresh.Join(other.Entries()); err != nil {
		t.Fatal(err)
	}
	if f, _, err := FilterOf(fresh.Entries()); err != nil || f == nil || f.Name != "rdp" {
		t.Errorf("%v, %v: the filter that was fixed before is forgotten", f, err)
	}
}
