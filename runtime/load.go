package runtime

import (
	"fmt"
	"io"
	"path/filepath"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime/files"
	"weir/runtime/source"
	"weir/runtime/store"
	"weir/runtime/table"
	"weir/schema"
)

// Registry returns all that weir knows: kinds of stages, and what the runtime adds to them.
func Registry(kinds ...[]pipeline.Kind) (*pipeline.Registry, error) {
	reg, err := pipeline.NewRegistry(kinds...)
	if err != nil {
		return nil, err
	}
	return reg.Reading(source.Kinds()...).Writing(table.Written()...), nil
}

// LoadSpec reads a spec file, applies overrides and those of a trial of its own
// experiment, and validates everything that can be known without the data.
func LoadSpec(path string, set []string, trial spec.Trial, confine bool, reg *pipeline.Registry) (*spec.Spec, error) {
	dir, name := filepath.Split(path)
	folder, err := files.OpenFolder(dir, confine)
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	data, err := readLimited(folder, name)
	if err != nil {
		return nil, err
	}
	return ParseTrial(path, data, set, trial, folder, reg)
}

// ParseSpec validates the YAML of a spec whose relative paths start in folder.
func ParseSpec(name string, data []byte, set []string, folder *files.Folder, reg *pipeline.Registry) (*spec.Spec, error) {
	return ParseTrial(name, data, set, spec.Trial{}, folder, reg)
}

// ParseTrial is ParseSpec of a run of the spec's own experiment.
func ParseTrial(name string, data []byte, set []string, trial spec.Trial, folder *files.Folder, reg *pipeline.Registry) (*spec.Spec, error) {
	return ParseSpecFrom(name, data, set, trial, func(file string) ([]byte, error) { return readLimited(folder, file) }, reg)
}

// ParseSpecFrom validates the YAML of a spec that lies elsewhere than in a folder, such as
// in a revision; read gives the files that it names.
func ParseSpecFrom(name string, data []byte, set []string, trial spec.Trial, read func(file string) ([]byte, error), reg *pipeline.Registry) (*spec.Spec, error) {
	return spec.Parse(spec.Input{File: name, Data: data, Set: set, Trial: trial, Read: read, More: compile.Faults}, reg)
}

// readLimited reads one byte more than the schema room accepts, so that a huge
// file is refused there without being held here.
func readLimited(folder *files.Folder, name string) ([]byte, error) {
	f, err := folder.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.Path(name), store.Reason(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, schema.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.Path(name), store.Reason(err))
	}
	return data, nil
}
