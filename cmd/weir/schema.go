package main

import (
	"github.com/spf13/cobra"

	"weir/pipeline/spec"
)

func schemaCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema [pipeline|domain]",
		Short: "Print the JSON Schema of specs or of domains, for editors",
		Long: `Print the JSON Schema of specs (the default) or of domains. Editors that speak
YAML use it to complete and check: put a line such as

  # yaml-language-server: $schema=pipeline.schema.json

at the top of a spec.

Exit codes: 0 done; 2 usage.`,
		Example:   "  weir schema > pipeline.schema.json\n  weir schema domain > domain.schema.json",
		ValidArgs: []string{"pipeline", "domain"},
		Args:      optional("pipeline or domain"),
		RunE: func(c *cobra.Command, args []string) error {
			what := "pipeline"
			if len(args) == 1 {
				what = args[0]
			}
			reg, err := registry()
			if err != nil {
				return err
			}
			text, err := spec.Published(what, reg)
			if err != nil {
				return usage(c, err)
			}
			_, err = s.out.Write(text)
			return err
		},
	}
	return c
}
