package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/domain"
	"weir/runtime"
	"weir/runtime/store"
	"weir/runtime/table"
	"weir/schema"
	"weir/stages/model/artifact"
	"weir/stages/model/sample"
)

// sampleFlags are the flags of `weir sample`.
type sampleFlags struct {
	rows   int64
	copies int
	step   int
	seed   uint64
	out    string
	delim  string
	argmax bool
	where  []string
	tries  int
	place  runPlace

	conditions map[string]domain.Choice // of where
	force      bool
}

func sampleCommand(s streams) *cobra.Command {
	var f sampleFlags
	c := &cobra.Command{
		Use:   "sample MODEL|RUN",
		Short: "Draw more rows from a released model, at no charge",
		Long: `Draw rows from a model that a run released. Drawing is post-processing of a paid
release: any number of rows is free. MODEL is the file, or the run that released it, if it
released one model alone.

` + namesRun + `

With --copies M there are M tables of --rows rows, one below the other, their number
in a column copy. Each is drawn from the model fitted again to its own counts with
fresh public noise, so that what differs between copies carries the noise of the
release; as the setting copies of the kind sample. Models of marginals only.

With --where COLUMN=VALUES there are --rows rows that have one of these values, by
rejection; more of them are conditions that all hold. Values are separated by commas and
spelled as in rules of the domain: a category, a number, a range such as 18..30, or
missing; one with a comma or a quote is quoted as in a CSV file. A condition that fewer
rows meet than one in --max-tries is an error.

Text is written as the run wrote its own tables, where MODEL lies in the release of one;
a model by itself does not know how its source was written.

With --step T rows are those of the model after step T of its training, where
release_every kept it.

Exit codes: 0 done; 1 the model cannot be read, or meets the conditions too seldom; 2 usage.`,
		Example: "  weir sample runs/cardio-quickstart/ID/release/train.model --rows 1000 --out more.csv\n  weir sample " +
			"MODEL --rows 1000000 --out more.parquet\n  weir sample MODEL --rows 5000 --copies 20 --out copies.csv\n  weir " +
			"sample MODEL --rows 500 --where region=north,south --where age=65..\n  weir sample latest --rows 1000 --out " +
			"more.csv",
		Args: exactly(1, "MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			model, err := f.place.model(args[0])
			if err != nil {
				return err
			}
			return f.run(c, s, model)
		},
	}
	f.place.add(c, "runs")
	c.Flags().Int64Var(&f.rows, "rows", 1000, "rows to draw")
	c.Flags().IntVar(&f.copies, "copies", 0, "tables to draw, 2 to 1000, each with fresh public noise (default: one, "+
		"without)")
	c.Flags().StringArrayVar(&f.where, "where", nil, "COLUMN=VALUE,...: only rows with one of these values (any number "+
		"of times)")
	c.Flags().IntVar(&f.tries, "max-tries", 0, "with --where: rows drawn at most for each that is wanted (default 1000)")
	c.Flags().IntVar(&f.step, "step", 0, "step of the training to draw from, one that the model holds (default: the last)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "public seed of the draw")
	c.Flags().StringVar(&f.out, "out", "-", "file to write, "+table.Endings()+"; - is CSV on stdout")
	c.Flags().StringVar(&f.delim, "delimiter", "", "character between the values of text (default: that of the run's "+
		"own tables, else a comma; of .tsv a tab)")
	c.Flags().BoolVar(&f.force, "force", false, "overwrite the file of --out")
	c.Flags().BoolVar(&f.argmax, "argmax", false, "take the most probable category instead of drawing one")
	return c
}

// The most that the kind sample takes.
const (
	mostCopies = 1000
	mostTries  = 1_000_000
)

func (f *sampleFlags) run(c *cobra.Command, s streams, path string) error {
	if f.rows < 0 {
		return usage(c, fmt.Errorf("--rows: is %d, must be at least 0", f.rows))
	}
	if c.Flags().Changed("copies") && (f.copies < 2 || f.copies > mostCopies) {
		return usage(c, fmt.Errorf("--copies: is %d, must be 2 to %d; without it one table is drawn", f.copies, mostCopies))
	}
	tried := c.Flags().Changed("max-tries")
	if tried && (f.tries < 1 || f.tries > mostTries) {
		return usage(c, fmt.Errorf("--max-tries: is %d, must be 1 to %d; without it 1000", f.tries, mostTries))
	}
	if tried && len(f.where) == 0 {
		return usage(c, errors.New("--max-tries: is given without --where, must be absent: every row that is drawn is kept"))
	}
	if len(f.delim) > 1 || strings.ContainsAny(f.delim, "\"\r\n\x00") || f.delim >= "\x80" {
		return usage(c, fmt.Errorf("--delimiter: is %q, must be one ASCII character other than the quote", f.delim))
	}
	style, err := f.style(path)
	if err != nil {
		return err
	}
	if f.conditions, err = conditions(f.where); err != nil {
		return usage(c, err)
	}
	if c.Flags().Changed("step") && f.step < 1 {
		return usage(c, fmt.Errorf("--step: is %d, must be at least 1", f.step))
	}
	if f.out != "-" {
		if err := runtime.Replaceable(f.out, f.force); err != nil {
			return withCode(exitUsage, err)
		}
	}
	t, err := f.draw(c.Context(), path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if f.out == "-" {
		if err := table.WriteText(c.Context(), s.out, t, style); err != nil {
			return fmt.Errorf("%s: %w", path, rareByFlag(err))
		}
		return nil
	}
	return rareByFlag(runtime.WriteTable(c.Context(), f.out, t, style))
}

// rareByFlag names the flags where conditions are met too seldom.
func rareByFlag(err error) error {
	if rare := (*sample.RareError)(nil); errors.As(err, &rare) {
		return errors.New(rare.Of("--where", "--max-tries"))
	}
	return err
}

// byFlag names the flag that sets what a problem is about.
func byFlag(err error) error {
	problems := schema.Problems(nil)
	if !errors.As(err, &problems) {
		return err
	}
	problems = slices.Clone(problems)
	for i, p := range problems {
		setting, rest, _ := strings.Cut(p.Path, ".")
		problems[i].Path = strings.TrimSpace("--" + strings.ReplaceAll(setting, "_", "-") + " " + rest)
	}
	return withCode(exitUsage, problems)
}

// style returns how text is written: as the run of the model wrote its tables, where the model lies in the release of
// one.
func (f *sampleFlags) style(path string) (table.Style, error) {
	style := table.Style{CSV: &pipeline.CSV{}}
	if dir := store.Releasing(path); dir != "" {
		run, err := store.ReadRecord(dir)
		if err != nil {
			return style, err
		}
		if style, err = runtime.StyleOf(run); err != nil {
			return style, fmt.Errorf("%s: %w", path, err)
		}
	}
	if f.delim != "" || table.Tabbed(f.out) {
		style.CSV.Delimiter = f.delim
	}
	return style, nil
}

func (f *sampleFlags) draw(ctx context.Context, path string) (pipeline.Table, error) {
	files, err := modelFiles(path)
	if err != nil {
		return pipeline.Table{}, err
	}
	reg, err := registry()
	if err != nil {
		return pipeline.Table{}, err
	}
	h := pipeline.Header{Form: pipeline.FormModel, Class: pipeline.Released}
	g, err := artifact.Read[artifact.Model](ctx, pipeline.WriteFiles(h, files), reg.Readers())
	if err != nil {
		return pipeline.Table{}, err
	}
	stage := sample.Stage{Categorical: "sample", Copies: f.copies, Where: f.conditions, MaxTries: f.tries, Step: f.step}
	if f.argmax {
		stage.Categorical = "argmax"
	}
	random := func(purpose string) *rand.Rand { return runtime.PublicRand(f.seed, "sample", purpose) }
	env := &pipeline.Env{Rand: random, Progress: func(_, _ int64) {}, Workers: 1}
	t, err := stage.DrawAll(g, f.rows, pipeline.Released, env)
	return t, byFlag(err)
}

// modelFiles reads the archive of a model. A table is named for what it is.
func modelFiles(path string) ([]pipeline.File, error) {
	files, err := store.ReadArchive(path)
	if other := (*store.NoArchiveError)(nil); errors.As(err, &other) {
		if told := table.FormatName(other.Head); told != "" && !table.IsIPC(other.Head) {
			err = fmt.Errorf("is a table in %s, must be a released model", told)
		}
	}
	return files, err
}

// conditions reads COLUMN=VALUE,... as it stands on a command line. A value with a comma is
// quoted as in a CSV file.
func conditions(list []string) (map[string]domain.Choice, error) {
	where := map[string]domain.Choice{}
	for _, text := range list {
		name, values, ok := strings.Cut(text, "=")
		if !ok || name == "" || values == "" {
			return nil, fmt.Errorf("--where: is %q, must be COLUMN=VALUE,... such as region=north,south or age=18..30", text)
		}
		if _, twice := where[name]; twice {
			return nil, fmt.Errorf("--where: is given twice for the column %s, must be given once with all its values", name)
		}
		fields, err := csv.NewReader(strings.NewReader(values)).Read()
		if err != nil {
			return nil, fmt.Errorf("--where: is %q, must have a quote before and after a value with a comma or a quote, "+
				"and each quote in it twice, as in a CSV file",
				text)
		}
		where[name] = fields
	}
	return where, nil
}
