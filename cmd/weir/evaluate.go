package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	goruntime "runtime"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/runtime"
	"weir/schema"
)

// evaluateFlags are those of `weir evaluate`.
type evaluateFlags struct {
	real, synthetic, train string
	baseline               string
	domain, metrics        string
	target                 string
	delimiter, encoding    string
	sheet, area            string
	missing                []string
	seed                   uint64
	workers                int
	html                   string
	by                     []string
	all, asJSON            bool
}

// evaluation is what `weir evaluate --json` prints.
type evaluation struct {
	Metrics map[string]float64 `json:"metrics"`
	Notes   []string           `json:"notes"`

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

const evaluateLong = `Compare a synthetic table with a real one; neither file has to come from weir. Every
figure is private, because it was computed from real rows.

--metrics names groups (weir kinds lists them): all, or a list such as
marginals,associations. Groups that need a target are left out, with a note,
unless --target names it.

Shown are the figures of whole tables, with intervals of 95 % over the real rows where
they are scores, and of each group the columns or pairs that are worst; --all shows
everything, --json gives everything (NAME_low and NAME_high are an interval's ends).

Each text file may have a delimiter of its own: the one that its header shows. A column that
a file lacks is left out, and said so. --html writes what the report of a run shows, with
verdicts and plots, for any two files; --by region,sex has it compare the rows of each
region and sex, too.

Real rows that are spelled as in their spec need its dialect: what dataset.csv says is
--delimiter, --encoding and --missing here; a released table has the delimiter of its source.
--real and --real-train also take a YAML file whose dataset says where the table is, such as
the spec itself: that of a database, or a file with its dialect.

Exit codes: 0 done; 1 a file cannot be read; 2 usage.`

func evaluateCommand(s streams) *cobra.Command {
	var f evaluateFlags
	c := &cobra.Command{
		Use:     "evaluate --real FILE --synthetic FILE --domain FILE",
		Short:   "Compare a synthetic table with a real one",
		Long:    evaluateLong,
		Example: "  weir evaluate --real test.csv --synthetic sample.csv --domain domain.yaml --metrics all --json\n  weir evaluate --real patients.csv --synthetic RUN/release/sample.csv --domain RUN/release/domain.yaml\n  weir evaluate --real a.parquet --synthetic b.parquet --domain d.yaml --metrics marginals,downstream --target income\n  weir evaluate --real a.csv --synthetic b.csv --domain d.yaml --html comparison.html",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return f.run(c, s) },
	}
	flags := c.Flags()
	flags.StringVar(&f.real, "real", "", "table of real rows, preferably rows that no model saw")
	flags.StringVar(&f.synthetic, "synthetic", "", "table of synthetic rows")
	flags.StringVar(&f.train, "real-train", "", "table of the real rows that the model saw: what real rows reach, and disclosure")
	flags.StringVar(&f.baseline, "baseline", "", "table of independent columns at the same epsilon, to be better than")
	flags.StringVar(&f.domain, "domain", "", "what is publicly known about the columns; draft it with weir domain infer")
	flags.StringVar(&f.metrics, "metrics", "all", "groups of metrics, separated by commas")
	flags.StringVar(&f.target, "target", "", "column that learners predict")
	flags.StringVar(&f.delimiter, "delimiter", "", "delimiter of text files")
	flags.StringVar(&f.encoding, "encoding", "", "encoding of text files of real rows: latin-1, windows-1252, utf-16 or utf-8 (the default); synthetic ones are utf-8")
	flags.StringVar(&f.sheet, "sheet", "", "sheet of workbooks of real rows, where there are several")
	flags.StringVar(&f.area, "range", "", "first and last cell of real rows in a sheet, such as B3:F40 (default: the whole sheet)")
	flags.StringSliceVar(&f.missing, "missing", nil, "values that mean missing in text files")
	flags.Uint64Var(&f.seed, "seed", 1, "public seed of learners and workloads")
	flags.IntVar(&f.workers, "workers", goruntime.GOMAXPROCS(0), "number of goroutines; results do not depend on it")
	flags.StringVar(&f.html, "html", "", "write the report of the comparison, one private page, to this file")
	flags.StringSliceVar(&f.by, "by", nil, "columns of few categories, such as region: the page of --html compares the rows of each")
	flags.BoolVar(&f.all, "all", false, "show every figure")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON object on stdout; progress goes to stderr")
	return c
}

// named lists the files that must be named and are not.
func (f *evaluateFlags) named() error {
	var errs []error
	for _, flag := range [][2]string{{"--real", f.real}, {"--synthetic", f.synthetic}, {"--domain", f.domain}} {
		if flag[1] == "" {
			errs = append(errs, fmt.Errorf("%s: is missing, must name a file", flag[0]))
		}
	}
	return errors.Join(errs...)
}

func (f *evaluateFlags) run(c *cobra.Command, s streams) error {
	if err := f.named(); err != nil {
		return usage(c, err)
	}
	if err := pageFits(f.html); err != nil {
		return err
	}
	if len(f.by) > 0 && f.html == "" {
		return usage(c, errors.New("--by: is given without --html, whose page it is for"))
	}
	kinds, err := f.groups(c)
	if err != nil {
		return err
	}
	result := evaluation{Metrics: map[string]float64{}, Notes: []string{}}
	defer result.close()
	tables, err := f.tables(c.Context(), &result)
	if err != nil {
		return err
	}
	if err := f.judgePage(tables); err != nil {
		return usage(c, err)
	}
	progress := newProgress(s.err, f.asJSON)
	for _, k := range kinds {
		if err := f.group(c.Context(), s, k, tables, progress, &result); err != nil {
			return err
		}
	}
	if f.html != "" {
		if err := f.writePage(c.Context(), s, tables, progress, &result); err != nil {
			return err
		}
	}
	progress.Wait()
	if f.asJSON {
		return printJSON(s.out, result)
	}
	if err := printEvaluation(s.out, result, f.all); err != nil || f.html == "" {
		return err
	}
	_, err = fmt.Fprintf(plainly(s.out), "report (private): %s\n", f.html)
	return err
}

// groups are the kinds that compare real with synthetic rows.
func (f *evaluateFlags) groups(c *cobra.Command) ([]*pipeline.Kind, error) {
	reg, err := registry()
	if err != nil {
		return nil, err
	}
	var all []string
	for _, name := range reg.Names() {
		if k := reg.Kind(name); k.InByKey("real") != nil && k.InByKey("synthetic") != nil && k.Out[0].Form == pipeline.FormMetrics {
			all = append(all, name)
		}
	}
	wanted := all
	if f.metrics != "all" {
		wanted = strings.Split(f.metrics, ",")
	}
	var kinds []*pipeline.Kind
	for _, name := range wanted {
		if i := sort.SearchStrings(all, name); i == len(all) || all[i] != name {
			return nil, usage(c, fmt.Errorf("--metrics: unknown group %q, must be all or some of %s", name, strings.Join(all, ",")))
		}
		kinds = append(kinds, reg.Kind(name))
	}
	return kinds, nil
}

// group runs one kind over the tables that it has ports for.
func (f *evaluateFlags) group(ctx context.Context, s streams, k *pipeline.Kind, tables pipeline.Tables, progress progress, result *evaluation) error {
	stage, err := spec.Configure(k, f.settings())
	if err != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("%s: not computed: %v", k.Name, lacking(err)))
		return nil
	}
	headers, in := pipeline.Headers{}, pipeline.Tables{}
	for _, p := range k.In {
		t, ok := tables[p.Name]
		switch {
		case ok:
			headers[p.Name], in[p.Name] = t.Header, t
		case !p.Optional:
			result.Notes = append(result.Notes, fmt.Sprintf("%s: not computed: needs --%s", k.Name, strings.ReplaceAll(p.Name, "_", "-")))
			return nil
		}
	}
	work, err := stage.Plan(headers)
	if err != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("%s: not computed: %s", k.Name, strings.ReplaceAll(err.Error(), "\n", "; ")))
		return nil
	}
	progress.Start(k.Name, k.Name)
	out, err := runtime.Safely(func() (pipeline.Tables, error) {
		return work.Run(ctx, runtime.LocalEnv(k.Name, f.seed, f.workers, newLog(s.err, false), progress), in)
	})
	progress.End(k.Name, false, err)
	if err != nil && ctx.Err() == nil {
		result.Notes = append(result.Notes, fmt.Sprintf("%s: not computed: %v", k.Name, err))
		return nil
	}
	if err != nil {
		return err
	}
	metrics, err := pipeline.ReadMetrics(ctx, out[k.Out[0].Name])
	if err != nil {
		return err
	}
	settings, err := json.Marshal(stage)
	if err != nil {
		return err
	}
	result.add(k, metrics, out[k.Out[0].Name], settings)
	return nil
}

// settings are those that the command line gives a kind.
func (f *evaluateFlags) settings() map[string]any {
	if f.target == "" {
		return map[string]any{}
	}
	return map[string]any{"target": f.target}
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

// close closes the tables.
func (e *evaluation) close() {
	for _, t := range e.tables {
		t.Close()
	}
}

func (e *evaluation) add(k *pipeline.Kind, metrics []pipeline.Metric, t pipeline.Table, settings json.RawMessage) {
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
