// Package specs holds the experiments of the papers as YAML, embedded in the
// binary. A name such as cardio-dp-wgan stands for specs:cardio-dp-wgan.
package specs

import (
	"embed"
	"path"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Names lists the embedded specs in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	slices.Sort(names) // of files with their ending, a longer name would come first
	return names
}

// Read returns the YAML of an embedded spec, and whether there is one of this name.
func Read(name string) ([]byte, bool) {
	if !slices.Contains(Names(), name) {
		return nil, false
	}
	data, err := files.ReadFile(name + ".yaml")
	return data, err == nil
}
