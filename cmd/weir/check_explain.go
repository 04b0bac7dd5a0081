package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/audit"
)

// explainRule prints one entry of the audit rules.
func explainRule(c *cobra.Command, w io.Writer, id string) error {
	r, err := audit.Find(strings.ToUpper(id))
	if err != nil {
		return usage(c, err)
	}
	_, err = fmt.Fprintf(w, "%s (%s)\n\nfinding    %s\ninstead    %s\nreference  %s\n", r.ID, r.Level, r.Finding, r.Instead, r.Reference)
	return err
}
