package main

import (
	"errors"
	"fmt"
	"io/fs"

	"weir/record"
	"weir/runtime/store"
)

// readRun reads the record of the run that an argument names. OUT/NAME holds the
// runs of a spec and is named by mistake most often, so one of them is proposed.
func readRun(dir string) (*record.Run, error) {
	rec, err := store.ReadRecord(dir)
	if !errors.Is(err, fs.ErrNotExist) {
		if err != nil {
			err = withCode(exitUsage, fmt.Errorf("%s: is not a run: %w", dir, err))
		}
		return rec, err
	}
	expected := "the folder of one, which holds run.json: OUT/NAME/ID"
	if runs, err := store.Runs(dir); err == nil && len(runs) > 0 {
		expected += ", such as " + runs[len(runs)-1]
	}
	return nil, withCode(exitUsage, fmt.Errorf("%s: is not a run, must be %s", dir, expected))
}
