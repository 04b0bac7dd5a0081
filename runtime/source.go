package runtime

import (
	"context"
	"fmt"
	"path/filepath"

	"weir/pipeline"
	"weir/pipeline/compile"
	"weir/runtime/demo"
	"weir/runtime/table"
)

// source is the opened dataset.
type source struct {
	identity
	table pipeline.Table
	name  string
}

// openSource opens the dataset of a plan and finds out which dataset it is.
func openSource(ctx context.Context, plan *compile.Plan, files *held, opts Options) (*source, error) {
	d := &plan.Spec.Dataset
	s := &source{name: "demo: " + d.Demo}
	open := s.openFile
	if d.Demo != "" {
		open = s.openDemo
	}
	if err := open(ctx, plan, files, opts); err != nil {
		return nil, atStage(pipeline.DatasetID, err)
	}
	s.table.Header = plan.Spec.Source()
	s.table.Open = nameErrors(pipeline.DatasetID, countRows(capUnits(s.table, d.PrivacyUnit)))
	return s, nil
}

// openDemo: made-up rows protect nobody, so what they are is public.
func (s *source) openDemo(_ context.Context, plan *compile.Plan, _ *held, opts Options) error {
	d := &plan.Spec.Dataset
	t, err := demo.Open(d.Demo, d.DemoRows, plan.Seed, d.Columns())
	if err != nil {
		return err
	}
	s.table = t
	s.identity = publicIdentity(fmt.Sprintf("demo %s %d %d", d.Demo, t.Rows, plan.Seed), string(d.Version), opts)
	return nil
}

func (s *source) openFile(ctx context.Context, plan *compile.Plan, files *held, opts Options) error {
	d := &plan.Spec.Dataset
	if err := files.folder.Check(d.File); err != nil {
		return err
	}
	t, err := table.Open(files, d.File, d.CSV, d.Columns())
	if err != nil {
		return err
	}
	digest, err := files.digest(ctx, d.File)
	if err != nil {
		return err
	}
	s.table, s.name = t, filepath.Base(d.File)
	s.identity, err = identify(ctx, files.folder.Path(d.File), digest, t, plan, files.folder, opts)
	return err
}
