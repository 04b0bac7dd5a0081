package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/pipeline"
	"weir/runtime/table"
)

// metrics returns a small table of one figure.
func metrics() (pipeline.Headers, pipeline.Tables) {
	h := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema()}
	return pipeline.Headers{"out": h},
		pipeline.Tables{"out": pipeline.WriteMetrics(h, []pipeline.Metric{{Name: "rows", Value: 73313}})}
}

func keepsPromise() error { return nil }

// TestCacheFindsWhatIsWholeOnly: damage, a missing file, a cut manifest and a port that was
// not planned then are all "not there"; nothing stale is read.
func TestCacheFindsWhatIsWholeOnly(t *testing.T) {
	const address = "sha256:1"
	want, out := metrics()
	for name, c := range map[string]struct {
		damage func(dir string) error
		found  bool
	}{
		"nothing":      {func(string) error { return nil }, true},
		"no manifest":  {func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) }, false},
		"cut manifest": {func(dir string) error { return os.Truncate(filepath.Join(dir, "manifest.json"), 9) }, false},
		"no file":      {func(dir string) error { return os.Remove(filepath.Join(dir, "out.arrow")) }, false},
		"a cut file":   {func(dir string) error { return os.Truncate(filepath.Join(dir, "out.arrow"), 50) }, false},
		"another bit": {func(dir string) error {
			data, err := os.ReadFile(filepath.Join(dir, "out.arrow"))
			data[len(data)/2] ^= 1
			return errors.Join(err, os.WriteFile(filepath.Join(dir, "out.arrow"), data, 0o600))
		}, false},
	} {
		cache := Cache{Dir: t.TempDir()}
		if _, err := cache.Store(t.Context(), address, want, out, keepsPromise); err != nil {
			t.Fatal(err)
		}
		if err := c.damage(cache.folder(address)); err != nil {
			t.Fatal(err)
		}
		tables, ok := cache.Load(address, want)
		if ok != c.found {
			t.Errorf("%s: found is %v, must be %v", name, ok, c.found)
		}
		if _, ok := cache.Load(address, pipeline.Headers{"other": {}}); ok {
			t.Errorf("%s: a port that nobody stored is found", name)
		}
		if !c.found {
			continue
		}
		if figures, err := pipeline.ReadMetrics(t.Context(), tables["out"]); err != nil || len(figures) != 1 ||
			figures[0].Value != 73313 {
			t.Errorf("%s: read %v, %v", name, figures, err)
		}
	}
}

// TestCacheKeepsFiles as an archive, and reads what it kept as an Arrow stream before: what was paid for is not lost
// with the form of a file.
func TestCacheKeepsFiles(t *testing.T) {
	h := pipeline.Header{Form: pipeline.FormModel}
	want := []pipeline.File{{Name: "a", Data: []byte("one")}, {Name: "b/c", Data: []byte("two")}}
	cache := Cache{Dir: t.TempDir()}
	if _, err := cache.Store(t.Context(), "sha256:1", pipeline.Headers{"model": h},
		pipeline.Tables{"model": pipeline.WriteFiles(h, want)}, keepsPromise); err != nil {
		t.Fatal(err)
	}
	read := func() {
		t.Helper()
		tables, ok := cache.Load("sha256:1", pipeline.Headers{"model": h})
		if !ok {
			t.Fatal("nothing is found")
		}
		if files, err := pipeline.ReadFiles(t.Context(), tables["model"]); err != nil || !reflect.DeepEqual(files, want) {
			t.Errorf("read %v, %v", files, err)
		}
	}
	read()
	path := filepath.Join(cache.folder("sha256:1"), "model.arrow")
	if err := os.WriteFile(path, earlier(t, want), 0o600); err != nil {
		t.Fatal(err)
	}
	digest, size, err := DigestFile(path)
	manifest := fmt.Sprintf(`{"outputs":{"model":{"file":"model.arrow","digest":%q,"bytes":%d}}}`, digest, size)
	if err := errors.Join(err, os.WriteFile(filepath.Join(filepath.Dir(path), "manifest.json"), []byte(manifest),
		0o600)); err != nil {
		t.Fatal(err)
	}
	read()
}

// earlier writes files as the cache kept them before archives.
func earlier(t *testing.T, files []pipeline.File) []byte {
	schema := arrow.NewSchema([]arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String},
		{Name: "value", Type: arrow.BinaryTypes.Binary}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, f := range files {
		b.Field(0).(*array.StringBuilder).Append(f.Name)
		b.Field(1).(*array.BinaryBuilder).Append(f.Data)
	}
	var data bytes.Buffer
	if err := table.WriteIPC(t.Context(), &data, pipeline.FromRecords(pipeline.Header{Schema: schema},
		b.NewRecord())); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// TestCacheKeepsNothingOfAFault: rows that fail half-way, a panic that may quote them and a
// promise that was not held leave nothing that can be found; what is kept is for the owner.
func TestCacheKeepsNothingOfAFault(t *testing.T) {
	want, out := metrics()
	broken := errors.New("broken")
	failing := func(fail func(yield func(arrow.Record, error) bool)) pipeline.Tables {
		return pipeline.Tables{"out": {Open: func(ctx context.Context) pipeline.Batches {
			return func(yield func(arrow.Record, error) bool) {
				for r := range out["out"].Open(ctx) {
					yield(r, nil)
				}
				fail(yield)
			}
		}}}
	}
	for name, c := range map[string]struct {
		out     pipeline.Tables
		promise func() error
		want    error
	}{
		"held":          {out, keepsPromise, nil},
		"a broken row":  {failing(func(yield func(arrow.Record, error) bool) { yield(nil, broken) }), keepsPromise, broken},
		"a panic":       {failing(func(func(arrow.Record, error) bool) { panic("73313") }), keepsPromise, ErrInternal},
		"a broken word": {out, func() error { return broken }, broken},
	} {
		cache := Cache{Dir: filepath.Join(t.TempDir(), "cache")}
		if _, err := cache.Store(t.Context(), "sha256:1", want, c.out, c.promise); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, must be %v", name, err, c.want)
		}
		if _, ok := cache.Load("sha256:1", want); ok != (c.want == nil) {
			t.Errorf("%s: found is %v", name, ok)
		}
		files, _ := filepath.Glob(filepath.Join(cache.Dir, "*", "*"))
		if (len(files) > 0) != (c.want == nil) {
			t.Errorf("%s: %v is left", name, files)
		}
		for _, f := range append(files, cache.Dir, cache.folder("sha256:1")) {
			if info, err := os.Stat(f); err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %s has mode %v, must be its owner's alone", name, f, info.Mode())
			}
		}
	}
}

// TestCheckpointSaysWhatWasDrawn before it takes its name; without such a word nobody skips.
func TestCheckpointSaysWhatWasDrawn(t *testing.T) {
	s := Cache{Dir: t.TempDir()}.Scratch("sha256:1")
	if s.Drawn() != nil {
		t.Error("something was drawn before anything was")
	}
	w, err := s.Create("weights", func() Uses { return Uses{"train": 7} })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("weights"); err == nil {
		t.Error("an open checkpoint has its name already")
	}
	if err := w.Close(); err != nil || s.Drawn()["train"] != 7 {
		t.Errorf("%v, drawn %v, must be 7", err, s.Drawn())
	}
	if _, err := s.Create("x/"+usesFile, nil); err == nil {
		t.Error("a stage may write what it has drawn")
	}
}
