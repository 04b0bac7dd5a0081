// Package evaluation compares two tables, neither of which has to come from a run: what weir evaluate does.
package evaluation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sort"
	"strings"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime"
	"weir/schema"
)

// Request says which tables are compared, and how. Its fields are flags of weir evaluate.
type Request struct {
	Real, Synthetic, Train string // arguments that name tables; Train may be ""
	Baseline               string // "" for none
	Domain                 string // file of what is publicly known of the columns
	Target                 string // that learners predict; "" for none
	Delimiter, Encoding    string
	Sheet, Range           string
	Missing                []string
	Seed                   uint64   // of learners and workloads
	Workers                int      // goroutines; results do not depend on it
	Page                   string   // file of the report; "" for none
	By                     []string // columns whose categories the report compares one by one

	Registry *pipeline.Registry
	Log      *slog.Logger
	Progress runtime.Reporter
}

// Evaluation is what a comparison found; its JSON is what weir evaluate prints.
type Evaluation struct {
	Request `json:"-"`

	Metrics map[string]float64 `json:"metrics"`
	Notes   []string           `json:"notes"`

	opened pipeline.Tables
	tables []compared
	groups []evaluated
	left   []string // columns that a file lacks, in words
}

// evaluated is the figures of one group, in its order.
type evaluated struct {
	name     string
	declared pipeline.Figures
	metrics  []pipeline.Metric
	table    pipeline.Table                // of the metrics
	settings json.RawMessage               // of the stage
	index    map[[2]string]pipeline.Metric // by name and part
}

// Groups returns the kinds that compare real with synthetic rows, of those that names lists (all, or separated by
// commas).
func Groups(reg *pipeline.Registry, names string) ([]*pipeline.Kind, error) {
	var all []string
	for _, name := range reg.Names() {
		if k := reg.Kind(name); k.InByKey("real") != nil && k.InByKey("synthetic") != nil &&
			k.Out[0].Form == pipeline.FormMetrics {
			all = append(all, name)
		}
	}
	wanted := all
	if names != "all" {
		wanted = strings.Split(names, ",")
	}
	var kinds []*pipeline.Kind
	for _, name := range wanted {
		if i := sort.SearchStrings(all, name); i == len(all) || all[i] != name {
			return nil, fmt.Errorf("--metrics: unknown group %q, must be all or some of %s", name, strings.Join(all, ","))
		}
		kinds = append(kinds, reg.Kind(name))
	}
	return kinds, nil
}

// Group runs one kind over the tables that it has ports for. What cannot be computed is a note.
func (e *Evaluation) Group(ctx context.Context, k *pipeline.Kind) error {
	stage, err := spec.Configure(k, e.settings())
	if err != nil {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: not computed: %v", k.Name, lacking(err)))
		return nil
	}
	headers, in := pipeline.Headers{}, pipeline.Tables{}
	for _, p := range k.In {
		t, ok := e.opened[p.Name]
		switch {
		case ok:
			headers[p.Name], in[p.Name] = t.Header, t
		case !p.Optional:
			e.Notes = append(e.Notes, fmt.Sprintf("%s: not computed: needs %s", k.Name, absent(p.Name)))
			return nil
		}
	}
	work, err := stage.Plan(headers)
	if err != nil {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: not computed: %s", k.Name, strings.ReplaceAll(err.Error(), "\n", "; ")))
		return nil
	}
	e.Progress.Start(k.Name, k.Name)
	out, err := runtime.Safely(func() (pipeline.Tables, error) {
		return work.Run(ctx, runtime.LocalEnv(k.Name, e.Seed, e.Workers, e.Log, e.Progress), in)
	})
	e.Progress.End(k.Name, false, err)
	if err != nil && ctx.Err() == nil {
		e.Notes = append(e.Notes, fmt.Sprintf("%s: not computed: %v", k.Name, err))
		return nil
	}
	if err != nil {
		return err
	}
	metrics, err := pipeline.ReadMetrics(ctx, out[k.Out[0].Name])
	if err != nil {
		return err
	}
	settings, err := schema.JSON(stage)
	if err != nil {
		return err
	}
	e.add(k, metrics, out[k.Out[0].Name], settings)
	return nil
}

// settings returns those that the command line gives a kind.
func (e *Evaluation) settings() map[string]any {
	if e.Target == "" {
		return map[string]any{}
	}
	return map[string]any{"target": e.Target}
}

// absent names a table that is not there: by its flag, or as one that a spec alone can connect.
func absent(port string) string {
	switch port {
	case "real", "synthetic", "real_train", "baseline":
		return "--" + strings.ReplaceAll(port, "_", "-")
	}
	return port + ", which only the stage of a spec can read"
}

// lacking returns which settings a kind cannot do without, where err is about nothing else: only the target has a flag.
func lacking(err error) error {
	var problems schema.Problems
	if !errors.As(err, &problems) {
		return err
	}
	var flags, settings []string
	for _, p := range problems {
		switch {
		case p.Found != "missing":
			return err
		case p.Path == "target":
			flags = append(flags, "needs --target")
		default:
			settings = append(settings, p.Path)
		}
	}
	if len(settings) > 0 {
		flags = append(flags, "needs "+strings.Join(settings, ", ")+", which only the stage of a spec can set")
	}
	return errors.New(strings.Join(flags, "; "))
}

// Close closes the tables.
func (e *Evaluation) Close() {
	for _, t := range e.tables {
		t.Close()
	}
}

func (e *Evaluation) add(k *pipeline.Kind, metrics []pipeline.Metric, t pipeline.Table, settings json.RawMessage) {
	e.groups = append(e.groups, evaluated{k.Name, k.Figures, metrics, t, settings, indexed(metrics)})
	for _, m := range metrics {
		key := k.Name + "." + m.Key()
		if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
			e.Metrics[key] = m.Value
		}
		if m.Note != "" {
			e.Notes = append(e.Notes, noteOf(key, m))
		}
	}
}
