// Command licences writes the licences that go with a Go program into one text file: of every module that its compiler
// noted, as `go version -m` lists them, and of Go itself. A text that several modules share stands once.
//
//	licences PROGRAM FILE
package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// run writes the file that args names, for the program that they name.
func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("is given %d arguments, must be given a Go program and the file to write", len(args))
	}
	info, err := buildinfo.ReadFile(args[0])
	if err != nil {
		return err
	}
	sources, err := sourcesOf(info)
	if err != nil {
		return err
	}
	var all collection
	for _, s := range sources {
		if err := all.add(s); err != nil {
			return err
		}
	}
	return os.WriteFile(args[1], all.text(), 0o644)
}

// source is a module, and the folder of its files.
type source struct{ name, dir string }

// sourcesOf returns the modules of a program, and Go, in the order of the compiler. What the module cache lacks is
// downloaded.
func sourcesOf(info *debug.BuildInfo) ([]source, error) {
	var names []string
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		names = append(names, m.Path+"@"+m.Version)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	sources := []source{{info.GoVersion, strings.TrimSpace(string(root))}}
	if len(names) == 0 {
		return sources, nil
	}
	out, err := exec.Command("go", append([]string{"mod", "download", "-json"}, names...)...).Output()
	if err != nil {
		return nil, errors.Join(err, fmt.Errorf("go mod download -json: %s", out))
	}
	return downloaded(sources, names, out)
}

// downloaded adds where go says that modules lie.
func downloaded(sources []source, names []string, out []byte) ([]source, error) {
	dirs := map[string]string{}
	for all := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Version, Dir string }
		if err := all.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		dirs[m.Path+"@"+m.Version] = m.Dir
	}
	for _, name := range names {
		if dirs[name] == "" {
			return nil, fmt.Errorf("%s: go names no folder of it", name)
		}
		sources = append(sources, source{name, dirs[name]})
	}
	return sources, nil
}
