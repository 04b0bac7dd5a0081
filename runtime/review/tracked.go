package review

import (
	"bytes"
	"context"
	"path"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/runtime"
	"weir/schema"
)

// TrackedSpecs lists the files *.yaml and *.yml that git tracks in a folder and below it and that are specs, by their
// paths from the folder. Sound or not: one that is no YAML but names the keys of a spec is listed, so that whoever
// checks the list hears of it.
func TrackedSpecs(ctx context.Context, folder string) (specs []string, err error) {
	r := &Commit{ctx: ctx, Top: folder}
	out, err := r.git("ls-files", "-z", "--cached")
	if err != nil {
		return nil, runtime.Misused(err)
	}
	for _, name := range strings.Split(string(out), "\x00") {
		if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
			continue
		}
		file := filepath.Join(folder, filepath.FromSlash(name))
		if data, err := disk.ReadFile(file, schema.MaxBytes); err == nil && mayBeSpec(data) {
			specs = append(specs, file)
		}
	}
	return specs, nil
}

// mayBeSpec tells a spec from other YAML, or text that was meant to be one.
func mayBeSpec(data []byte) bool {
	if doc, problems := schema.Parse("", data); len(problems) == 0 {
		return doc.Has("weir") && doc.Has("stages")
	}
	return isSpec(data) || bytes.Contains(data, []byte("weir")) && bytes.Contains(data, []byte("stages"))
}
