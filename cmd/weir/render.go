package main

import (
	"github.com/spf13/cobra"
)

func renderCommand(s streams) *cobra.Command {
	var flags specFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "render SPEC",
		Short: "Print the spec with every default filled in",
		Long: `Print the canonical form of a spec: every default filled in, the domain in line,
comments gone. Its SHA-256 is the digest of the spec.

` + specHelp + `

Exit codes: 0 done; 2 bad spec or usage.`,
		Example: "  weir render examples/cardio/quickstart.yaml\n  weir render spec.yaml --set seed=3 --json",
		Args:    exactly(1, "SPEC"),
		RunE: func(_ *cobra.Command, args []string) error {
			spec, err := flags.load(args[0])
			if err != nil {
				return err
			}
			text, err := spec.Canonical()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, map[string]string{"digest": spec.Digest, "spec": string(text)})
			}
			_, err = s.out.Write(text)
			return err
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object: digest and spec")
	return c
}
