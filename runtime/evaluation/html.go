package evaluation

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
func pageKind(reg *pipeline.Registry) (*pipeline.Kind, error) {
	for _, name := range reg.Names() {
		k := reg.Kind(name)
		in := k.InByKey("metrics")
		if in != nil && in.Many && k.InByKey("real") != nil && k.InByKey("synthetic") != nil &&
			k.Out[0].Form == pipeline.FormFiles {
			return k, nil
		}
	}
	return nil, errors.New("--html: this weir has no kind that draws a page of figures")
}

// WritePage draws the report of the comparison into the file Page, for its owner alone (mode 0600).
func (e *Evaluation) WritePage(ctx context.Context) error {
	kind, err := pageKind(e.Registry)
	if err != nil {
		return err
	}
	headers, in := drawnTables(e.opened)
	for i, g := range e.groups {
		port := pipeline.Indexed("metrics", i)
		headers[port], in[port] = g.table.Header, g.table
	}
	work, err := e.planPage(kind, headers)
	if err != nil {
		return err
	}
	env := runtime.LocalEnv(kind.Name, e.Seed, e.Workers, e.Log, e.Progress)
	env.Plan = e.comparison(kind)
	e.Progress.Start(kind.Name, kind.Name)
	out, err := runtime.Safely(func() (pipeline.Tables, error) { return work.Run(ctx, env, in) })
	e.Progress.End(kind.Name, false, err)
	if err != nil {
		return err
	}
	parts, err := pipeline.ReadFiles(ctx, out[kind.Out[0].Name])
	if err != nil {
		return err
	}
	for _, part := range parts {
		if strings.HasSuffix(part.Name, ".html") {
			return disk.Disk{}.WriteBytes(e.Page, 0o600, part.Data)
		}
	}
	return fmt.Errorf("--html: the kind %s made no page", kind.Name)
}

// drawnTables returns the tables that a page draws.
func drawnTables(tables pipeline.Tables) (pipeline.Headers, pipeline.Tables) {
	headers, in := pipeline.Headers{}, pipeline.Tables{}
	for _, port := range []string{"real", "synthetic", "real_train"} {
		if t, there := tables[port]; there {
			headers[port], in[port] = t.Header, t
		}
	}
	return headers, in
}

// CheckPage refuses, before anything is computed, a page that no kind draws and columns of By that cannot group it.
func (e *Evaluation) CheckPage() error {
	if e.Page == "" {
		return nil
	}
	kind, err := pageKind(e.Registry)
	if err != nil {
		return err
	}
	headers, _ := drawnTables(e.opened)
	if _, err = e.planPage(kind, headers); err != nil {
		return fmt.Errorf("--by: %w", err)
	}
	return nil
}

// planPage plans the page. A target that it cannot draw curves of, such as one of three categories, is left out: what
// learners make of it is in the figures.
func (e *Evaluation) planPage(kind *pipeline.Kind, headers pipeline.Headers) (work pipeline.Work, err error) {
	for _, settings := range []map[string]any{e.settings(), {}} {
		if len(e.By) > 0 {
			settings["groups"] = e.By
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

// comparison returns the plan of comparing files: its groups of figures, and the page that reads them.
func (e *Evaluation) comparison(kind *pipeline.Kind) *pipeline.Plan {
	page := &pipeline.Step{ID: kind.Name, Kind: kind.Name, Inputs: map[string][]pipeline.Ref{
		"real": {{Stage: filepath.Base(e.Real)}}, "synthetic": {{Stage: filepath.Base(e.Synthetic)}}}}
	if e.Train != "" {
		page.Inputs["real_train"] = []pipeline.Ref{{Stage: filepath.Base(e.Train)}}
	}
	p := &pipeline.Plan{Name: filepath.Base(e.Synthetic)}
	p.Compared = &pipeline.Comparison{LeftOut: capitalised(e.left)}
	for _, g := range e.groups {
		inputs := map[string][]pipeline.Ref{"real": page.Inputs["real"], "synthetic": page.Inputs["synthetic"]}
		step := &pipeline.Step{ID: g.name, Kind: g.name, Figures: g.declared, Inputs: inputs, Settings: g.settings}
		p.Steps = append(p.Steps, step)
		page.Inputs["metrics"] = append(page.Inputs["metrics"], pipeline.Ref{Stage: g.name})
	}
	p.Steps = append(p.Steps, page)
	return p
}
