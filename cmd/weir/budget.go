package main

import (
	"errors"

	"github.com/spf13/cobra"
)

func budgetCommand(s streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "budget",
		Short:   "Hold planned spending against the committed budget of a dataset",
		Long:    "dataset.budget caps everything that is ever spent on a dataset. It is a line of the spec, so\nwhoever edits the spec can raise it; weir budget check is for the CI that sees the edit.",
		Example: "  weir budget check --against origin/main",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return usage(c, errors.New("command: is missing, must be check"))
		},
	}
	c.AddCommand(budgetCheck(s))
	return c
}
