package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/spec"
)

func explainCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "explain RULE",
		Short:   "Explain an audit rule: what goes wrong, what to do instead, what holds it",
		Long:    "Explain an audit rule: what goes wrong, what to do instead, what holds it.\n\nExit codes: 0 done; 2 usage, or no such rule.",
		Example: "  weir explain W03\n  weir explain W03 --json",
		Args:    exactly(1, "RULE"),
		RunE:    func(c *cobra.Command, args []string) error { return explainRule(c, s.out, args[0], asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// explainRule prints one entry of the audit rules.
func explainRule(c *cobra.Command, w io.Writer, id string, asJSON bool) error {
	r, err := spec.FindRule(strings.ToUpper(id))
	if err != nil {
		return usage(c, err)
	}
	if asJSON {
		return printJSON(w, r)
	}
	_, err = fmt.Fprintf(w, "%s (%s)\n\nfinding    %s\ninstead    %s\nheld       %s\n", r.ID, r.Level, r.Finding, r.Instead, r.Held)
	if err == nil && len(r.Tests) > 0 {
		_, err = fmt.Fprintf(w, "tests      %s\n", strings.Join(r.Tests, ", "))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "reference  %s\n", r.Reference)
	}
	return err
}
