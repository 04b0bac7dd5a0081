package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func date() time.Time { return time.Date(2026, 11, 28, 2, 33, 51, 0, time.UTC) }

// programs returns two programs of made-up content: what an image does with them does not depend on it.
func programs() []program {
	return []program{{[]byte("one"), "amd64", "86ac6591", date()}, {[]byte("other"), "arm64", "86ac6591", date()}}
}

func licences() []file {
	return []file{{path: "usr/share/doc/weir/LICENSE", content: []byte("text"), mode: 0o644}}
}

func written(t *testing.T, version string) []byte {
	t.Helper()
	index, err := indexOf(version, licences(), programs())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "oci.tar")
	if err := writeArchive(path, version, index, date()); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestArchiveIsOneIndexOfValidImages: the archive is a layout of one index with an image for each platform, under a
// name that is a tag, and go-containerregistry finds every digest and size of it true.
func TestArchiveIsOneIndexOfValidImages(t *testing.T) {
	folder := unpacked(t, written(t, "0.1.0-next+86ac6591"))
	top, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := top.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 {
		t.Fatalf("the layout has %d entries, must have one index", len(manifest.Manifests))
	}
	if name := manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; name != "weir:0.1.0-next_86ac6591" {
		t.Errorf("the name is %q", name)
	}
	index, err := top.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	inside, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		if p := inside.Manifests[i].Platform; p.Architecture != arch || p.OS != "linux" {
			t.Errorf("image %d is for %v, must be for linux/%s", i, p, arch)
		}
	}
}

// TestImageRunsAsNobody: the image says who runs what, where, and of which commit.
func TestImageRunsAsNobody(t *testing.T) {
	image := imageFor(t, programs()[0])
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != "65532:65532" || !reflect.DeepEqual(c.Entrypoint, []string{"/usr/bin/weir"}) || c.WorkingDir != "/work" {
		t.Errorf("%s runs %v in %s", c.User, c.Entrypoint, c.WorkingDir)
	}
	if c.Labels["org.opencontainers.image.revision"] != "86ac6591" || !config.Created.Equal(date()) {
		t.Errorf("labels %v, date %v", c.Labels, config.Created)
	}
}

// TestImageHoldsNothingElse: the files of an image, who owns them and with which rights. Its user can write to tmp
// alone, so that no run leaves its ledger in a container.
func TestImageHoldsNothingElse(t *testing.T) {
	var got []string
	read(t, mutate.Extract(imageFor(t, programs()[0])), func(h *tar.Header, content []byte) {
		got = append(got, fmt.Sprintf("%04o %d %s", h.Mode, h.Uid, h.Name))
		if h.Name == "usr/bin/weir" && string(content) != "one" {
			t.Errorf("the program is %q", content)
		}
		if !h.ModTime.Equal(date()) {
			t.Errorf("%s is of %v, must be of the commit", h.Name, h.ModTime)
		}
	})
	want := []string{"0755 0 etc", "0644 0 etc/passwd", "0644 0 etc/group", "1777 0 tmp", "0555 0 work", "0755 0 usr",
		"0755 0 usr/bin", "0755 0 usr/bin/weir", "0755 0 usr/share", "0755 0 usr/share/doc", "0755 0 usr/share/doc/weir",
		"0644 0 usr/share/doc/weir/LICENSE"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, must be %q", got, want)
	}
}

// TestArchiveIsReproducible: the same programs give the same bytes, of the time of their commit; another version gives
// others.
func TestArchiveIsReproducible(t *testing.T) {
	if !bytes.Equal(written(t, "0.1.0"), written(t, "0.1.0")) {
		t.Error("two archives of the same programs differ")
	}
	read(t, bytes.NewReader(written(t, "0.1.0")), func(h *tar.Header, _ []byte) {
		if !h.ModTime.Equal(date()) {
			t.Errorf("%s is of %v, must be of the commit", h.Name, h.ModTime)
		}
	})
	if bytes.Equal(written(t, "0.1.0"), written(t, "0.1.1")) {
		t.Error("archives of two versions are equal")
	}
}

// TestProgramsThatNoImageRuns are refused, with what is accepted.
func TestProgramsThatNoImageRuns(t *testing.T) {
	for want, settings := range map[string][]debug.BuildSetting{
		"is for darwin":  {{Key: "GOOS", Value: "darwin"}, {Key: "CGO_ENABLED", Value: "0"}},
		"CGO_ENABLED=1":  {{Key: "GOOS", Value: "linux"}, {Key: "CGO_ENABLED", Value: "1"}},
		"-buildvcs=true": {{Key: "GOOS", Value: "linux"}, {Key: "CGO_ENABLED", Value: "0"}},
	} {
		_, err := programOf(nil, &debug.BuildInfo{Settings: settings})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, must say %q", err, want)
		}
	}
	err := run([]string{"0.1.0", t.TempDir(), "oci.tar", "weir"})
	if err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("%v, must ask for licences", err)
	}
}

func imageFor(t *testing.T, p program) v1.Image {
	t.Helper()
	image, err := imageOf("0.1.0", licences(), p)
	if err != nil {
		t.Fatal(err)
	}
	return image
}

// unpacked writes the files of a tar file into a folder.
func unpacked(t *testing.T, packed []byte) string {
	folder := t.TempDir()
	read(t, bytes.NewReader(packed), func(h *tar.Header, content []byte) {
		path := filepath.Join(folder, h.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	})
	return folder
}

func read(t *testing.T, r io.Reader, each func(*tar.Header, []byte)) {
	t.Helper()
	files := tar.NewReader(r)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err != nil {
			t.Fatal(err)
		}
		each(h, content)
	}
}
