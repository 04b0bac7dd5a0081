package main

import (
	"bytes"
	"slices"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
)

// withFiles marks the runs of a spec in a folder that read a public file which is another now
// than in the revision: what they pay for is not what the ledger has, though the spec is the
// same.
func (b *budgeting) withFiles(folder string, runs bill) bill {
	runs = slices.Clone(runs) // the revision may have the same
	changed := map[string]bool{}
	for i := range runs {
		runs[i].anew = slices.ContainsFunc(runs[i].plan.Steps, func(s compile.Step) bool {
			return slices.ContainsFunc(s.Work.Files, func(f pipeline.FileUse) bool {
				if _, known := changed[f.Path]; !known {
					changed[f.Path] = f.Public && b.changed(b.home(folder, f.Path))
				}
				return changed[f.Path]
			})
		})
	}
	return runs
}

// changed tells of a file of the repository whether its content is another than in the
// revision. Of one that the revision does not have nothing is known.
func (b *budgeting) changed(name string) bool {
	then, err := b.then.read(name, mostOfLedger)
	if err != nil {
		return false
	}
	now, err := disk.ReadFile(b.place(name), mostOfLedger)
	return err != nil || !bytes.Equal(then, now)
}
