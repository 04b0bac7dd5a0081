package runtime

import (
	"context"
	"path/filepath"

	"weir/internal/disk"
	"weir/record"
	"weir/record/listing"
	"weir/runtime/store"
)

// Choice picks the main figures of a run, given the kinds of its stages and the values of all figures.
type Choice func(kinds map[string]string, metrics map[string]float64) []string

// List reads what a list says of all runs under out, several at a time. choose picks the
// main figures of a run. A run that cannot be read is listed so.
func List(ctx context.Context, d disk.Disk, out string, workers int, choose Choice) ([]listing.Run, error) {
	names, err := store.Names(out)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		found, err := store.Entries(filepath.Join(out, name))
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	runs := make([]listing.Run, len(paths))
	return runs, sideBySide(ctx, len(paths), max(1, workers), func(_ context.Context, i int) error {
		runs[i] = listed(d, paths[i], choose)
		return nil
	})
}

func listed(d disk.Disk, path string, choose Choice) listing.Run {
	r := listing.Run{Path: path, Name: filepath.Base(filepath.Dir(path)), ID: filepath.Base(path),
		Metrics: map[string]float64{}}
	r.Started, _ = store.Began(r.ID)
	r.Bytes = store.Size(path)
	s, err := store.ReadSummary(path)
	if err != nil {
		r.Status, r.Why = listing.Unreadable, err.Error()
		return r
	}
	r.Status, r.Test, r.Spec = string(s.Status), s.Insecure, s.Spec
	if notes, err := store.ReadNotes(path); err == nil {
		r.Note, r.Tags = notes.Note, notes.Tags
	} else {
		r.Note = "(" + err.Error() + ")"
	}
	if !s.Started.IsZero() {
		r.Started = s.Started // ids count whole seconds
	}
	r.Proven, r.Published, r.Delta = s.Terms.Proven, s.Terms.Published, s.Terms.Delta
	if s.Status == record.Running && !store.Held(d, path) {
		r.Status = listing.Killed
	}
	all := store.ReadMetrics(path)
	r.Main = choose(s.Kinds(), all)
	for _, name := range r.Main {
		r.Metrics[name] = all[name]
	}
	r.Report = store.ReportOf(path)
	return r
}
