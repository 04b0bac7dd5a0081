package store

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"unicode"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/privacy"
)

// archiveFormat is the number of the form that WriteArchive gives an archive. It goes up when an older weir could not
// read what is written, or would read it otherwise.
const archiveFormat = 1

// contentsName is the first entry of an archive: its format, and the other entries in their order.
const contentsName = "archive.json"

// contents is what the first entry says.
type contents struct {
	Format int      `json:"format"`
	Files  []listed `json:"files"`
}

// listed is a file of an archive, as its contents list it.
type listed struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// WriteArchive writes the files of an artifact as one file, a ZIP archive. Entries are stored as they are and carry no
// time, so equal files give equal bytes. Names are relative paths, each given once; others are an error.
func WriteArchive(w io.Writer, files []pipeline.File) error {
	list := contents{Format: archiveFormat, Files: make([]listed, len(files))}
	for i, f := range files {
		list.Files[i] = listed{f.Name, int64(len(f.Data)), privacy.Digest(f.Data)}
	}
	if err := list.check(); err != nil {
		return err
	}
	first, err := json.Marshal(list)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	for _, f := range append([]pipeline.File{{Name: contentsName, Data: first}}, files...) {
		if err := storeEntry(z, f); err != nil {
			return err
		}
	}
	return z.Close()
}

// zipVersion is the version of ZIP that a reader needs (2.0: folders in names).
const zipVersion = 20

func storeEntry(z *zip.Writer, f pipeline.File) error {
	size := uint64(len(f.Data))
	w, err := z.CreateRaw(&zip.FileHeader{Name: f.Name, Method: zip.Store, CRC32: crc32.ChecksumIEEE(f.Data),
		ReaderVersion: zipVersion, CreatorVersion: zipVersion, CompressedSize64: size, UncompressedSize64: size})
	if err != nil {
		return err
	}
	_, err = w.Write(f.Data)
	return err
}

// check returns what is wrong with the names of an archive.
func (c contents) check() error {
	seen := map[string]bool{contentsName: true}
	for i, f := range c.Files {
		found := fmt.Sprintf("%s: files[%d].name: is %.60q", contentsName, i, f.Name)
		switch {
		case !fs.ValidPath(f.Name) || f.Name == "." || strings.ContainsFunc(f.Name, hidden):
			return fmt.Errorf("%s, must be a relative path without \\ and without unprintable characters", found)
		case seen[f.Name]:
			return fmt.Errorf("%s a second time, must be another one in each entry", found)
		}
		seen[f.Name] = true
	}
	return nil
}

// hidden reports whether a character of a name means a folder to some programs, or is not shown.
func hidden(r rune) bool { return r == '\\' || !unicode.IsPrint(r) }

// NoArchiveError marks a file that no archive begins like.
type NoArchiveError struct{ Head []byte } // its first bytes, at most eight

// Error says what the file begins like.
func (e *NoArchiveError) Error() string {
	switch {
	case len(e.Head) == 0:
		return "is empty, must be an archive of weir"
	case bytes.HasPrefix(e.Head, []byte(streamMark)):
		return "is an Arrow stream, as weir wrote models until 27 November 2026, must be an archive of format 1: " +
			"run its spec with another number of rows, which uses what was paid for again while the cache has it, " +
			"or read it by the weir that wrote it"
	}
	return "is not a ZIP archive, must be an archive of weir"
}

// First bytes of files.
const (
	zipMark    = "PK\x03\x04"
	streamMark = "\xff\xff\xff\xff"
)

// ReadArchive returns the files of an archive that WriteArchive wrote. The archive may come from anyone: its files are
// those that its contents list, whole and of the listed digests, or there are none, and no more memory is taken than
// the bytes that are there need. Bytes that belong to no entry, such as behind the directory, are passed over. An error
// is a NoArchiveError where the file is of another kind.
func ReadArchive(path string) ([]pipeline.File, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, Reason(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, Reason(err)
	}
	return ReadArchiveAt(f, info.Size())
}

// ReadArchiveAt reads an archive as ReadArchive does, from size bytes that need not be a file.
func ReadArchiveAt(r io.ReaderAt, size int64) ([]pipeline.File, error) {
	head := make([]byte, 8)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, Reason(err)
	}
	if !bytes.HasPrefix(head[:n], []byte(zipMark)) {
		return nil, &NoArchiveError{head[:n]}
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errors.New("is damaged: its directory (the end of the file) cannot be read; copy or download it again")
	}
	return unpacked(z.File, size)
}

// unpacked reads the entries of an archive of size bytes. Sizes are added up before any is allocated: entries that lie
// over each other would be more together than the archive.
func unpacked(entries []*zip.File, size int64) ([]pipeline.File, error) {
	for _, e := range entries {
		if e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64 {
			return nil, fmt.Errorf("the entry %.60q is compressed, must be stored as it is", e.Name)
		}
		if e.UncompressedSize64 > uint64(size) {
			return nil, errors.New("has entries that overlap or end outside the file, must hold each once, one behind the other")
		}
		size -= int64(e.UncompressedSize64)
	}
	list, err := contentsOf(entries)
	if err != nil {
		return nil, err
	}
	files := make([]pipeline.File, len(list.Files))
	for i, f := range list.Files {
		if files[i], err = f.read(entries[i+1]); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// contentsOf reads the first entry, which lists the others.
func contentsOf(entries []*zip.File) (c contents, err error) {
	if len(entries) == 0 || entries[0].Name != contentsName {
		return c, fmt.Errorf("does not begin with %s, must be an archive of weir", contentsName)
	}
	text, err := dataOf(entries[0])
	if err != nil {
		return c, err
	}
	if json.Unmarshal(text, &c) != nil || c.Format == 0 {
		return c, fmt.Errorf("%s: is damaged, must be the contents of an archive of weir", contentsName)
	}
	if c.Format != archiveFormat {
		return c, fmt.Errorf("%s: format: is %d, which another version of weir wrote, must be %d: read it by that version",
			contentsName, c.Format, archiveFormat)
	}
	if again, err := json.Marshal(c); err != nil || !bytes.Equal(again, text) {
		return c, fmt.Errorf("%s: is spelled otherwise than weir spells it, must be the contents of an archive of weir",
			contentsName)
	}
	if len(c.Files) != len(entries)-1 {
		return c, fmt.Errorf("%s: files: are %d, must be the %d that follow", contentsName, len(c.Files), len(entries)-1)
	}
	return c, c.check()
}

// read returns the file that an entry holds, if it is the listed one.
func (f listed) read(e *zip.File) (pipeline.File, error) {
	if e.Name != f.Name || e.UncompressedSize64 != uint64(f.Bytes) {
		return pipeline.File{}, fmt.Errorf("the entry %.60q of %d bytes: must be %.60q of %d bytes, as the archive lists it",
			e.Name, e.UncompressedSize64, f.Name, f.Bytes)
	}
	data, err := dataOf(e)
	if err == nil && privacy.Digest(data) != f.SHA256 {
		err = fmt.Errorf("the entry %.60q is damaged: its digest is not the one that %s states", f.Name, contentsName)
	}
	return pipeline.File{Name: f.Name, Data: data}, err
}

// dataOf reads a stored entry, whose size has been found to be in the archive.
func dataOf(e *zip.File) ([]byte, error) {
	r, err := e.OpenRaw()
	data := make([]byte, e.UncompressedSize64)
	if err == nil {
		_, err = io.ReadFull(r, data)
	}
	if err != nil {
		return nil, fmt.Errorf("the entry %.60q is damaged: it cannot be read where the directory says it lies", e.Name)
	}
	return data, nil
}
