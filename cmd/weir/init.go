package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
	"weir/runtime/infer"
)

// oneFolder takes one argument at most, and says what a shell has done where a name of several words made more.
func oneFolder(c *cobra.Command, args []string) error {
	if len(args) > 1 && (c.Flags().Changed("unit") || c.Flags().Changed("target")) {
		return usage(c, fmt.Errorf("%s: is given %s, must be given 1 DIR at most; a name of several words is put in quotes: "+
			"--unit 'Person ID'", c.CommandPath(), words.Plural(len(args), "argument")))
	}
	return optional("DIR")(c, args)
}

func initCommand(s streams) *cobra.Command {
	var wish infer.Wish
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a spec to start from, for a domain or with one",
		Long: `Write pipeline.yaml, domain.yaml, .gitignore and the editor's JSON Schemas into DIR
(the current folder by default). They run as they are, on data from a built-in
generator; comments say what to change for your own data.

With --from, write pipeline.yaml for a domain that there is: columns that cannot
be measured are left out, each with the reason, and the rest goes to the model
that fits it (kind: auto), or to the kind that --model names. Of the table that
--data names only the first lines are read, for its delimiter and header; a YAML
file whose dataset says where the table is, such as {database: {engine: ...}},
stands for that table. A
.gitignore that keeps keys, private pages and the table from git is written in DIR
and in the table's folder, where none is.

--template survey is for persons who answered once, by a published number
(--rows-public); registry for persons whose number is private, with attacks on
single rows in the report; claims for several rows of a person (--unit).

Nothing that exists is overwritten.

Exit codes: 0 done; 2 usage, a bad domain, or a file exists.`,
		Example: "  weir init study\n  weir init --from domain.yaml --data patients.csv --target outcome\n  weir init " +
			"--from domain.yaml --data visits.csv --unit patient_id --max-rows 5\n  weir init --from domain.yaml --data " +
			"answers.csv --template survey --rows-public 2400 --model mst",
		Args: oneFolder,
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			if c.Flags().Changed("rows-public") && wish.Rows < 1 {
				return usage(c, fmt.Errorf("--rows-public: is %d, must be a number of rows that is publicly known, at least 1; "+
					"without it their number is private", wish.Rows))
			}
			reg, err := registry()
			if err != nil {
				return err
			}
			var paths, notes []string
			if wish.Given() {
				paths, notes, err = infer.Begin(c.Context(), dir, wish, reg)
			} else {
				paths, err = infer.Demo(dir, reg)
			}
			if err != nil {
				return withCode(exitUsage, err)
			}
			for _, note := range notes {
				fmt.Fprintf(s.err, "%s %s\n", paint(s.err, bold, "note:"), note)
			}
			_, err = fmt.Fprintf(s.out, "wrote %s\nnext: weir plan %[2]s, then weir run %[2]s\n", strings.Join(paths, ", "),
				paths[0])
			return err
		},
	}
	c.Flags().StringVar(&wish.From, "from", "", "write a spec for this domain")
	c.Flags().StringVar(&wish.Data, "data", "", "the table that the domain is of: a file, or a YAML file that says "+
		"where it is")
	c.Flags().StringVar(&wish.Target, "target", "", "the column that the synthetic rows will be used to predict")
	c.Flags().StringVar(&wish.Unit, "unit", "", "the column that names whose a row is, where a person may have several")
	c.Flags().Int64Var(&wish.MaxRows, "max-rows", 0, "the most rows of one unit that are kept")
	c.Flags().Float64Var(&wish.Epsilon, "epsilon", infer.DefaultEpsilon, "what one run may spend")
	c.Flags().StringVar(&wish.Model, "model", "", "the kind of stage that learns the model, of weir kinds (default: auto)")
	c.Flags().StringVar(&wish.Template, "template", "", "what the table is of: survey, registry or claims")
	completeFlag(c, "model", completeKind)
	completeFlag(c, "template", oneOf("survey", "registry", "claims"))
	fileFlags(c, &wish.Encoding, &wish.Sheet, &wish.Range)
	c.Flags().Int64Var(&wish.Rows, "rows-public", 0, "the number of rows, where it is publicly known")
	return c
}
