package runtime_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/privacy"
	"weir/privacy/ledger"
	"weir/runtime/collect"
)

// heap is a folder of runs, made by hand.
type heap struct {
	*testing.T
	out string
	n   int
}

func newHeap(t *testing.T) *heap { return &heap{T: t, out: filepath.Join(t.TempDir(), "runs")} }

var old = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (h *heap) write(name, text string) {
	h.Helper()
	path := filepath.Join(h.out, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.Fatal(err)
	}
}

// run makes the folder of a run whose record has a status, and returns its name below out.
func (h *heap) run(spec, status, more string) string {
	h.n++
	id := fmt.Sprintf("20260101-000000-%032x", h.n)
	name := spec + "/" + id
	h.write(name+"/internal/lock", "")
	h.write(name+"/internal/noise.key", "key")
	if status != "" {
		h.write(name+"/run.json", fmt.Sprintf(`{"id":%q,"status":%q,"build":"here","noise_key_kept":true%s}`, id, status,
			more))
	}
	return name
}

// age makes everything old.
func (h *heap) age() {
	filepath.WalkDir(h.out, func(path string, _ os.DirEntry, _ error) error { return os.Chtimes(path, old, old) })
}

func (h *heap) rules() collect.Rules {
	return collect.Rules{Out: h.out, Before: old.Add(time.Hour), Build: "here"}
}

// found lists what is found by its place, with why it is kept.
func (h *heap) found(r collect.Rules) (*collect.Found, map[string]string) {
	h.Helper()
	f, err := collect.Find(r)
	if err != nil {
		h.Fatal(err)
	}
	items := map[string]string{}
	for _, i := range f.Items {
		name, _ := filepath.Rel(h.out, i.Path)
		items[name] = i.Kept
	}
	return f, items
}

func (h *heap) remove(f *collect.Found) (removed int) {
	h.Helper()
	if err := f.Remove(h.Context(), func(collect.Item) { removed++ }); err != nil {
		h.Error(err)
	}
	return removed
}

func (h *heap) there(name string) bool {
	_, err := os.Lstat(filepath.Join(h.out, name))
	return err == nil
}

func address(digit string) string { return strings.Repeat(digit, 64) }

// charge writes a ledger with a charge of a run and returns its path.
func (h *heap) charge(run string) string {
	h.Helper()
	path := filepath.Join(h.out, "ledgers", "x.weir-ledger.jsonl")
	l, err := ledger.Open(disk.Disk{}, path, "ds-"+strings.Repeat("0", 32), func() time.Time { return old })
	if err == nil {
		_, err = l.Append(nil, ledger.Charge{ID: run, Run: run, Spec: "s", Version: "1", Stage: "train", Unit: ledger.Unit{},
			Adjacency: privacy.AddRemove, Event: privacy.Gaussian{NoiseMultiplier: 2}})
	}
	if err != nil {
		h.Fatal(err)
	}
	return path
}

// TestUnfinishedRunsThatPaidNothingGo: one that has paid, by its record or by the ledger
// alone, stays, and so does one of which nobody can tell.
func TestUnfinishedRunsThatPaidNothingGo(t *testing.T) {
	h := newHeap(t)
	failed := h.run("a", "failed", "")
	never := h.run("a", "", "")
	noted := h.run("a", "interrupted", `,"charges":[{"id":"x"}]`)
	h.n++
	id := fmt.Sprintf("20260101-000000-%032x", h.n+1)
	os.MkdirAll(filepath.Join(h.out, "ledgers"), 0o755)
	path := h.charge(id)
	killed := h.run("a", "running", fmt.Sprintf(`,"dataset":{"ledger":%q}`, path))
	free := h.run("a", "interrupted", fmt.Sprintf(`,"charges":[{"run":"another"}],"dataset":{"ledger":%q}`, path))
	lost := h.run("a", "failed", `,"dataset":{"ledger":"/nowhere/l"}`)
	damaged := h.run("a", "done\x1b", "")
	done := h.run("a", "done", "")
	h.age()
	f, items := h.found(h.rules())
	for name, retained := range map[string]string{failed: "", never: "", free: "", noted: "it has paid (charges: 1)",
		killed: "it has paid (charges: 1)", lost: "cannot be read", damaged: "nobody can tell"} {
		if got, is := items[name]; !is || !strings.Contains(got, retained) || (retained == "") != (got == "") {
			t.Errorf("%s: kept %q (%v), must be %q", name, got, is, retained)
		}
	}
	if _, is := items[done]; is || len(items) != 7 {
		t.Errorf("found %v, must be 7 without the finished run", items)
	}
	if n := h.remove(f); n != 3 || h.there(failed) || h.there(never) || h.there(free) || !h.there(noted+"/run.json") ||
		!h.there(killed) || !h.there(lost) || !h.there(damaged) || !h.there(done) {
		t.Errorf("removed %d, must be 3", n)
	}
	r := h.rules()
	r.Paid = true
	f, _ = h.found(r)
	if n := h.remove(f); n != 3 || h.there(noted) || h.there(killed) || h.there(lost) || !h.there(damaged) ||
		!h.there(done+"/internal/noise.key") {
		t.Errorf("with what was paid: removed %d, must be 3", n)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("the ledger is gone")
	}
}

// TestCachesGoByAge, those that were paid only where that is asked for, and what is used or
// is not weir's never.
func TestCachesGoByAge(t *testing.T) {
	h := newHeap(t)
	h.run("a", "done", "")
	for _, name := range []string{"a/cache/" + address("1"), "cache/" + address("2"), "cache/" + address("3"), "cache/" +
		address("4"), "cache/" + address("5")} {
		h.write(name+"/manifest.json", "{}")
		h.write(name+"/out.arrow", "rows")
	}
	h.write("cache/mine/manifest.json", "{}")
	payer := h.run("a", "done", "")
	note := func(digit, run, more string) string {
		return fmt.Sprintf(`{"run":%q,"name":"a","address":"sha256:%s","build":"here"%s}`, filepath.Base(run), address(digit),
			more)
	}
	h.write("cache/paid/"+address("a")+"/"+filepath.Base(payer)+".json", note("3", payer, ""))
	h.write("cache/paid/"+address("b")+"/x.json", `{"address":"sha256:`+address("4")+`", damaged`)
	h.write("cache/paid/"+address("c")+"/x.json", note("6", payer, `,"not_private":true`))
	h.write("cache/"+address("6")+"/manifest.json", "{}")
	h.age()
	os.Chtimes(filepath.Join(h.out, "cache", address("5"), "out.arrow"), time.Now(), time.Now())
	f, items := h.found(h.rules())
	if len(items) != 5 || items["cache/"+address("3")] == "" || items["cache/"+address("4")] == "" ||
		collect.Bytes(f.Removable()) != 2*6+2 {
		t.Fatalf("found %v", items)
	}
	if n := h.remove(f); n != 3 || h.there("a/cache/"+address("1")) || h.there("cache/"+address("2")) ||
		!h.there("cache/"+address("4")+"/out.arrow") || !h.there("cache/"+address("5")+"/out.arrow") {
		t.Errorf("removed %d, must be 3", n)
	}
	r := h.rules()
	r.Paid = true
	f, _ = h.found(r)
	for _, i := range f.Removable() {
		if want := filepath.Base(i.Path) == address("4"); i.Costs != want {
			t.Errorf("%s: costs is %v, must be %v", i.Path, i.Costs, want)
		}
	}
	if n := h.remove(f); n != 2 || h.there("cache/"+address("3")) || !h.there("cache/paid/"+address("b")+"/x.json") ||
		!h.there("cache/mine/manifest.json") {
		t.Errorf("with what was paid: removed %d, must be 2", n)
	}
}

// TestReleasesGoWhereAsked, and what makes them again stays; those that nobody can make
// again are kept.
func TestReleasesGoWhereAsked(t *testing.T) {
	h := newHeap(t)
	mine, other, keyless := h.run("a", "done", ""), h.run("a", "done", `,"build":"elsewhere"`), h.run("a", "done", "")
	os.Remove(filepath.Join(h.out, keyless, "internal", "noise.key"))
	for _, run := range []string{mine, other, keyless} {
		h.write(run+"/release/sample.csv", "1,2\n")
	}
	h.age()
	if _, of := h.found(h.rules()); len(of) != 0 {
		t.Errorf("found %v without being asked", of)
	}
	r := h.rules()
	r.Release = true
	f, items := h.found(r)
	if len(items) != 3 || items[mine+"/release"] != "" || items[other+"/release"] == "" ||
		items[keyless+"/release"] == "" {
		t.Errorf("found %v", items)
	}
	if n := h.remove(f); n != 1 || h.there(mine+"/release") || h.there(mine+"/release.tmp") ||
		!h.there(mine+"/run.json") || !h.there(mine+"/internal/noise.key") || !h.there(other+"/release/sample.csv") {
		t.Errorf("removed %d, must be 1", n)
	}
	h.write(mine+"/release.tmp/sample.csv", "1") // of a removal that was killed
	h.age()
	if f, items = h.found(h.rules()); len(items) != 1 || h.remove(f) != 1 || h.there(mine+"/release.tmp") {
		t.Errorf("found %v, must be what a removal left", items)
	}
}

// TestReleaseOfAnothersNoise: a run that took the noise of another one makes its release again
// while what that one paid for is at hand.
func TestReleaseOfAnothersNoise(t *testing.T) {
	h := newHeap(t)
	payer := h.run("a", "done", "")
	taker := h.run("b", "done", fmt.Sprintf(`,"charges":[{"run":%q}],"stages":[{"recipe":"sha256:%s","from":%q}]`,
		filepath.Base(payer), address("a"), filepath.Base(payer)))
	h.write(taker+"/release/sample.csv", "1,2\n")
	h.write("cache/paid/"+address("a")+"/"+filepath.Base(payer)+".json",
		fmt.Sprintf(`{"run":%q,"name":"a","address":"sha256:%s","build":"here"}`, filepath.Base(payer), address("1")))
	h.write("cache/"+address("1")+"/manifest.json", "{}")
	r := h.rules()
	r.Release = true
	costs := func(what string, want bool) {
		t.Helper()
		h.age()
		if _, of := h.found(r); (of[taker+"/release"] != "") != want {
			t.Errorf("%s: kept is %q, must be for a new charge: %v", what, of[taker+"/release"], want)
		}
	}
	costs("output and key", false)
	os.Remove(filepath.Join(h.out, payer, "internal/noise.key"))
	costs("the output alone", false)
	os.RemoveAll(filepath.Join(h.out, "cache", address("1")))
	costs("neither", true)
	h.write(payer+"/internal/noise.key", "key")
	costs("the key alone", false)
}

// TestWhatIsUsedStays: a run that a process works on, and the caches that it may read; one
// that came into use since it was found.
func TestWhatIsUsedStays(t *testing.T) {
	h := newHeap(t)
	free, retained := h.run("a", "interrupted", ""), h.run("b", "running", "")
	for _, name := range []string{"a/cache/" + address("1"), "b/cache/" + address("2"), "cache/" + address("3")} {
		h.write(name+"/manifest.json", "{}")
	}
	h.age()
	early, _ := h.found(h.rules())
	unlock, err := disk.Disk{}.TryLock(filepath.Join(h.out, retained, "internal", "lock"))
	if err != nil {
		t.Fatal(err)
	}
	_, items := h.found(h.rules())
	if items[retained] == "" || items["b/cache/"+address("2")] == "" || items["cache/"+address("3")] == "" ||
		items[free] != "" ||
		items["a/cache/"+address("1")] != "" {
		t.Errorf("found %v", items)
	}
	h.write(free+"/internal/new", "at work again")
	removed := 0
	err = early.Remove(t.Context(), func(collect.Item) { removed++ })
	if err == nil || removed != 1 || !h.there(retained+"/run.json") || !h.there(free+"/run.json") ||
		!h.there("b/cache/"+address("2")) || !h.there("cache/"+address("3")) {
		t.Errorf("removed %d, %v: must be the cache of a alone", removed, err)
	}
	unlock()
}

// TestHostileFolders: links lead nowhere, files are no folders, and what is not named as
// weir names it is left.
func TestHostileFolders(t *testing.T) {
	h := newHeap(t)
	outside := t.TempDir()
	os.MkdirAll(filepath.Join(outside, address("1")), 0o755)
	os.WriteFile(filepath.Join(outside, "run.json"), []byte(`{"status":"failed"}`), 0o600)
	id := func(n int) string { return fmt.Sprintf("20260101-000000-%032x", 100+n) }
	h.write("a/"+id(1), "a file")
	h.write("a/20260101-x/run.json", `{"status":"failed"}`)
	h.write("a/..."+id(2)+"/run.json", `{"status":"failed"}`)
	h.write("a/"+id(3)+"/run.json", `{"status":"failed"}`)
	h.write("a/"+id(5)+"/run.json/x", "a folder")
	for name, to := range map[string]string{"linked": outside, "a/" + id(4): outside, "cache": outside, "a/cache": outside,
		"a/" + id(3) + "/internal": outside} {
		if err := os.Symlink(to, filepath.Join(h.out, name)); err != nil {
			t.Fatal(err)
		}
	}
	r := h.rules()
	r.Before, r.Paid, r.Release = time.Now().Add(time.Hour), true, true
	f, of := h.found(r)
	if of["a/"+id(1)] == "" || of["a/"+id(4)] == "" || of["a/"+id(5)] == "" || len(of) != 4 {
		t.Errorf("found %v", of)
	}
	if err := f.Remove(t.Context(), func(i collect.Item) { t.Errorf("removed %s", i.Path) }); err == nil {
		t.Error("a run whose internal is a link is removed")
	}
	left, _ := os.ReadDir(outside)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{address("1"), "run.json"}) {
		t.Errorf("outside lie %v", names)
	}
	if f, err := collect.Find(collect.Rules{Out: filepath.Join(h.out, "absent")}); err != nil || len(f.Items) != 0 {
		t.Errorf("no folder of runs: %v, %v", f, err)
	}
}

// TestStoppedAnywhere: after a removal that dies at any change, another one takes the rest,
// and never is there a run with a record but without its key, a manifest without its
// output, or a part of a release under its name.
func TestStoppedAnywhere(t *testing.T) {
	for stop := 0; ; stop++ {
		h := newHeap(t)
		run, done, cached := h.run("a", "failed", ""), h.run("a", "done", ""), "cache/"+address("1")
		h.write(done+"/release/sample.csv", "1,2\n")
		h.write(cached+"/manifest.json", "{}")
		h.write(cached+"/out.arrow", "rows")
		h.age()
		changes, r := 0, h.rules()
		r.Release = true
		r.Disk = disk.Disk{Watch: func(c disk.Change) (int64, error) {
			if changes++; changes > stop {
				if c.Op == disk.OpRemove && h.there(strings.TrimPrefix(c.Path, h.out+"/")) {
					half(c.Path)
				}
				return 0, os.ErrDeadlineExceeded
			}
			return 0, nil
		}}
		f, err := collect.Find(r)
		if err == nil {
			err = f.Remove(t.Context(), func(collect.Item) {})
		}
		if h.there(run+"/run.json") != h.there(run+"/internal/noise.key") && h.there(run+"/run.json") ||
			h.there(cached+"/manifest.json") && !h.there(cached+"/out.arrow") || h.there(done+"/release") &&
			!h.there(done+"/release/sample.csv") {
			t.Fatalf("stopped after %d changes: what is left is not whole", stop)
		}
		h.age()
		r.Disk = disk.Disk{}
		f, _ = h.found(r)
		h.remove(f)
		if h.there(run) || h.there(cached) || h.there(done+"/release") || h.there(done+"/release.tmp") ||
			!h.there(done+"/internal/noise.key") {
			t.Fatalf("stopped after %d changes: the next removal leaves something", stop)
		}
		if err == nil {
			break // it was not stopped
		}
	}
}

// half removes some of what lies in a folder, as a removal that is killed does.
func half(path string) {
	for _, name := range []string{"out.arrow", "sample.csv", "internal/noise.key"} {
		os.Remove(filepath.Join(path, name))
	}
}
