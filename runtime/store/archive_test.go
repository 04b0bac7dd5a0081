package store

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weir/pipeline"
	"weir/privacy"
)

// threeFiles returns the files of an archive: text, nothing, and bytes in a folder.
func threeFiles() []pipeline.File {
	return []pipeline.File{{Name: "model.json", Data: []byte(`{"a":1}`)}, {Name: "empty", Data: []byte{}},
		{Name: "weights/0", Data: bytes.Repeat([]byte{0, 0x3f, 0x80}, 500)}}
}

func archived(t testing.TB, files []pipeline.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteArchive(&b, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readBytes(data []byte) ([]pipeline.File, error) {
	return ReadArchiveAt(bytes.NewReader(data), int64(len(data)))
}

// TestArchive: files come back in their order; any reader of ZIP reads the archive, whose first entry lists the
// others; and equal files are equal bytes, whose digest is pinned, since releases are compared by theirs.
func TestArchive(t *testing.T) {
	data := archived(t, threeFiles())
	got, err := readBytes(data)
	if err != nil || !reflect.DeepEqual(got, threeFiles()) {
		t.Errorf("%v, %v", got, err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		const want = `{"format":1,"files":[{"name":"model.json","bytes":7,"sha256":"sha256:`
		if f.Name == contentsName && !strings.HasPrefix(text.String(), want) {
			t.Errorf("the contents are %s", &text)
		}
	}
	if !slices.Equal(names, []string{"archive.json", "model.json", "empty", "weights/0"}) {
		t.Errorf("the entries are %q", names)
	}
	const pinned = "2480f25a007772b41b6eb749fda7bebaf7c616d456bc0bd12a88155d4f695ebc"
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != pinned {
		t.Errorf("the archive has the digest %s, must have %s: the same files in the same bytes", sum, pinned)
	}
}

// TestArchiveOfBadNames: what would be written outside of a folder, or shown otherwise than it is, is not written.
func TestArchiveOfBadNames(t *testing.T) {
	for _, name := range []string{"", ".", "../a", "/a", "a/../b", "a//b", `a\b`, "a\x1b[2J", "a\x00", "\xff",
		contentsName} {
		err := WriteArchive(&bytes.Buffer{}, []pipeline.File{{Name: name}})
		if err == nil || strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q: %v", name, err)
		}
	}
	err := WriteArchive(&bytes.Buffer{}, []pipeline.File{{Name: "a"}, {Name: "a"}})
	if err == nil || !strings.Contains(err.Error(), "a second time") {
		t.Errorf("one name twice: %v", err)
	}
}

// part is an entry of an archive of anyone.
type part struct {
	name, data string
	compressed bool
}

// zipped returns a ZIP archive of anyone, who may put anything into it.
func zipped(t testing.TB, parts ...part) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		h := &zip.FileHeader{Name: p.name}
		if p.compressed {
			h.Method = zip.Deflate
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write([]byte(p.data))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listing returns the contents of one file a that holds x.
func listing(format int, name string) string {
	text, err := json.Marshal(contents{format, []listed{{name, 1, privacy.Digest([]byte("x"))}}})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestHostileArchive: archives of strangers, and files that are none, are errors that say what they are.
func TestHostileArchive(t *testing.T) {
	known := func(format int, name string) part { return part{name: contentsName, data: listing(format, name)} }
	first := func(text string) part { return part{name: contentsName, data: text} }
	x := part{name: "a", data: "x"}
	if files, err := readBytes(zipped(t, known(1, "a"), x)); err != nil || len(files) != 1 {
		t.Fatalf("%v, %v: the archive itself must be read", files, err)
	}
	for what, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing": {nil, "is empty"},
		"text":    {[]byte("weir: 1\n"), "is not a ZIP archive"},
		"a model of before": {[]byte("\xff\xff\xff\xff\x88\x00\x00\x00"),
			"as weir wrote models until 27 November 2026, must be an archive of format 1"},
		"a directory alone":   {zipped(t), "is not a ZIP archive"},
		"no contents":         {zipped(t, x), "does not begin with archive.json"},
		"contents behind":     {zipped(t, x, known(1, "a")), "does not begin with archive.json"},
		"contents of text":    {zipped(t, first("{"), x), "archive.json: is damaged"},
		"contents of nothing": {zipped(t, first("{}"), x), "archive.json: is damaged"},
		"a later format":      {zipped(t, known(2, "a"), x), "format: is 2, which another version of weir wrote, must be 1"},
		"an unknown key": {zipped(t, first(strings.Replace(listing(1, "a"), "{", `{"more":1,`, 1)), x),
			"is spelled otherwise than weir spells it"},
		"more behind the list": {zipped(t, first(listing(1, "a")+" "), x), "is spelled otherwise than weir spells it"},
		"a file too many":      {zipped(t, known(1, "a"), x, part{name: "b"}), "files: are 1, must be the 2 that follow"},
		"a file too few":       {zipped(t, known(1, "a")), "files: are 1, must be the 0 that follow"},
		"another name":         {zipped(t, known(1, "b"), x), `the entry "a" of 1 bytes: must be "b" of 1 bytes`},
		"another length": {zipped(t, known(1, "a"), part{name: "a", data: "xx"}),
			`the entry "a" of 2 bytes: must be `},
		"another byte": {zipped(t, known(1, "a"), part{name: "a", data: "y"}),
			`the entry "a" is damaged: its digest is not`},
		"a name out of a folder": {zipped(t, known(1, "../a"), part{name: "../a", data: "x"}), "must be a relative path"},
		"a name that writes": {zipped(t, known(1, "\x1b[2J"), part{name: "\x1b[2J", data: "x"}),
			`is "\x1b[2J", must be a relative path`},
		"a compressed file":   {zipped(t, known(1, "a"), part{"a", "x", true}), `the entry "a" is compressed`},
		"compressed contents": {zipped(t, part{contentsName, listing(1, "a"), true}, x), "is compressed"},
		"a bomb": {zipped(t, known(1, "a"), part{"a", strings.Repeat("x", 1<<24), true}),
			`the entry "a" is compressed`},
		"entries over each other": {overlaid(t), "has entries that overlap"},
		"a cut archive":           {archived(t, threeFiles())[:1000], "is damaged: its directory"},
	} {
		_, err := readBytes(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%s: %v, must be an error with %q", what, err, c.want)
		}
	}
}

// overlaid returns an archive whose directory names the bytes of one entry a thousand times.
func overlaid(t testing.TB) []byte {
	t.Helper()
	data := zipped(t, part{name: "a", data: strings.Repeat("x", 10_000)})
	index := bytes.Index(data, []byte("PK\x01\x02"))
	end := bytes.Index(data, []byte("PK\x05\x06"))
	record, tail := data[index:end], bytes.Clone(data[end:])
	const times = 1000
	for _, place := range []int{8, 10} { // entries on this disk, and in all
		tail[place], tail[place+1] = byte(times%256), byte(times/256)
	}
	size := times * len(record)
	for i := range 4 {
		tail[12+i] = byte(size >> (8 * i))
	}
	return slices.Concat(data[:index], bytes.Repeat(record, times), tail)
}

// TestDamagedArchive: with any byte changed an archive is refused or holds the same files, and cut anywhere it is
// refused.
func TestDamagedArchive(t *testing.T) {
	data := archived(t, threeFiles())
	refused := 0
	for pos := range data {
		changed := bytes.Clone(data)
		changed[pos] ^= 1
		files, err := readBytes(changed)
		if err == nil && !reflect.DeepEqual(files, threeFiles()) {
			t.Errorf("byte %d changed: other files, and no error", pos)
		}
		if err != nil {
			refused++
		}
		if _, err := readBytes(data[:pos]); err == nil {
			t.Errorf("cut to %d of %d bytes it is read", pos, len(data))
		}
	}
	if refused < 1500 { // the bytes of the files alone
		t.Errorf("%d of %d changes were refused", refused, len(data))
	}
}

// TestReadArchive: files are named for what they are, before anything of them is read.
func TestReadArchive(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.model")
	if err := os.WriteFile(path, archived(t, threeFiles()), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := ReadArchive(path); err != nil || !reflect.DeepEqual(files, threeFiles()) {
		t.Errorf("%v, %v", files, err)
	}
	if _, err := ReadArchive(dir); err == nil || !strings.Contains(err.Error(), "is a folder, must be a regular file") {
		t.Errorf("a folder: %v", err)
	}
	var other *NoArchiveError
	if err := os.WriteFile(path, []byte("PAR1 and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadArchive(path); !errors.As(err, &other) || string(other.Head) != "PAR1 and" {
		t.Errorf("another format: %v", err)
	}
}

// FuzzArchive: no bytes panic, or take more memory than some ten times their number, and what is read is written
// again and read as the same.
func FuzzArchive(f *testing.F) {
	f.Add(archived(f, threeFiles()))
	f.Add(archived(f, nil))
	f.Add(zipped(f, part{name: contentsName, data: listing(1, "a")}, part{name: "a", data: "x"}))
	f.Add(zipped(f, part{name: contentsName, data: listing(1, "a")}, part{"a", "x", true}))
	f.Add(overlaid(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		files, err := readBytes(data)
		runtime.ReadMemStats(&after)
		if got, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+20*len(data)); got > most {
			t.Errorf("allocates %d bytes for %d, must be at most %d", got, len(data), most)
		}
		if err != nil {
			return
		}
		again, err := readBytes(archived(t, files))
		if err != nil || len(again) != len(files) {
			t.Errorf("%d files are read as %d again, %v", len(files), len(again), err)
		}
	})
}
