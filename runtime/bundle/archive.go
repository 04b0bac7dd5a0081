package bundle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"weir/internal/disk"
	"weir/runtime/store"
)

// Fields of every entry.
const (
	zipVersion = 20       // that a reader needs (2.0: folders in names)
	zipUTF8    = 1 << 11  // the name is UTF-8, which ASCII need not say
	zipDate    = 1<<5 | 1 // 1 January 1980, the first day that ZIP knows: 0 is none
)

// mostOfMember is the greatest member: above it ZIP has another form, which not every reader knows.
const mostOfMember = math.MaxUint32 - 1

// Write writes the bundle. Members are stored as they are, carry one date and stand in one order, so that equal members
// give equal bytes: ZIP, since a compressed tar would depend on the compressor. A file that has changed since it was
// gathered is an error.
func (b *Bundle) Write(w io.Writer) error {
	z := zip.NewWriter(w)
	for _, m := range b.entries() {
		if err := m.store(z); err != nil {
			return err
		}
	}
	return z.Close()
}

// entries lists what is in the archive, in its order.
func (b *Bundle) entries() []member {
	list := []member{memberOf(statementName, b.statement)}
	if b.envelope != nil {
		list = append(list, memberOf(envelopeName, b.envelope))
	}
	return append(list, b.members...)
}

// memberOf returns a member of bytes in memory.
func memberOf(name string, data []byte) member {
	sum := sha256.Sum256(data)
	return member{name, int64(len(data)), crc32.ChecksumIEEE(data), hex.EncodeToString(sum[:]),
		func() (fs.File, error) { return part(name, bytes.NewReader(data), 0, int64(len(data))), nil }}
}

// store writes the member as an entry.
func (m member) store(z *zip.Writer) error {
	if m.size > mostOfMember {
		return fmt.Errorf("%s: holds %d bytes, must hold less than 4 GiB", m.name, m.size)
	}
	w, err := m.create(z)
	if err != nil {
		return err
	}
	sum, err := m.sum(w)
	if err == nil && sum.sha256 != m.sha256 {
		err = fmt.Errorf("%s: has changed while it was bundled", m.name)
	}
	return err
}

// create begins the member's entry.
func (m member) create(z *zip.Writer) (io.Writer, error) {
	var flags uint16
	if strings.ContainsFunc(m.name, func(r rune) bool { return r > unicode.MaxASCII }) {
		flags = zipUTF8
	}
	h := &zip.FileHeader{Name: m.name, Method: zip.Store, CRC32: m.crc, Flags: flags,
		ReaderVersion: zipVersion, CreatorVersion: zipVersion, CompressedSize64: uint64(m.size),
		UncompressedSize64: uint64(m.size)}
	h.ModifiedDate = zipDate //lint:ignore SA1019 CreateRaw takes no other
	return z.CreateRaw(h)
}

// sum reads the member to its end, copies it to w, and returns it with the size and digests that it has.
func (m member) sum(w io.Writer) (member, error) {
	f, err := m.open()
	if err != nil {
		return m, fmt.Errorf("%s: %w", m.name, store.Reason(err))
	}
	defer f.Close()
	crc, sha := crc32.NewIEEE(), sha256.New()
	m.size, err = io.Copy(io.MultiWriter(w, crc, sha), f)
	m.crc, m.sha256 = crc.Sum32(), hex.EncodeToString(sha.Sum(nil))
	return m, err
}

// FormError is a file that is not a bundle, or not in the form in which weir writes them.
type FormError struct{ why string }

// Error says what is wrong.
func (e *FormError) Error() string { return e.why }

func misformed(format string, args ...any) error { return &FormError{fmt.Sprintf(format, args...)} }

// Open reads the bundle in a file, which may come from anyone. No more memory is taken than its directory and its
// statement need, nothing of it is written anywhere, and no byte of the file is passed over: it is the archive that
// Write would write of these members, or a FormError. Members are those that the statement lists; which of them have
// other digests, Judge says. The caller closes the bundle.
func Open(path string) (*Bundle, error) {
	f, err := disk.Open(path)
	if err != nil {
		return nil, store.Reason(err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(store.Reason(err), f.Close())
	}
	b, err := read(f, info.Size())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b.close = f.Close
	return b, nil
}

// read does what Open does with an archive of the given number of bytes.
func read(r io.ReaderAt, size int64) (*Bundle, error) {
	entries, err := readEntries(r, size)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 || entries[0].name != statementName {
		return nil, misformed("does not begin with %s, must as every bundle of weir", statementName)
	}
	b := &Bundle{members: entries[1:]}
	if len(b.members) > 0 && b.members[0].name == envelopeName {
		b.envelope, err = b.members[0].text()
		b.members, b.Signed = b.members[1:], true
	}
	if err == nil && !slices.IsSortedFunc(b.members, byName) {
		err = errors.New("has its members in another order, must have them sorted by name")
	}
	if err == nil {
		b.statement, err = entries[0].text()
	}
	if err == nil {
		err = asWritten(r, size, entries)
	}
	if err != nil {
		return nil, misformed("%v", err)
	}
	if err := reread(b.statement, &b.Statement); err != nil {
		return nil, misformed("%s: %v", statementName, err)
	}
	if err := b.Statement.Predicate.printable(); err != nil {
		return nil, misformed("%s: %v", statementName, err)
	}
	if s := b.Statement; s.Type != statementType || s.PredicateType != predicateType {
		return nil, misformed("%s: is of the types %.60q and %.60q, must be %s and %s", statementName, s.Type,
			s.PredicateType, statementType, predicateType)
	}
	return b, nil
}

// readEntries lists the entries of an archive.
func readEntries(r io.ReaderAt, size int64) ([]member, error) {
	head := make([]byte, 4)
	if n, err := r.ReadAt(head, 0); string(head[:n]) != "PK\x03\x04" {
		if err != nil && err != io.EOF {
			return nil, store.Reason(err)
		}
		return nil, misformed("is not a ZIP archive, must be a bundle of weir")
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, misformed("is cut off or damaged, must end with the whole directory of a ZIP archive")
	}
	var list []member
	seen := map[string]bool{}
	for _, e := range z.File {
		m, err := entry(r, e, size)
		alike := strings.ToLower(norm.NFC.String(m.name)) // one file on some systems
		if err == nil && seen[alike] {
			err = misformed("%.60q: is the same file as an earlier entry on systems that ignore case, "+
				"must differ from all other names by more than case", m.name)
		}
		if err != nil {
			return nil, err
		}
		size -= m.size // entries that lie over each other would be more together than the archive
		seen[alike] = true
		list = append(list, m)
	}
	return list, nil
}

// entry returns an entry of an archive of which size bytes are left.
func entry(r io.ReaderAt, e *zip.File, size int64) (m member, err error) {
	switch {
	case !portable(e.Name):
		return m, misformed("%.60q: is not a name that every system takes alike, must be a relative path of plain characters",
			e.Name)
	case e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64:
		return m, misformed("%.60q: is compressed, must be stored as it is", e.Name)
	case e.UncompressedSize64 > uint64(size):
		return m, misformed("has entries that are larger than it is together, must have them one behind the other")
	}
	begin, err := e.DataOffset()
	if err != nil {
		return m, misformed("%.60q: is not where the directory has it, must be", e.Name)
	}
	n := int64(e.UncompressedSize64)
	return member{name: e.Name, size: n, crc: e.CRC32,
		open: func() (fs.File, error) { return part(e.Name, r, begin, n), nil }}, nil
}

// portable reports whether a name is a relative path that means one file on every system: without characters that are a
// folder, a drive or a stream to some or are not shown, and without ends that some drop.
func portable(name string) bool {
	if !fs.ValidPath(name) || name == "." || strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune(`\:*?"<>|`, r) || !unicode.IsPrint(r)
	}) {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.TrimRight(part, ". ") != part {
			return false
		}
	}
	return true
}

// asWritten reports whether an archive is, to the byte, what Write makes of its entries. So no byte is anybody's to
// choose: none lies between entries or behind the directory, and no program can read two names or sizes of one entry.
func asWritten(r io.ReaderAt, size int64, entries []member) error {
	same := &comparer{with: io.NewSectionReader(r, 0, size)}
	z := zip.NewWriter(same)
	for _, m := range entries {
		w, err := m.create(z)
		if err != nil {
			return err
		}
		if _, err := m.sum(w); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	if same.at != size {
		return fmt.Errorf("has %d bytes behind its end, must have none", size-same.at)
	}
	return nil
}

// comparer is written what a file is to hold.
type comparer struct {
	with io.Reader
	at   int64
	buf  []byte
}

// Write implements io.Writer.
func (c *comparer) Write(p []byte) (int, error) {
	if len(c.buf) < len(p) {
		c.buf = make([]byte, len(p))
	}
	n, err := io.ReadFull(c.with, c.buf[:len(p)])
	if err != nil || !bytes.Equal(c.buf[:n], p) {
		return 0, fmt.Errorf("has other bytes around its members than weir writes, near byte %d, must have the same", c.at)
	}
	c.at += int64(n)
	return n, nil
}

// part returns a stretch of bytes as a file of this name.
func part(name string, r io.ReaderAt, at, size int64) fs.File {
	return stretch{io.NewSectionReader(r, at, size), name}
}

// stretch is a file that can be read at any place, as tables need it.
type stretch struct {
	*io.SectionReader
	name string
}

// Stat implements fs.File.
func (s stretch) Stat() (fs.FileInfo, error) { return s, nil }

// Close implements fs.File.
func (s stretch) Close() error { return nil }

// Name, Mode, ModTime, IsDir and Sys implement fs.FileInfo, Size the section.
func (s stretch) Name() string       { return s.name }
func (s stretch) Mode() fs.FileMode  { return 0o444 }
func (s stretch) ModTime() time.Time { return time.Time{} }
func (s stretch) IsDir() bool        { return false }
func (s stretch) Sys() any           { return nil }
