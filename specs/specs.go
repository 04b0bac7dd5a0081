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

//go:embed results/*.csv
var results embed.FS

// Result returns a CSV file of what papers print and what came out of their specs: inventory.csv lists the tables and
// figures of each paper with the printed values, spreads.csv the variances that tables print behind the values that a
// spec holds, NAME.csv the runs of a spec, which there may be none of (fs.ErrNotExist). Command docgen makes
// docs/reproduced.md of them.
func Result(file string) ([]byte, error) { return results.ReadFile(path.Join("results", file)) }

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
