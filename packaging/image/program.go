package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime/debug"
	"time"
)

// program is a static program of one platform, with what its compiler noted of it.
type program struct {
	content  []byte
	arch     string    // as Go spells it
	revision string    // the commit
	date     time.Time // of the commit
}

// open reads a program, and refuses one that the image could not run or whose commit nobody knows.
func open(path string) (program, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return program{}, err
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, errors.Join(err, errors.New("is not a program that Go built"))
	}
	return programOf(content, info)
}

// programOf judges what the compiler noted of a program.
func programOf(content []byte, info *debug.BuildInfo) (program, error) {
	noted := map[string]string{}
	for _, s := range info.Settings {
		noted[s.Key] = s.Value
	}
	if noted["GOOS"] != "linux" || noted["CGO_ENABLED"] != "0" {
		return program{}, fmt.Errorf("is for %s with CGO_ENABLED=%s, must be for linux with CGO_ENABLED=0: the image has no "+
			"libraries", noted["GOOS"], noted["CGO_ENABLED"])
	}
	date, err := time.Parse(time.RFC3339, noted["vcs.time"])
	if err != nil {
		return program{}, errors.New("does not name its commit: must be built in a checkout, with -buildvcs=true")
	}
	return program{content, noted["GOARCH"], noted["vcs.revision"], date}, nil
}

// file is a file of an image.
type file struct {
	path    string // without a first slash
	content []byte
	mode    int64
	folder  bool
}

// filesOf reads the files of a folder of licences, for where packages have them.
func filesOf(folder string) ([]file, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		content, err := os.ReadFile(path.Join(folder, e.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: path.Join("usr/share/doc/weir", e.Name()), content: content, mode: 0o644})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: is empty, must have the licences of what the image holds", folder)
	}
	return files, nil
}
