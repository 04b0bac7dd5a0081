package disk

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Tracked reports whether a work tree above path has the file in its index: git takes its changes along whatever a
// .gitignore says. An index that cannot be read tracks nothing.
func Tracked(path string) bool {
	dir, name, err := located(path)
	if err != nil {
		return false
	}
	found := false
	eachTree(dir, []string{name}, func(t workTree, below []string) bool {
		found = found || t.lists(strings.Join(below, "/"))
		return !found
	})
	return found
}

// lists reports whether the index of a work tree, or the one that it shares with others, has a name.
func (t workTree) lists(name string) bool {
	shared, _ := filepath.Glob(filepath.Join(t.git, "sharedindex.*"))
	for _, file := range append(shared, filepath.Join(t.git, "index")) {
		data, err := ReadFile(file, 0)
		if err != nil {
			continue
		}
		for _, hash := range []int{20, 32} { // SHA-1 and SHA-256
			if names, ok := indexed(data, hash); ok && slices.Contains(names, name) {
				return true
			}
		}
	}
	return false
}

// indexed reads the names of an index (gitformat-index(5)) whose objects have hashes of so many bytes; ok is false where
// it has another form.
func indexed(data []byte, hash int) (names []string, ok bool) {
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	rest, name := data[12:], ""
	for range count {
		fixed := 40 + hash + 2
		if len(rest) < fixed {
			return nil, false
		}
		if binary.BigEndian.Uint16(rest[fixed-2:])&0x4000 != 0 { // flags that version 3 added
			fixed += 2
		}
		kept, at := 0, min(fixed, len(rest))
		if version == 4 {
			strip, n := stripped(rest[at:])
			if n == 0 || strip > len(name) {
				return nil, false
			}
			kept, at = len(name)-strip, at+n
		}
		end := bytes.IndexByte(rest[at:], 0)
		if end < 0 {
			return nil, false
		}
		name = name[:kept] + string(rest[at:at+end])
		names = append(names, name)
		size := at + end + 1
		if version < 4 {
			size = (at + end + 8) &^ 7 // padded to a multiple of eight by one to eight zeros
		}
		rest = rest[min(size, len(rest)):]
	}
	return names, version >= 2 && version <= 4
}

// stripped reads how many bytes of the name before the next one drops, and in how many bytes that is said.
func stripped(b []byte) (value, n int) {
	for n < len(b) && n < 5 {
		c := b[n]
		value = value<<7 | int(c&0x7f)
		if n++; c&0x80 == 0 {
			return value, n
		}
		value++
	}
	return 0, 0
}

// gitDir returns the folder in which git keeps a work tree, where .git is that folder or a file that names it.
func gitDir(dot string) string {
	info, err := os.Stat(dot)
	if err != nil || info.IsDir() {
		return dot
	}
	text, err := ReadFile(dot, 1<<12)
	to, is := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if err != nil || !is {
		return dot
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(filepath.Dir(dot), to)
	}
	return to
}
