package infer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/runtime/store"
)

// mostOfPage is more than a page of 10,000 columns has.
const mostOfPage = 1 << 30

// PlacePage says where the private page of a table goes, "" for nowhere, and refuses a place where a commit would
// publish it or where something else lies, before the table is read.
func PlacePage(data, page string) (string, error) {
	switch page {
	case "none":
		return "", nil
	case "":
		page = pipeline.Stem(data) + PageSuffix
	}
	if run := store.Releasing(page); run != "" {
		return "", fmt.Errorf("%s: lies in what the run %s releases, and it will quote rows: name a file "+
			"elsewhere by --page", page, run)
	}
	if disk.Tracked(page) {
		return "", fmt.Errorf("%s: git tracks it, and it will quote rows: git rm --cached %s and commit that, or say "+
			"--page none", page, page)
	}
	ignore := filepath.Join(filepath.Dir(page), ".gitignore")
	if _, err := os.Lstat(ignore); err == nil && disk.Staged(page) {
		return "", fmt.Errorf("%s: lies in a git work tree and no .gitignore names it, and it will quote rows: add the "+
			"line *%s* to %s, or say --page none", page, PageSuffix, ignore)
	}
	if dir := filepath.Dir(page); !(disk.Disk{}).Writable(dir) {
		return "", fmt.Errorf("%s: the folder cannot be written to: name a file elsewhere by --page, or say --page none", dir)
	}
	old, err := disk.ReadFile(page, mostOfPage)
	if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.HasPrefix(old, []byte(PageHead)) {
		return page, nil
	}
	if err != nil {
		return "", err
	}
	return "", fmt.Errorf("%s: exists and is no private page of weir: move it away, or name another file by --page", page)
}

// WritePage writes the private page of a table and, where none is, a .gitignore beside it.
func WritePage(page, data string, found *Drafted) error {
	if page == "" {
		return nil
	}
	var private []string
	if filepath.Clean(filepath.Dir(page)) == filepath.Clean(filepath.Dir(data)) && !pipeline.IsElsewhere(data) {
		private = append(private, filepath.Base(data))
	}
	if !strings.HasSuffix(page, PageSuffix) {
		private = append(private, filepath.Base(page))
	}
	if err := ignoreIn(filepath.Dir(page), private); err != nil {
		return err
	}
	return disk.Disk{}.WriteBytes(page, 0o600, found.Page)
}

// ignoreIn writes a .gitignore into a folder that has none: runs, keys, private pages and the named files.
func ignoreIn(dir string, private []string) error {
	text, err := ignoredIn(private...)
	if err != nil {
		return err
	}
	err = disk.Disk{}.New(filepath.Join(dir, ".gitignore"), 0o644, text)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// ignoredIn returns a .gitignore for a folder in which these private files lie.
func ignoredIn(private ...string) ([]byte, error) {
	text, err := templates.ReadFile("template/gitignore")
	for i, file := range private {
		name := strings.NewReplacer(`\`, `\\`, "[", `\[`).Replace(file) // * and ? of a pattern mean the same there
		if i == 0 {
			text = append(text, "# private: it quotes rows, or holds them\n"...)
		}
		text = fmt.Appendf(text, "/%s\n", name)
	}
	return text, err
}
