package runtime

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime/dataset"
	"weir/runtime/files"
	"weir/runtime/payment"
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

// LoadSpec reads a spec file, applies overrides, and validates everything that can be known without the data.
func LoadSpec(path string, set []string, confine bool, reg *pipeline.Registry) (*spec.Spec, error) {
	dir, name := filepath.Split(path)
	read := Reading(dir, confine)
	data, err := read(name)
	if err != nil {
		return nil, err
	}
	return ParseSpecFrom(path, data, set, read, reg)
}

// Reading returns what reads the files that a spec in a folder names. It opens the folder each time: trials of the
// spec may name others later.
func Reading(dir string, confine bool) func(file string) ([]byte, error) {
	return func(file string) ([]byte, error) {
		folder, err := files.OpenFolder(dir, confine)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		return readLimited(folder, file)
	}
}

// ParseSpec validates the YAML of a spec whose relative paths start in folder.
func ParseSpec(name string, data []byte, set []string, folder *files.Folder, reg *pipeline.Registry) (*spec.Spec,
	error) {
	return ParseSpecFrom(name, data, set, func(file string) ([]byte, error) { return readLimited(folder, file) }, reg)
}

// ParseSpecFrom validates the YAML of a spec that lies elsewhere than in a folder, such as
// in a revision; read gives the files that it names.
func ParseSpecFrom(name string, data []byte, set []string, read func(file string) ([]byte, error),
	reg *pipeline.Registry) (*spec.Spec, error) {
	return spec.Parse(spec.Input{File: name, Data: data, Set: set, Read: read, More: compile.Faults}, reg)
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

// CheckFiles refuses, by names alone, what a spec may not read or write: a ledger outside
// a confined folder, and a private table that is declared public.
func CheckFiles(plan *compile.Plan, folder *files.Folder) error {
	if name := plan.Spec.Dataset.Ledger; name != "" {
		if err := folder.Inside(folder.Path(name)); err != nil {
			return fmt.Errorf("dataset.ledger: %w", err)
		}
	}
	return CheckPublicFiles(plan, folder)
}

// CheckPublicFiles refuses a file that is declared public and is the dataset by
// another name, or a table that weir keeps a ledger of. It reads no file, so that
// check and plan can ask; a copy is found by its content when a run begins.
func CheckPublicFiles(plan *compile.Plan, folder *files.Folder) error {
	var names []string
	for _, name := range plan.Spec.Dataset.Declared.Files {
		names = append(names, folder.Path(name))
	}
	var refused spec.Diagnostics
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			if found := privateFile(folder.Path(f.Path), names); found != "" {
				refused = append(refused, plan.Spec.Refusal("W13", step.ID, "stages."+step.ID+".file", f.Path+", "+found,
					"a file that holds no private row", "class: private lets evaluation read it"))
			}
		}
	}
	if refused == nil {
		return nil
	}
	return refused
}

// privateFile says why the file at path is somebody's private table, or "".
func privateFile(path string, own []string) string {
	if slices.ContainsFunc(own, func(o string) bool { return isOf(path, o) }) {
		return "which is the dataset"
	}
	for _, name := range []string{path, store.Resolved(path)} {
		for _, suffix := range []string{dataset.LedgerSuffix, payment.TestLedgerSuffix, dataset.OwnerSuffix,
			dataset.KeptSuffix} {
			if _, err := os.Lstat(name + suffix); err == nil {
				return "a private table: " + filepath.Base(name+suffix) + " lies beside it"
			}
		}
	}
	return ""
}

// isOf reports whether the file at path is one that a name of the dataset stands for.
func isOf(path, names string) bool {
	if !pipeline.IsPattern(names) {
		return store.SamePath(path, names)
	}
	in := func(path string) bool {
		return store.SamePath(filepath.Dir(path), filepath.Dir(names)) && pipeline.Matches(names, filepath.Base(path))
	}
	return in(path) || in(store.Resolved(path))
}

// checkPublic refuses a file that is declared public and has the content of the
// dataset, or of another one that runs here have read as private. It comes before
// any charge.
func (r *run) checkPublic(ctx context.Context) error {
	for i := range r.plan.Steps {
		step := &r.plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			if err := r.checkPublicFile(ctx, f.Path); err != nil {
				return pipeline.AtStage(step.ID, err)
			}
		}
	}
	return nil
}

func (r *run) checkPublicFile(ctx context.Context, name string) error {
	digest, err := r.files.Digest(ctx, name)
	if err != nil {
		return err
	}
	what, private := "the dataset itself", false
	names, err := r.files.Lists(r.plan.Spec.Dataset.Declared.Files)
	if err != nil {
		return err
	}
	for _, own := range names {
		content, err := r.files.Digest(ctx, own)
		if err != nil {
			return err
		}
		private = private || content == digest
	}
	if !private {
		if what, private, err = dataset.KnownPrivate(r.opts.owners(), r.files.Path(name), digest); err != nil {
			return err
		}
	}
	if !private {
		return nil
	}
	return dataset.Refusal{
		Err: fmt.Errorf("file: %s has the content of %s, must be a file that holds no private row (W13)", name, what)}
}
