package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"weir/internal/disk"
	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime"
)

// pageKind returns the kind whose page --html writes: the one that takes figures and both tables, and gives files.
func pageKind() (*pipeline.Kind, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	for _, name := range reg.Names() {
		k := reg.Kind(name)
		in := k.InByKey("metrics")
		if in != nil && in.Many && k.InByKey("real") != nil && k.InByKey("synthetic") != nil && k.Out[0].Form == pipeline.FormFiles {
			return k, nil
		}
	}
	return nil, errors.New("--html: this weir has no kind that draws a page of figures")
}

// writePage draws the report of the comparison into the file of --html, for its owner alone (mode 0600).
func (f *evaluateFlags) writePage(ctx context.Context, s streams, tables pipeline.Tables, progress progress,
	result *evaluation) error {
	kind, err := pageKind()
	if err != nil {
		return err
	}
	headers, in := drawnTables(tables)
	for i, g := range result.groups {
		port := pipeline.Indexed("metrics", i)
		headers[port], in[port] = g.table.Header, g.table
	}
	work, err := f.planPage(kind, headers)
	if err != nil {
		return err
	}
	env := runtime.LocalEnv(kind.Name, f.seed, f.workers, newLog(s.err, false), progress)
	env.Plan = f.comparison(kind, result)
	progress.Start(kind.Name, kind.Name)
	out, err := runtime.Safely(func() (pipeline.Tables, error) { return work.Run(ctx, env, in) })
	progress.End(kind.Name, false, err)
	if err != nil {
		return err
	}
	parts, err := pipeline.ReadFiles(ctx, out[kind.Out[0].Name])
	if err != nil {
		return err
	}
	for _, part := range parts {
		if strings.HasSuffix(part.Name, ".html") {
			return disk.Disk{}.WriteBytes(f.html, 0o600, part.Data)
		}
	}
	return fmt.Errorf("--html: the kind %s made no page", kind.Name)
}

// drawnTables are the tables that a page draws.
func drawnTables(tables pipeline.Tables) (pipeline.Headers, pipeline.Tables) {
	headers, in := pipeline.Headers{}, pipeline.Tables{}
	for _, port := range []string{"real", "synthetic", "real_train"} {
		if t, there := tables[port]; there {
			headers[port], in[port] = t.Header, t
		}
	}
	return headers, in
}

// judgePage refuses columns of --by before anything is computed.
func (f *evaluateFlags) judgePage(tables pipeline.Tables) error {
	if f.html == "" {
		return nil
	}
	kind, err := pageKind()
	if err != nil {
		return err
	}
	headers, _ := drawnTables(tables)
	if _, err = f.planPage(kind, headers); err != nil {
		return fmt.Errorf("--by: %w", err)
	}
	return nil
}

// planPage plans the page. A target that it cannot draw curves of, such as one of three categories, is left out: what
// learners make of it is in the figures.
func (f *evaluateFlags) planPage(kind *pipeline.Kind, headers pipeline.Headers) (work pipeline.Work, err error) {
	for _, settings := range []map[string]any{f.settings(), {}} {
		if len(f.by) > 0 {
			settings["groups"] = f.by
		}
		stage, bad := spec.Configure(kind, settings)
		if bad != nil {
			return pipeline.Work{}, bad
		}
		if work, err = stage.Plan(headers); err == nil {
			return work, nil
		}
	}
	return pipeline.Work{}, err
}

// capitalised makes sentences of words.
func capitalised(list []string) (sentences []string) {
	for _, s := range list {
		sentences = append(sentences, strings.ToUpper(s[:1])+s[1:]+".")
	}
	return sentences
}

// comparison is the plan of comparing files: its groups of figures, and the page that reads them.
func (f *evaluateFlags) comparison(kind *pipeline.Kind, result *evaluation) *pipeline.Plan {
	page := &pipeline.Step{ID: kind.Name, Kind: kind.Name, Inputs: map[string][]pipeline.Ref{
		"real": {{Stage: filepath.Base(f.real)}}, "synthetic": {{Stage: filepath.Base(f.synthetic)}}}}
	if f.train != "" {
		page.Inputs["real_train"] = []pipeline.Ref{{Stage: filepath.Base(f.train)}}
	}
	p := &pipeline.Plan{Name: filepath.Base(f.synthetic)}
	p.Compared = &pipeline.Comparison{LeftOut: capitalised(result.left)}
	for _, g := range result.groups {
		inputs := map[string][]pipeline.Ref{"real": page.Inputs["real"], "synthetic": page.Inputs["synthetic"]}
		step := &pipeline.Step{ID: g.name, Kind: g.name, Figures: g.declared, Inputs: inputs, Settings: g.settings}
		p.Steps = append(p.Steps, step)
		page.Inputs["metrics"] = append(page.Inputs["metrics"], pipeline.Ref{Stage: g.name})
	}
	p.Steps = append(p.Steps, page)
	return p
}
