package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"weir/pipeline/words"
)

// streams are the command's standard streams; tests give their own.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool          // a person reads err and types in
	build    func() string // tells builds of the program apart; a test reads its 80 MB once
}

const rootLong = `weir runs declarative pipelines that release differentially private synthetic tables.

A YAML spec says how a private table is cleaned, which private model learns it,
how the budget is split and how the result is judged. weir checks the spec,
prints the privacy bill before it opens the data, runs the plan and leaves a
record that can be audited and replayed.

Exit codes: 0 done; 1 a stage failed; 2 bad spec or usage; 3 privacy refused or
over budget; 4 verification mismatch, or a difference; 130 interrupted.`

// execute runs the command line and returns its exit code.
func execute(ctx context.Context, s streams, args []string) int {
	root := newRoot(s)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	if _, _, unknown := root.Find(args); unknown != nil {
		err = usage(root, unknown)
	}
	err = interrupted(err)
	printError(s.err, err)
	return exitCode(ctx, err)
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:           "weir",
		Short:         "Differentially private synthetic tables from a committed spec",
		Long:          rootLong,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, err) })
	for _, command := range commands() {
		root.AddCommand(command(s))
	}
	return root
}

// commands is the table of contents of the command line, one file each.
func commands() []func(streams) *cobra.Command {
	return []func(streams) *cobra.Command{
		initCommand, domainCommand, checkCommand, planCommand, whatIfCommand, lockCommand, runCommand, runsCommand, gcCommand, reportCommand, sampleCommand, evaluateCommand,
		verifyCommand, ledgerCommand, budgetCommand, diffCommand, epsilonCommand, renderCommand, kindsCommand, explainCommand, schemaCommand, versionCommand, completionCommand,
	}
}

// noArgs, optional and exactly turn cobra's argument errors into usage errors.
func noArgs(c *cobra.Command, args []string) error { return noArgsBut("")(c, args) }

// noArgsBut names the flags that an argument may have been meant for.
func noArgsBut(flags string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		accepted := "none"
		if flags != "" {
			accepted = "flags alone: " + flags
		}
		return usage(c, fmt.Errorf("%s: is given %s, %q, must be given %s", c.CommandPath(), words.Plural(len(args), "argument"), strings.Join(args, " "), accepted))
	}
}

func optional(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		return exactly(min(1, len(args)), name+" at most")(c, args)
	}
}

func exactly(n int, names string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == n {
			return nil
		}
		return usage(c, fmt.Errorf("%s: is given %s, must be given %d %s", c.CommandPath(), words.Plural(len(args), "argument"), n, names))
	}
}
