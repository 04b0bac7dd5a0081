package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nobody is the user that the program runs as, by the number that images without a distribution use.
const nobody = 65532

// indexOf returns one image for each program, under one index: whoever pulls it gets the one of his machine.
func indexOf(version string, licences []file, programs []program) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, err := imageOf(version, licences, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: p.arch}}})
	}
	return index, nil
}

// imageOf returns the image of a program: one layer, and a configuration that says what it is and who runs it.
func imageOf(version string, licences []file, p program) (v1.Image, error) {
	layer, err := layerOf(append(system(p.content), licences...), p.date)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: p.date}, CreatedBy: "weir/packaging/image"}})
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title":       "weir",
		"org.opencontainers.image.description": "Differentially private synthetic tables from a committed spec",
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     version,
		"org.opencontainers.image.revision":    p.revision,
		"org.opencontainers.image.created":     p.date.UTC().Format(time.RFC3339),
	}
	return configured(image, p, labels)
}

// configured says how an image is run: as nobody, in the folder for what is mounted.
func configured(image v1.Image, p program, labels map[string]string) (v1.Image, error) {
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", p.arch, v1.Time{Time: p.date}
	config.Config = v1.Config{User: fmt.Sprintf("%d:%d", nobody, nobody), Entrypoint: []string{"/usr/bin/weir"},
		Env: []string{"PATH=/usr/bin", "HOME=/work"}, WorkingDir: "/work", Labels: labels}
	return mutate.ConfigFile(image, config)
}

// system returns the files that a program finds: itself, names of users, a place for what is temporary, and the
// folder to work in. That one is for a folder of the user to be mounted on, and cannot be written to: what a run
// charged there would be gone with the container, ledger and owner file first.
func system(content []byte) []file {
	const users = "root:x:0:0:root:/:/\nweir:x:65532:65532:weir:/work:/\n"
	const groups = "root:x:0:\nweir:x:65532:\n"
	return []file{
		{path: "etc/", mode: 0o755, folder: true},
		{path: "etc/passwd", content: []byte(users), mode: 0o644},
		{path: "etc/group", content: []byte(groups), mode: 0o644},
		{path: "tmp/", mode: 0o1777, folder: true},
		{path: "work/", mode: 0o555, folder: true},
		{path: "usr/", mode: 0o755, folder: true},
		{path: "usr/bin/", mode: 0o755, folder: true},
		{path: "usr/bin/weir", content: content, mode: 0o755},
		{path: "usr/share/", mode: 0o755, folder: true},
		{path: "usr/share/doc/", mode: 0o755, folder: true},
		{path: "usr/share/doc/weir/", mode: 0o755, folder: true},
	}
}

// layerOf packs files, all of one time, into a layer.
func layerOf(files []file, date time.Time) (v1.Layer, error) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: f.mode, Size: int64(len(f.content)), ModTime: date,
			Format: tar.FormatUSTAR}
		if f.folder {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	again := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(again, tarball.WithMediaType(types.OCILayer),
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}
