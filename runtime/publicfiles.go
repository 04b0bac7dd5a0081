package runtime

import (
	"os"
	"path/filepath"

	"weir/pipeline/compile"
	"weir/pipeline/spec"
	"weir/runtime/dataset"
	"weir/runtime/pay"
	"weir/runtime/store"
)

// CheckPublicFiles refuses a file that is declared public and is the dataset by
// another name, or a table that weir keeps a ledger of. It reads no file, so that
// check and plan can ask; a copy is found by its content when a run begins.
func CheckPublicFiles(plan *compile.Plan, folder *Folder) error {
	own := ""
	if name := plan.Spec.Dataset.File; name != "" {
		own = folder.Path(name)
	}
	var refused spec.Diagnostics
	for i := range plan.Steps {
		step := &plan.Steps[i]
		for _, f := range step.Work.Files {
			if !f.Public {
				continue
			}
			if found := privateFile(folder.Path(f.Path), own); found != "" {
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
func privateFile(path, own string) string {
	if own != "" && store.SamePath(path, own) {
		return "which is the dataset"
	}
	for _, name := range []string{path, store.Resolved(path)} {
		for _, suffix := range []string{dataset.LedgerSuffix, pay.TestLedgerSuffix, dataset.OwnerSuffix} {
			if _, err := os.Lstat(name + suffix); err == nil {
				return "a private table: " + filepath.Base(name+suffix) + " lies beside it"
			}
		}
	}
	return ""
}
