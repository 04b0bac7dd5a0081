package main

import (
	"archive/tar"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
)

// writeArchive writes an index as an OCI layout in one tar file, under the name weir:VERSION, with one time for all of
// its files. The layout names the index and not each of its images, so that whoever loads it need not choose.
func writeArchive(path, version string, index v1.ImageIndex, date time.Time) (err error) {
	folder, err := os.MkdirTemp("", "weir-image-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	l, err := layout.Write(folder, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "weir:" + tagOf(version)})
	if err := l.AppendIndex(index, name); err != nil {
		return err
	}
	return pack(path, folder, date)
}

// tagOf spells a version as a tag, which has no plus sign.
func tagOf(version string) string { return strings.ReplaceAll(version, "+", "_") }

// pack writes the files of a folder into a tar file, in the order of their names.
func pack(path, folder string, date time.Time) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	w := tar.NewWriter(out)
	add := func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: int64(len(content)),
			ModTime: date, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}
	if err := fs.WalkDir(os.DirFS(folder), ".", add); err != nil {
		return err
	}
	return w.Close()
}
