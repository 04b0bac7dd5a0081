package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// planOf has steps of these names and nothing else.
func planOf(ids ...string) *compile.Plan {
	p := &compile.Plan{}
	for _, id := range ids {
		p.Steps = append(p.Steps, compile.Step{Step: &pipeline.Step{ID: id}})
	}
	return p
}

// TestRecordListsStagesAsPlanned: which of two stages that run side by side ended first may depend on the rows, so
// the record has them in the order of the plan.
func TestRecordListsStagesAsPlanned(t *testing.T) {
	r := &run{plan: planOf("a", "b", "c"), record: &record.Run{
		Stages: []record.Stage{{ID: "c"}, {ID: "a"}, {ID: "b"}}, Charges: []record.Charge{{Stage: "c"}, {Stage: "b"},
			{Stage: "a"}}}}
	r.orderStages()
	for i, id := range []string{"a", "b", "c"} {
		if r.record.Stages[i].ID != id || r.record.Charges[i].Stage != id {
			t.Errorf("stage %d is %s and charge %d of %s, must be %s", i, r.record.Stages[i].ID, i, r.record.Charges[i].Stage,
				id)
		}
	}
}

// TestRecordKeepsInternalFilesInside: the sizes of internal files count private rows: they are listed on the owner's
// side, and found there again.
func TestRecordKeepsInternalFilesInside(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "internal"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := record.File{Path: "internal/clean.csv", Bytes: 73313}
	r := &run{plan: planOf(), attempt: payment.Attempt{Dir: store.RunDir{Path: dir}}, opts: Options{Clock: time.Now},
		watch: &watch{}, record: &record.Run{Internal: []record.File{file}}}
	if err := r.end(nil); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "run.json")); err != nil || strings.Contains(string(data), "73313") ||
		strings.Contains(string(data), "clean.csv") {
		t.Errorf("run.json tells of an internal file: %s, %v", data, err)
	}
	if again, err := store.ReadRecord(dir); err != nil || len(again.Internal) != 1 || again.Internal[0] != file {
		t.Errorf("read again: %+v, %v", again, err)
	}
}

// TestRecordQuotesNoError: why a run failed is for the owner: of a table that cannot be read it names lines.
func TestRecordQuotesNoError(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "internal"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := &run{plan: planOf(), attempt: payment.Attempt{Dir: store.RunDir{Path: dir}}, opts: Options{Clock: time.Now},
		watch: &watch{}, record: &record.Run{}}
	if err := r.end(errors.New("data.csv: line 73313: is missing")); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil || strings.Contains(string(data), "73313") || !strings.Contains(string(data), "internal/error.txt") {
		t.Errorf("run.json tells why: %s, %v", data, err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "internal", "error.txt")); err != nil || !strings.Contains(string(data),
		"line 73313") {
		t.Errorf("the owner is not told why: %s, %v", data, err)
	}
}

// TestPanicsOfRowsAreKeptInside: a panic while the rows of a stage are made ends in an error that quotes nothing,
// though rows are made only as they are stored.
func TestPanicsOfRowsAreKeptInside(t *testing.T) {
	dir := t.TempDir()
	r := &run{plan: planOf("a"), attempt: payment.Attempt{Dir: store.RunDir{Path: dir}},
		outputs: &outputs{cache: store.CacheOf(disk.Disk{}, dir)}}
	step := &r.plan.Steps[0]
	step.Work.Out = pipeline.Headers{"out": {Schema: pipeline.MetricsSchema()}}
	out := pipeline.Tables{"out": {Open: func(context.Context) pipeline.Batches { panic("73313 is in row 3") }}}
	if err := r.store(context.Background(), step, "sha256:1", out, func() error { return nil }); err == nil ||
		strings.Contains(err.Error(), "73313") {
		t.Errorf("the error is %v, must be one that quotes nothing", err)
	}
}
