// Package specs holds the experiments of the papers as YAML, embedded in the
// binary. A name such as cardio-dp-wgan stands for specs:cardio-dp-wgan.
package specs

import (
	"embed"
	"fmt"
	"path"
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
	return names
}

// Read returns the YAML of an embedded spec.
func Read(name string) ([]byte, error) {
	data, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("specs:%s: no such spec, must be one of %s", name, strings.Join(Names(), ", "))
	}
	return data, nil
}
