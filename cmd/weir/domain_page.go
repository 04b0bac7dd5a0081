package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/runtime/infer"
)

// placePage says where the private page of a table goes, "" for nowhere, and refuses a place where a commit would
// publish it or where something else lies, before the table is read.
func placePage(data, page string) (string, error) {
	switch page {
	case "none":
		return "", nil
	case "":
		dir, name := filepath.Split(data)
		page = filepath.Join(dir, strings.NewReplacer("*", "_", "?", "_", "[", "_", "]", "_").Replace(name)+infer.PageSuffix)
	}
	ignore := filepath.Join(filepath.Dir(page), ".gitignore")
	if _, err := os.Lstat(ignore); err == nil && disk.Staged(page) {
		return "", fmt.Errorf("%s: lies in a git work tree and no .gitignore names it, and it will quote rows: add the "+
			"line *%s* to %s, or say --page none", page, infer.PageSuffix, ignore)
	}
	if dir := filepath.Dir(page); !(disk.Disk{}).Writable(dir) {
		return "", fmt.Errorf("%s: the folder cannot be written to: name a file elsewhere by --page, or say --page none", dir)
	}
	old, err := os.ReadFile(page)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(old, []byte(infer.PageHead)) {
		return page, nil
	}
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s: exists and is no private page of weir: move it away, or name another file by --page", page)
}

// writePage writes the private page and, where none is, a .gitignore beside it; it says where the page is.
func writePage(s streams, page, data string, found *infer.Drafted) error {
	for _, hint := range found.Hints {
		fmt.Fprintf(s.err, "%s %s\n", paint(s.err, bold, "hint:"), hint)
	}
	if page == "" {
		return nil
	}
	table := ""
	if filepath.Clean(filepath.Dir(page)) == filepath.Clean(filepath.Dir(data)) {
		table = filepath.Base(data)
	}
	if err := ignoreIn(filepath.Dir(page), table); err != nil {
		return err
	}
	if err := (disk.Disk{}).WriteBytes(page, 0o600, found.Page); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.err, "%s %s says of each column what helps to decide; it quotes rows, so it stays with "+
		"them\n", paint(s.err, bold, "note:"), page)
	return err
}

// ignoreIn writes a .gitignore into a folder that has none: runs, keys, private pages and one table.
func ignoreIn(dir, data string) error {
	text, err := ignoredIn(data)
	if err != nil {
		return err
	}
	err = disk.Disk{}.New(filepath.Join(dir, ".gitignore"), 0o644, text)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// ignoredIn is a .gitignore for the folder of a table; "" is none.
func ignoredIn(data string) ([]byte, error) {
	text, err := templates.ReadFile("template/gitignore")
	if data != "" {
		name := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(data)
		if strings.Contains(data, "*") {
			name = data // of several files
		}
		text = fmt.Appendf(text, "# the private table\n/%s\n", name)
	}
	return text, err
}
