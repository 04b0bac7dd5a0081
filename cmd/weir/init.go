package main

import (
	"context"
	"embed"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed template/*
var templates embed.FS

func initCommand(s streams) *cobra.Command {
	var flags initFlags
	c := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Write a spec to start from, for a domain or with one",
		Long: `Write pipeline.yaml, domain.yaml and .gitignore into DIR (the current folder by
default). They run as they are, on data from a built-in generator; comments
say what to change for your own data.

With --from, write pipeline.yaml for a domain that there is: columns that cannot
be measured are left out, each with the reason, and the rest goes to the model
that fits it (kind: auto). Of the table that --data names only the first lines
are read, for its delimiter and header.

Nothing that exists is overwritten.

Exit codes: 0 done; 2 usage, a bad domain, or a file exists.`,
		Example: "  weir init study\n  weir init --from domain.yaml --data patients.csv --target outcome\n  weir init --from domain.yaml --data visits.csv --unit patient_id --max-rows 5",
		Args:    optional("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			write := writeDemo
			if flags.given() {
				write = flags.write
			}
			paths, err := write(c.Context(), dir)
			if err != nil {
				return withCode(exitUsage, err)
			}
			_, err = fmt.Fprintf(s.out, "wrote %s\nnext: weir plan %[2]s, then weir run %[2]s\n", strings.Join(paths, ", "), paths[0])
			return err
		},
	}
	c.Flags().StringVar(&flags.from, "from", "", "write a spec for this domain")
	c.Flags().StringVar(&flags.data, "data", "", "the table that the domain is of")
	c.Flags().StringVar(&flags.target, "target", "", "the column that the synthetic rows will be used to predict")
	c.Flags().StringVar(&flags.unit, "unit", "", "the column that names whose a row is, where a person may have several")
	c.Flags().Int64Var(&flags.maxRows, "max-rows", 0, "the most rows of one unit that are kept")
	c.Flags().Float64Var(&flags.epsilon, "epsilon", defaultEpsilon, "what one run may spend")
	encodingFlag(c, &flags.encoding)
	c.Flags().Int64Var(&flags.rows, "rows-public", 0, "the number of rows, where it is publicly known")
	return c
}

// writeDemo writes a study of demo data.
func writeDemo(_ context.Context, dir string) ([]string, error) {
	var list []written
	for _, f := range [][2]string{{"pipeline.yaml", "pipeline.yaml"}, {"domain.yaml", "domain.yaml"}, {"gitignore", ".gitignore"}} {
		data, err := templates.ReadFile("template/" + f[0])
		if err != nil {
			return nil, err
		}
		list = append(list, written{filepath.Join(dir, f[1]), data})
	}
	return writeAll(dir, list)
}
