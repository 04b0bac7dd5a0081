package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/pipeline/domain"
	"weir/record"
	"weir/runtime/payment"
	"weir/runtime/store"
)

// publishing returns a run whose stages are done: each made one output of the header.
func publishing(t *testing.T, tables map[string]pipeline.Table, formats ...string) *run {
	t.Helper()
	plan := planSpec(t, strings.Replace(liarSpec, "LIE", "none", 1))
	plan.Steps = nil
	dir := store.RunDir{Path: t.TempDir()}
	r := &run{plan: plan, attempt: payment.Attempt{Dir: dir}, opts: Options{Clock: time.Now},
		outputs: &outputs{tables: map[pipeline.Ref]pipeline.Table{}}}
	for id, table := range tables {
		s := compile.Step{Step: &pipeline.Step{ID: id, First: "out"},
			Work: pipeline.Work{Out: pipeline.Headers{"out": table.Header}, Write: formats}}
		plan.Steps = append(plan.Steps, s)
		r.outputs.tables[pipeline.Ref{Stage: id, Port: "out"}] = table
	}
	text, err := json.Marshal(plan)
	if err != nil || os.Mkdir(dir.Internal(), 0o700) != nil {
		t.Fatal(err)
	}
	r.record = &record.Run{Plan: text, Metrics: map[string]float64{}, Notes: map[string]string{}}
	return r
}

// eachOutput returns outputs of every form, in both classes, each holding the needle 73313.
func eachOutput() map[string]pipeline.Table {
	domain := &domain.Domain{Columns: []domain.Column{{Name: "income", Type: domain.Integer}}}
	all := map[string]pipeline.Table{}
	for _, class := range []pipeline.Class{pipeline.Private, pipeline.Released} {
		c := string(class)
		rows := pipeline.TableHeader(domain, pipeline.Header{Class: class})
		all[c+"-table"] = pipeline.FromRecords(rows, needleRow(rows.Schema))
		files := pipeline.Header{Form: pipeline.FormFiles, Class: class}
		all[c+"-files"] = pipeline.WriteFiles(files, []pipeline.File{{Name: c + ".html", Data: []byte("73313")}})
		model := pipeline.Header{Form: pipeline.FormModel, Class: class}
		all[c+"-model"] = pipeline.WriteFiles(model, []pipeline.File{{Name: "weights", Data: []byte("73313")}})
		figures := pipeline.Header{Form: pipeline.FormMetrics, Schema: pipeline.MetricsSchema(), Class: class}
		all[c+"-figures"] = pipeline.WriteMetrics(figures, []pipeline.Metric{{Name: "rows", Value: 73313}})
	}
	return all
}

// TestOnlyReleasedOutputsLeave: by class alone a table, a page and a model go to release/ or
// stay inside; figures never leave. What stays is the owner's, and no digest of it is kept.
func TestOnlyReleasedOutputsLeave(t *testing.T) {
	r := publishing(t, eachOutput(), "csv", "parquet")
	if err := r.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.publish(); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string][]string{
		r.attempt.Dir.Release(): {"BILL.txt", "DATASHEET.md", "PRIVACY.md", "domain.yaml", "released-model.model",
			"released-table.csv", "released-table.parquet",
			"released.html"},
		r.attempt.Dir.Internal(): {"private-table.csv", "private-table.parquet", "private.html"},
	} {
		var got []string
		files, err := os.ReadDir(dir)
		for _, f := range files {
			got = append(got, f.Name())
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s holds %v (%v), must hold %v", filepath.Base(dir), got, err, want)
		}
	}
	for _, f := range r.record.Release {
		digest, size, err := store.DigestFile(filepath.Join(r.attempt.Dir.Path, f.Path))
		if err != nil || f.SHA256 != digest || f.Bytes != size {
			t.Errorf("%s is recorded as %+v, %v", f.Path, f, err)
		}
	}
	for _, f := range r.record.Internal {
		info, err := os.Stat(filepath.Join(r.attempt.Dir.Path, f.Path))
		if err != nil || info.Mode().Perm() != 0o600 || f.SHA256 != "" {
			t.Errorf("%s has mode %v and the digest %q, must be its owner's and have none", f.Path, info.Mode(), f.SHA256)
		}
	}
	if len(r.record.Metrics) != 2 || len(r.record.Release) != 8 || len(r.record.Internal) != 3 {
		t.Errorf("%d figures, %d released and %d internal files", len(r.record.Metrics), len(r.record.Release),
			len(r.record.Internal))
	}
}

// TestFailedBuildLeavesTheOldRelease: the release takes its name complete or not at all.
func TestFailedBuildLeavesTheOldRelease(t *testing.T) {
	broken := errors.New("broken")
	all := eachOutput()
	files := all["released-files"].Header
	for name, table := range map[string]pipeline.Table{
		"a broken row": {Header: all["released-table"].Header, Open: func(context.Context) pipeline.Batches {
			return func(yield func(arrow.Record, error) bool) { yield(nil, broken) }
		}},
		"a panic": {Header: all["released-table"].Header, Open: func(context.Context) pipeline.Batches {
			panic("73313")
		}},
		"a path":           pipeline.WriteFiles(files, []pipeline.File{{Name: "../../escaped", Data: []byte("x")}}),
		"a folder":         pipeline.WriteFiles(files, []pipeline.File{{Name: "sub/page.html", Data: []byte("x")}}),
		"an absolute path": pipeline.WriteFiles(files, []pipeline.File{{Name: "/tmp/escaped", Data: []byte("x")}}),
	} {
		r := publishing(t, map[string]pipeline.Table{"out": table}, "csv")
		old := filepath.Join(r.attempt.Dir.Release(), "old")
		if err := (disk.Disk{}).WriteBytes(old, 0o644, []byte("old")); err != nil {
			t.Fatal(err)
		}
		err := r.build(t.Context())
		if err == nil || strings.Contains(err.Error(), "73313") || !pipeline.IsStage(err) {
			t.Errorf("%s: %v, must fail and name its stage", name, err)
		}
		if text, err := os.ReadFile(old); err != nil || string(text) != "old" {
			t.Errorf("%s: the old release holds %q, %v", name, text, err)
		}
		if escaped, _ := filepath.Glob(filepath.Join(filepath.Dir(r.attempt.Dir.Path), "escaped")); len(escaped) > 0 {
			t.Errorf("%s: %v was written", name, escaped)
		}
		if left, _ := filepath.Glob(filepath.Join(r.attempt.Dir.Aside(), "out*")); len(left) > 0 {
			t.Errorf("%s: %v is left half written", name, left)
		}
	}
}

// needleRow returns one row that holds 73313.
func needleRow(schema *arrow.Schema) arrow.Record {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.Append(73313)
	return array.NewRecord(schema, []arrow.Array{b.NewArray()}, 1)
}
