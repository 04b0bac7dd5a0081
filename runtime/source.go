package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"weir/pipeline"
	"weir/runtime/demo"
	"weir/runtime/table"
)

// source is the opened dataset.
type source struct {
	table  pipeline.Table
	name   string
	digest string // of the uncompressed content, or of the generator and its parameters
	ledger string // default file of the ledger; "" for a demo, which has no folder of its own
	domain *pipeline.Domain
	csv    *pipeline.CSV
	unit   pipeline.Unit
}

// openSource opens the dataset of a plan and digests it.
func openSource(ctx context.Context, plan *pipeline.Plan, folder *Folder) (*source, error) {
	d := &plan.Spec.Dataset
	s := &source{domain: d.Columns(), csv: d.CSV, unit: d.PrivacyUnit}
	open := s.openFile
	if d.Demo != "" {
		open = s.openDemo
	}
	if err := open(ctx, plan, folder); err != nil {
		return nil, atStage(pipeline.DatasetID, err)
	}
	s.table.Header = plan.Spec.Source()
	s.table.Open = nameErrors(pipeline.DatasetID, countRows(capUnits(s.table, s.unit)))
	return s, nil
}

func (s *source) openDemo(_ context.Context, plan *pipeline.Plan, _ *Folder) error {
	d := &plan.Spec.Dataset
	t, err := demo.Open(d.Demo, d.DemoRows, plan.Seed, s.domain)
	if err != nil {
		return err
	}
	s.table, s.name = t, "demo: "+d.Demo
	s.digest = sum([]byte(fmt.Sprintf("demo %s %d %d", d.Demo, t.Rows, plan.Seed)))
	return nil
}

func (s *source) openFile(ctx context.Context, plan *pipeline.Plan, folder *Folder) error {
	d := &plan.Spec.Dataset
	if err := folder.Check(d.File); err != nil {
		return err
	}
	t, err := table.Open(folder, d.File, s.csv, s.domain)
	if err != nil {
		return err
	}
	s.table, s.name, s.ledger = t, filepath.Base(d.File), folder.Path(d.File)+ledgerSuffix
	s.digest, err = table.Digest(ctx, folder, d.File)
	return err
}

// recipe names the source table in the cache: content, and how it is read.
func (s *source) recipe() string {
	data, err := json.Marshal(struct {
		Digest string
		Domain *pipeline.Domain
		CSV    *pipeline.CSV
		Unit   pipeline.Unit
	}{s.digest, s.domain, s.csv, s.unit})
	if err != nil {
		panic(fmt.Sprintf("source: %v", err)) // plain data always marshals
	}
	return sum(data)
}
