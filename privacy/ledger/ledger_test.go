package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
)

const dataset = "ds-00112233445566778899aabbccddeeff"

// memory is a Store that fails, or stops short, when told to.
type memory struct {
	data, aside     []byte
	failAside       bool
	failAppend      bool // writes half and then fails
	failSync, stuck bool // stuck: cannot truncate either
}

var errDisk = errors.New("no space left on device")

func (m *memory) Lock() (func() error, error) { return func() error { return nil }, nil }
func (m *memory) ReadAll() ([]byte, error)    { return bytes.Clone(m.data), nil }
func (m *memory) Append(b []byte) error {
	if m.failAppend {
		m.data = append(m.data, b[:len(b)/2]...)
		return errDisk
	}
	m.data = append(m.data, b...)
	return nil
}
func (m *memory) Truncate(n int64) error {
	if m.stuck {
		return errDisk
	}
	m.data = m.data[:n]
	return nil
}
func (m *memory) Aside(b []byte) (string, error) {
	if m.failAside {
		return "", errDisk
	}
	m.aside = append(m.aside, b...)
	return "aside", nil
}
func (m *memory) Sync() error {
	if m.failSync {
		return errDisk
	}
	return nil
}

// ticking returns a clock that moves a second at each look.
func ticking() func() time.Time {
	t := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	return func() time.Time { t = t.Add(time.Second); return t }
}

func charge(id string, epsilon float64) Charge {
	return Charge{ID: id, Run: "run-1", Spec: "sha256:5", Version: "1", Stage: "train", Name: "sum", Recipe: "sha256:7",
		Adjacency: privacy.AddRemove, Event: privacy.Pure{Epsilon: epsilon}}
}

// adding is the accountant of basic composition, for pure events.
type adding struct{}

func (adding) Name() string { return "adding" }
func (a adding) Epsilon(events []privacy.Event, _ privacy.Adjacency, delta float64) (sum float64, err error) {
	for _, e := range events {
		switch e := e.(type) {
		case privacy.Pure:
			sum += e.Epsilon
		case privacy.Repeated:
			inner, _ := a.Epsilon([]privacy.Event{e.Event}, "", 0)
			sum += float64(e.Count) * inner
		default:
			return 0, privacy.ErrUnsupported
		}
	}
	return sum, nil
}
func (adding) Delta([]privacy.Event, privacy.Adjacency, float64) (float64, error) { return 0, nil }

// filled returns a store with n charges of epsilon 1, 2, ...
func filled(t testing.TB, n int) *memory {
	t.Helper()
	m := &memory{}
	l, err := newLedger(m, dataset, ticking())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := l.Append(nil, charge(fmt.Sprint("c", i+1), float64(i+1))); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

func lines(data []byte) []string {
	return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
}

func TestAppendReadsBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv.weir-ledger.jsonl")
	l, err := Open(disk.Disk{}, path, dataset, ticking())
	if err != nil {
		t.Fatal(err)
	}
	written, err := l.Append(nil, charge("a", 1), charge("b", 2))
	if err != nil || len(written) != 2 {
		t.Fatal(written, err)
	}
	again, err := Open(disk.Disk{}, path, dataset, ticking())
	if err != nil {
		t.Fatal(err)
	}
	got := again.Entries()
	if len(got) != 2 || got[1].ID != "b" || got[1].Prev != got[0].Hash ||
		got[0].Event.Event != (privacy.Pure{Epsilon: 1}) || got[1].Hash != written[1].Hash {
		t.Errorf("read back %+v", got)
	}
	if again.Head() != (Head{2, got[1].Hash}) || Includes(got, l.Head()) != nil {
		t.Errorf("head is %+v", again.Head())
	}
	if _, err := Open(disk.Disk{}, path, "ds-other", ticking()); err == nil || !strings.Contains(err.Error(), "dataset") {
		t.Errorf("the ledger of another dataset opens: %v", err)
	}
}

func TestAppendRefuses(t *testing.T) {
	l, _ := newLedger(filled(t, 2), dataset, ticking())
	for name, c := range map[string]Charge{
		"the same id":  charge("c1", 1),
		"no id":        charge("", 1),
		"no event":     {ID: "x", Version: "1", Adjacency: privacy.AddRemove},
		"a bad event":  charge("x", -1),
		"no adjacency": {ID: "x", Version: "1", Event: privacy.Pure{Epsilon: 1}},
		"a NaN from a paper": {ID: "x", Version: "1", Adjacency: privacy.AddRemove, Unproven: "W13",
			Published: ptr(math.NaN())},
		"no version":        {ID: "x", Adjacency: privacy.AddRemove, Event: privacy.Pure{Epsilon: 1}},
		"rows without unit": withUnit(charge("x", 1), "", 4),
		"a unit of no rows": withUnit(charge("x", 1), "patient", 0),
	} {
		if _, err := l.Append(nil, c); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if _, err := l.Append(nil, charge("n", 1), charge("n", 1)); !errors.Is(err, ErrCharged) {
		t.Errorf("an id twice in one call: %v", err)
	}
	if n := len(l.Entries()); n != 2 {
		t.Errorf("refused charges were written: %d entries", n)
	}
}

func withUnit(c Charge, column string, rows int) Charge {
	c.Unit = Unit{column, rows}
	return c
}

func ptr(x float64) *float64 { return &x }

// TestCutAnywhere cuts the file at every byte: opening keeps every whole charge,
// and the next charge follows.
func TestCutAnywhere(t *testing.T) {
	full := filled(t, 3).data
	for cut := range len(full) + 1 {
		for _, tail := range []string{"", "\x00\x00\x00"} {
			m := &memory{data: append(bytes.Clone(full[:cut]), tail...)}
			l, err := newLedger(m, dataset, ticking())
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			whole := bytes.Count(full[:cut], []byte("\n"))
			if cut < len(full) && full[cut] == '\n' {
				whole++ // only the newline is missing
			}
			if n := len(l.Entries()); n != whole {
				t.Fatalf("cut at %d: %d charges, must keep %d", cut, n, whole)
			}
			if _, err := l.Append(nil, charge("next", 1)); err != nil {
				t.Fatal(err)
			}
			if got, err := Parse(m.data); err != nil || len(got) != whole+1 {
				t.Fatalf("cut at %d, after the next charge: %d, %v", cut, len(got), err)
			}
		}
	}
}

func TestFullDisk(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		m := filled(t, 2)
		l, _ := newLedger(m, dataset, ticking())
		m.failAppend, m.stuck = true, stuck
		if _, err := l.Append(nil, charge("x", 1)); !errors.Is(err, errDisk) {
			t.Fatalf("a full disk gives %v", err)
		}
		m.failAppend, m.stuck = false, false
		if _, err := l.Append(nil, charge("y", 1)); err != nil {
			t.Fatal(err)
		}
		if got, err := Parse(m.data); err != nil || len(got) != 3 || got[2].ID != "y" {
			t.Errorf("after a full disk: %d charges, %v", len(got), err)
		}
	}
	m := filled(t, 1)
	l, _ := newLedger(m, dataset, ticking())
	m.failSync = true
	if _, err := l.Append(nil, charge("x", 1)); !errors.Is(err, errDisk) {
		t.Errorf("a failed sync gives %v", err)
	}
	m.failSync = false
	if _, err := l.Append(nil, charge("y", 1)); err != nil || len(l.Entries()) != 3 {
		t.Errorf("after a failed sync: %v, %d charges, must overstate (3)", err, len(l.Entries()))
	}
}

func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l")
	var group sync.WaitGroup
	for w := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			l, err := Open(disk.Disk{}, path, dataset, ticking())
			for i := 0; i < 5 && err == nil; i++ {
				_, err = l.Append(nil, charge(fmt.Sprint(w, "/", i), 1))
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}
	group.Wait()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Parse(data); err != nil || len(got) != 20 {
		t.Errorf("%d charges, must be 20: %v", len(got), err)
	}
}

// TestTamperingIsNamed edits, swaps, removes, repeats and inserts lines.
func TestTamperingIsNamed(t *testing.T) {
	whole := lines(filled(t, 5).data)
	join := func(l ...string) []byte { return []byte(strings.Join(l, "")) }
	edit := func(i int, old, new string) []byte {
		l := append([]string(nil), whole...)
		if !strings.Contains(l[i], old) {
			t.Fatalf("%q is not in %s", old, l[i])
		}
		l[i] = strings.Replace(l[i], old, new, 1)
		return join(l...)
	}
	other := lines(filled(t, 5).data)
	forged, _ := Parse(join(other...))
	f := forged[2]
	f.Event.Event = privacy.Pure{Epsilon: 0.1}
	f, _ = f.seal()
	text, _ := f.line()
	for name, c := range map[string]struct {
		data []byte
		line int
	}{
		"smaller epsilon":   {edit(2, `"epsilon":3`, `"epsilon":1`), 3},
		"other time":        {edit(1, "2026", "2025"), 2},
		"a space":           {edit(3, `","time`, `", "time`), 4},
		"an unknown key":    {edit(0, `{"prev"`, `{"x":1,"prev"`), 1},
		"a key twice":       {edit(0, `{"prev"`, `{"run":"z","prev"`), 1},
		"other hash":        {edit(4, `"hash":"sha256:`, `"hash":"sha256:0`), 5},
		"forged hash":       {join(whole[0], whole[1], string(text)+"\n", whole[3]), 4},
		"swapped":           {join(whole[0], whole[2], whole[1], whole[3]), 2},
		"first removed":     {join(whole[1:]...), 1},
		"middle removed":    {join(whole[0], whole[1], whole[3]), 3},
		"repeated":          {join(whole[0], whole[1], whole[1]), 3},
		"a blank line":      {join(whole[0], "\n", whole[1]), 2},
		"a conflict marker": {join(whole[0], "<<<<<<< HEAD\n", whole[1]), 2},
		"not JSON":          {join(whole[0], "hello\n", whole[1]), 2},
		"nothing but text":  {[]byte("hello\n"), 1},
	} {
		data := []byte(strings.ReplaceAll(string(c.data), "}\n\n", "}\n"))
		if name == "a blank line" {
			data = c.data
		}
		_, err := Parse(data)
		var at *lineError
		if !errors.As(err, &at) || at.Line != c.line || !errors.Is(err, ErrTampered) {
			t.Errorf("%s: error is %v, must name line %d", name, err, c.line)
		}
		if _, err := newLedger(&memory{data: data}, dataset, ticking()); !errors.Is(err, ErrTampered) {
			t.Errorf("%s: opens with %v", name, err)
		}
	}
	if _, err := Parse(join(whole...)); err != nil {
		t.Errorf("the true ledger: %v", err)
	}
}

func TestRemovalAtTheEndNeedsAHead(t *testing.T) {
	data := filled(t, 4).data
	all, _ := Parse(data)
	short, err := Parse([]byte(strings.Join(lines(data)[:3], "")))
	if err != nil {
		t.Fatal("a chain cannot show this by itself", err)
	}
	head := Head{4, all[3].Hash}
	if err := Includes(short, head); !errors.Is(err, ErrTampered) {
		t.Errorf("removal at the end against the head: %v", err)
	}
	if err := Includes(all, Head{3, all[2].Hash}); err != nil {
		t.Error(err)
	}
}
