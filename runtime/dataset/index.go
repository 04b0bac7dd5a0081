package dataset

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/privacy/noise"
	"weir/runtime/store"
)

// index is all datasets that runs under one folder have read: OUT/datasets, with
// a key in index.json and a record for each dataset, so that two runs of
// different datasets never write the same file, and one can be taken out.
type index struct {
	disk    disk.Disk
	dir     string
	key     noise.Key
	records []*record
}

type indexFile struct {
	Key secret `json:"key"`
}

func (f *indexFile) valid() error {
	if (f.Key.Key == noise.Key{}) {
		return errors.New("has no key")
	}
	return nil
}

const indexCure = "restore it from a backup; without it weir does not know a copy of a dataset when it sees one"

func indexDir(out string) string { return filepath.Join(out, "datasets") }

// locked runs f on the index as it is on disk, while no other process changes it.
func locked(d disk.Disk, out string, random io.Reader, f func(*index) error) (err error) {
	dir := indexDir(out)
	if err := store.MakeRuns(d, out); err != nil {
		return err
	}
	if err := d.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%s: the folder of runs must be writable: %w", dir, store.Reason(err))
	}
	unlock, err := lock(d, filepath.Join(dir, "index.json"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	x, err := readIndex(out)
	if err != nil {
		return err
	}
	x.disk = d
	if err := x.giveKey(random); err != nil {
		return err
	}
	return f(x)
}

// readIndex reads without a lock: each file is replaced as a whole.
func readIndex(out string) (*index, error) {
	x, key := &index{dir: indexDir(out)}, indexFile{}
	if _, err := readPrivate(x.keyPath(), &key, indexCure); err != nil {
		return nil, err
	}
	x.key = key.Key.Key
	files, err := os.ReadDir(x.dir)
	if errors.Is(err, os.ErrNotExist) {
		return x, nil
	}
	for _, f := range files {
		if id, ok := strings.CutSuffix(f.Name(), ".json"); ok && validID(id) {
			r, err := x.read(id)
			if err != nil {
				return nil, err
			}
			x.records = append(x.records, r)
		}
	}
	return x, errors.Join(err, x.keyed())
}

// keyed: records without a key mean that it was lost, and under another one they
// would know nothing.
func (x *index) keyed() error {
	if (x.key == noise.Key{}) && len(x.records) > 0 {
		return fmt.Errorf("%s: is missing, must be there while the folder holds datasets: %s", x.keyPath(), indexCure)
	}
	return nil
}

// InIndex reports whether a file of the folder of datasets is the index's, by its name.
func InIndex(name string) bool {
	id, is := strings.CutSuffix(name, ".json")
	return is && (id == "index" || validID(id))
}

func (x *index) keyPath() string             { return filepath.Join(x.dir, "index.json") }
func (x *index) recordPath(id string) string { return filepath.Join(x.dir, id+".json") }

// giveKey draws the key of a new index.
func (x *index) giveKey(random io.Reader) error {
	if (x.key != noise.Key{}) {
		return nil
	}
	if random == nil {
		return fmt.Errorf("%s: is gone, must stay while a run charges a dataset", x.keyPath())
	}
	key, err := noise.NewKey(random)
	if err != nil {
		return err
	}
	x.key = key
	return writePrivate(x.disk, x.keyPath(), indexFile{secret{key}})
}

// mac returns what stands for a content in the records: a plain digest could be
// guessed against by anyone who sees one file, this needs the key too.
func (x *index) mac(digest string) string { return macOf(x.key, "content", digest) }

// macOf keeps the uses of a key apart by their names.
func macOf(key noise.Key, use, text string) string {
	sum := sumOf(key, use, text)
	return hex.EncodeToString(sum[:])
}

func sumOf(key noise.Key, use, text string) (sum noise.Key) {
	h := hmac.New(sha256.New, key[:])
	io.WriteString(h, "weir dataset 1 "+use+"\n"+text)
	h.Sum(sum[:0])
	return sum
}

// ErrDamaged marks a file of the owner's side that is not as weir wrote it. Whoever charges a dataset needs it; who
// only looks at a ledger goes on without it, and says so.
var ErrDamaged = errors.New("is damaged")

// readPrivate decodes a file of the owner's side. An absent file is found false;
// a damaged one is an error, never an absent one: what it knew would be lost.
func readPrivate(path string, v interface{ valid() error }, cure string) (found bool, err error) {
	data, err := disk.ReadFile(path, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := decode(data, v); err != nil {
		return false, fmt.Errorf("%s: %w: it %w, must be as weir wrote it: %s", path, ErrDamaged, err, cure)
	}
	return true, nil
}

// decode does not pass on what the decoder says, which may quote a key.
func decode(data []byte, v interface{ valid() error }) error {
	if err := json.Unmarshal(data, v); err != nil {
		return errors.New("is not JSON as weir writes it")
	}
	return v.valid()
}

// writePrivate replaces the file as a whole, or leaves what was there; what is
// there already is not written again.
func writePrivate(d disk.Disk, path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := disk.ReadFile(path, 0); err == nil && bytes.Equal(old, data) {
		return d.Chmod(path, 0o600)
	}
	return d.WriteBytes(path, 0o600, data)
}

// lock waits until no other process changes the file. It is the lock of ledgers:
// it ends with its process and cannot go stale.
func lock(d disk.Disk, path string) (unlock func() error, err error) {
	unlock, err = d.Lock(path)
	if err != nil {
		return nil, fmt.Errorf("%s: lock: %w", path, err)
	}
	return unlock, nil
}
