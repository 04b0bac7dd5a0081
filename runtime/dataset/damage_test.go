package dataset

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestDamageIsSaid: a file that cannot be read as it was written is an error
// that says what to do, is not replaced, and is not quoted.
func TestDamageIsSaid(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	files := []string{b.path("a.csv" + OwnerSuffix), filepath.Join(b.out, "datasets", "index.json"),
		filepath.Join(b.out, "datasets", id.ID+".json")}
	for _, path := range files {
		whole, _ := os.ReadFile(path)
		for name, text := range map[string][]byte{
			"empty": nil, "cut": whole[:len(whole)/2], "not JSON": []byte("x"), "of nothing": []byte("{}"),
			"another id":  bytes.ReplaceAll(whole, []byte(id.ID), []byte("../../evil")),
			"a short key": bytes.Replace(whole, []byte(`"key": "`), []byte(`"key": "0`), 1),
		} {
			if bytes.Equal(text, whole) {
				continue // the index has no id
			}
			os.WriteFile(path, text, 0o600)
			_, err := b.try("a.csv", "1")
			mustContain(t, err, path, "is damaged", "restore it")
			if now, _ := os.ReadFile(path); !bytes.Equal(now, text) {
				t.Errorf("%s, %s: was replaced", path, name)
			}
			if _, _, err := KnownPrivate(b.out, b.path("x.csv"), "sha256:x"); path != files[0] && err == nil {
				t.Errorf("%s, %s: the damaged index knows nothing, without a word", path, name)
			}
		}
		os.WriteFile(path, whole, 0o600)
	}
	os.Remove(files[1])
	_, err := b.try("a.csv", "1")
	mustContain(t, err, files[1], "is missing", "restore it")
}

// TestDisagreeingFiles: two files that give one id two keys.
func TestDisagreeingFiles(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	b.identify("a.csv", "1")
	path := b.path("a.csv" + OwnerSuffix)
	text, _ := os.ReadFile(path)
	from := bytes.Index(text, []byte(`"key": "`)) + 8
	copy(text[from:], strings.Repeat("ab", 32))
	os.WriteFile(path, text, 0o600)
	_, err := b.try("a.csv", "1")
	mustContain(t, err, path, "has another key", "move", "away")
}

func TestBadPaths(t *testing.T) {
	b := newBench(t)
	b.write("a.csv", people(0, 300))
	o := b.opening("a.csv", "1")
	for path, word := range map[string]string{"": "must be a file", b.path("absent.csv"): "absent.csv"} {
		o.Path = path
		_, err := Identify(t.Context(), o)
		mustContain(t, err, word)
	}
	o.Path = b.path("a.csv")
	o.Out = b.path("a.csv") // a file
	_, err := Identify(t.Context(), o)
	mustContain(t, err, "must be writable")
}

// TestTwoProcesses: runs that find the same and other new datasets at once lose
// nothing of each other and agree.
func TestTwoProcesses(t *testing.T) {
	b := newBench(t)
	const files = 4
	for i := range files {
		b.write(fmt.Sprintf("%d.csv", i), people(1000*i, 1000*i+300))
		b.write(fmt.Sprintf("%d-copy.csv", i), people(1000*i, 1000*i+300))
	}
	var wait sync.WaitGroup
	out := make([][]byte, 4)
	for p := range out {
		wait.Go(func() {
			c := exec.Command(os.Args[0], "-test.run=^TestProcess$")
			c.Env = append(os.Environ(), "WEIR_DIR="+b.dir, "WEIR_OUT="+b.out, fmt.Sprintf("WEIR_SEED=%d", p))
			out[p], _ = c.CombinedOutput()
		})
	}
	wait.Wait()
	x, err := readIndex(b.out)
	if err != nil || len(x.records) != files {
		t.Fatalf("%d datasets, %v, must be %d\n%s", len(x.records), err, files, bytes.Join(out, nil))
	}
	for _, r := range x.records {
		if r.LedgerCount == 0 || len(r.Places) != 2 {
			t.Errorf("%s: %d charges, %d places, must be some and 2", r.ID, r.LedgerCount, len(r.Places))
		}
		id := b.identify(filepath.Base(r.Places[0].Path), "1")
		if l := b.charge(id, id.Ledger, 0); id.CheckLedger(l.Entries()) != nil || l.Head().Count != id.head.Count {
			t.Errorf("%s: head %v, ledger %v", r.ID, id.head, l.Head())
		}
	}
}

// TestProcess is one process of TestTwoProcesses.
func TestProcess(t *testing.T) {
	dir := os.Getenv("WEIR_DIR")
	if dir == "" {
		return
	}
	b := newBench(t)
	b.dir, b.out = dir, os.Getenv("WEIR_OUT")
	b.random = strings.NewReader(strings.Repeat(os.Getenv("WEIR_SEED")+"0123456789abcdef-other", 100))
	for i := range 4 {
		for _, name := range []string{"%d.csv", "%d-copy.csv"} {
			id := b.identify(fmt.Sprintf(name, i), "1")
			b.chargeAs(id, filepath.Join(dir, id.ID+LedgerSuffix), os.Getenv("WEIR_SEED")+name)
		}
	}
}

func TestKnownPrivate(t *testing.T) {
	b := newBench(t)
	if what, is, err := KnownPrivate(b.out, b.path("x.csv"), "sha256:x"); is || err != nil {
		t.Errorf("%q, %v: known before any run", what, err)
	}
	b.write("a.csv", people(0, 300))
	id := b.identify("a.csv", "1")
	digest := b.opening("a.csv", "1").Digest
	if what, is, err := KnownPrivate(b.out, b.path("a.csv"), digest); !is || err != nil || !strings.Contains(what,
		id.ID) || !strings.Contains(what, b.path("a.csv")) {
		t.Errorf("%q, %v, %v: must be %s", what, is, err, id.ID)
	}
	if _, is, _ := KnownPrivate(b.out, b.path("x.csv"), "sha256:x"); is {
		t.Error("any content is known as private")
	}
}
