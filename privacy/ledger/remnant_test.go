package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/internal/disk"
)

// damaged are files that no crash of one Append leaves: each held whole charges,
// which opening must not throw away. The first n charges are still whole lines.
func damaged(t testing.TB) map[string]string {
	full := string(filled(t, 3).data)
	l := lines([]byte(full))
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	return map[string]string{
		"newlines stripped":              strings.ReplaceAll(full, "\n", ""),
		"newlines stripped but the last": strings.ReplaceAll(full, "\n", "") + "\n",
		"the last two run together":      l[0] + strings.ReplaceAll(l[1]+l[2], "\n", ""),
		"two and a half run together":    l[0] + strings.TrimSpace(l[1]) + l[2][:len(l[2])/2],
		"CR ends":                        strings.ReplaceAll(full, "\n", "\r"),
		"CR ends and a cut":              strings.ReplaceAll(full, "\n", "\r")[:len(full)-40],
		"NULs for newlines":              strings.ReplaceAll(full, "\n", "\x00"),
		"NULs for all":                   zeros(len(full)),
		"NULs for all but the end":       zeros(len(full)-1) + "\n",
		"NULs for two lines":             l[0] + zeros(len(l[1])+len(l[2])),
		"NULs for a line and a half":     l[0] + zeros(len(l[1])+len(l[2])/2),
		"NULs, then a line":              zeros(10) + l[0],
		"NULs in two places":             l[0] + l[1] + l[2][:50] + zeros(50) + l[2][100:200] + zeros(10),
		"NULs within the line before":    l[0] + l[1][:50] + zeros(50) + l[1][100:] + l[2],
		"NULs, then two ends":            l[0] + zeros(100) + l[1][300:] + l[2][350:],
		"NULs, then another language":    l[0] + zeros(100) + "\x8f\x02",
		"garbage":                        "\x8f\x02ELF not a ledger",
		"garbage of letters":             l[0] + "garbage",
		"garbage after a brace":          l[0] + "{garbage",
		"the beginning of another JSON":  l[0] + `{"name":"x","rows":[1,2`,
		"a CSV without an end":           "id,income\n1,2\n3",
		"a CSV of one line":              "id,income",
		"another predecessor":            l[0] + l[2][:len(l[2])-9],
		"the first line again":           l[0] + l[0][:len(l[0])-9],
		"another spelling":               l[0] + strings.Replace(l[1], `","time"`, `", "time"`, 1)[:200],
		"a key out of place":             l[0] + strings.Replace(l[1], `"run":`, `"ruin":`, 1)[:400],
		"an endless word":                l[0] + l[1][:100] + strings.Repeat("x", maxLine),
		"upper case":                     l[0] + strings.ToUpper(l[1][:200]),
		"a byte order mark":              "\xef\xbb\xbf" + l[0],
		"UTF-16":                         "\xff\xfe{\x00\"\x00p\x00r\x00e\x00v\x00",
		"half a conflict marker":         l[0] + "<<<<<<< HE",
	}
}

// TestNothingIsTruncatedThatIsNoRemnant: the file stays as it is, byte for byte, and the
// error says where, what was found and what to do.
func TestNothingIsTruncatedThatIsNoRemnant(t *testing.T) {
	for name, text := range damaged(t) {
		m := &memory{data: []byte(text)}
		_, err := newLedger(m, dataset, ticking())
		if !errors.Is(err, ErrTampered) || !strings.Contains(fmt.Sprint(err), "line ") {
			t.Errorf("%s: opens with %v", name, err)
		}
		if string(m.data) != text || len(m.aside) > 0 {
			t.Errorf("%s: the file was changed", name)
		}
		path := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(disk.Disk{}, path, dataset, ticking()); err == nil {
			t.Errorf("%s: opens on disk", name)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: the file on disk was changed: %v", name, err)
		}
	}
}

// TestRefusalSaysWhatToDo, and quotes nothing: the file may be the table itself.
func TestRefusalSaysWhatToDo(t *testing.T) {
	m := filled(t, 1)
	m.data = append(m.data, "id,secret\x0042"...)
	_, err := newLedger(m, dataset, ticking())
	for _, want := range []string{"line 2", "restore", "12 bytes"} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
	if strings.Contains(fmt.Sprint(err), "secret") {
		t.Errorf("%v quotes the file", err)
	}
}

// TestRemovedBytesAreKept: before the file is cut, beside it, for its owner alone, and
// never over what was kept before.
func TestRemovedBytesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	full := filled(t, 3).data
	last := bytes.LastIndexByte(full[:len(full)-1], '\n') + 1
	var kept []string
	for _, cut := range []int{last + 40, last + 100, last + 40} { // the third is what the first was
		if err := os.WriteFile(path, full[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := Open(disk.Disk{}, path, dataset, ticking())
		if err != nil {
			t.Fatal(err)
		}
		removed := l.Removed()
		if len(removed) != 1 || removed[0].Bytes != cut-last || removed[0].Line != 3 {
			t.Fatalf("removed %+v, must be %d bytes of line 3", removed, cut-last)
		}
		got, err := os.ReadFile(removed[0].Path)
		if err != nil || !bytes.Equal(got, full[last:cut]) {
			t.Errorf("kept %q: %v", got, err)
		}
		if info, err := os.Stat(removed[0].Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode is %v, must be 0600: %v", info.Mode(), err)
		}
		kept = append(kept, removed[0].Path)
	}
	if kept[0] == kept[1] || kept[0] != kept[2] {
		t.Errorf("kept in %v, must be two files", kept)
	}
	if beside, err := Remnants(path); err != nil || len(beside) != 2 {
		t.Errorf("beside the ledger: %v, %v, must be two", beside, err)
	}
}

// TestNothingIsCutThatCannotBeKept: the file stays where its bytes cannot be kept aside.
func TestNothingIsCutThatCannotBeKept(t *testing.T) {
	m := filled(t, 2)
	m.data = m.data[:len(m.data)-30]
	before := bytes.Clone(m.data)
	m.failAside = true
	if _, err := newLedger(m, dataset, ticking()); !errors.Is(err, errDisk) {
		t.Errorf("opens with %v", err)
	}
	if !bytes.Equal(m.data, before) {
		t.Error("the file was cut")
	}
}

// TestZerosForOneLine: a file system may have noted a size before the bytes came, so that
// some pages of an Append are zeros. One line is removed, and is kept aside.
func TestZerosForOneLine(t *testing.T) {
	full := string(filled(t, 3).data)
	l := lines([]byte(full))
	zeros := func(n int) string { return strings.Repeat("\x00", n) }
	for before, charged := range map[string]int{"": 0, l[0] + l[1]: 2} {
		next := l[charged]
		for name, rest := range map[string]string{
			"all of it":     zeros(len(next)),
			"its beginning": zeros(200) + next[200:],
			"its middle":    next[:100] + zeros(200) + next[300:],
			"its end":       next[:100] + zeros(len(next)-100),
			"before a cut":  zeros(100) + next[100:200],
		} {
			m := &memory{data: []byte(before + rest)}
			got, err := newLedger(m, dataset, ticking())
			if err != nil || len(got.Entries()) != charged || string(m.aside) != rest || string(m.data) != before {
				t.Errorf("%s after %d charges: %v, %d bytes aside, must be %d", name, charged, err, len(m.aside), len(rest))
			}
		}
	}
}

// TestSeveralLinesOfOneAppend, cut anywhere: what is whole stays charged.
func TestSeveralLinesOfOneAppend(t *testing.T) {
	m := filled(t, 1)
	first := len(m.data)
	l, err := newLedger(m, dataset, ticking())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, charge("x", 1), charge("y", 1), charge("z", 1)); err != nil {
		t.Fatal(err)
	}
	for cut := first; cut < len(m.data); cut++ {
		torn := &memory{data: bytes.Clone(m.data[:cut])}
		l, err := newLedger(torn, dataset, ticking())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := bytes.Count(m.data[:cut], []byte("\n"))
		if m.data[cut] == '\n' {
			whole++
		}
		if len(l.Entries()) != whole {
			t.Fatalf("cut at %d: %d charges, must keep %d", cut, len(l.Entries()), whole)
		}
		if kept := string(torn.aside); kept != string(m.data[len(m.data[:cut])-len(kept):cut]) {
			t.Fatalf("cut at %d: %q is kept aside", cut, kept)
		}
	}
}

// TestShortestLine is what noLine rests on: no charge fits into fewer bytes.
func TestShortestLine(t *testing.T) {
	m := &memory{}
	l, err := newLedger(m, "d", ticking())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(nil, Charge{ID: "i", Version: "1", Adjacency: "add_remove", Unproven: "W"}); err != nil {
		t.Fatal(err)
	}
	if len(m.data) < noLine {
		t.Errorf("a line of %d bytes, and noLine is %d", len(m.data), noLine)
	}
}
