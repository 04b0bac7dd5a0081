//go:build packaging

package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// main writes what archives and packages hold beside the program: the man page of each command, and completions of
// shells. It takes the place of the program's main under a build tag, so that the program links no renderer of pages.
// SOURCE_DATE_EPOCH, seconds, is the date of the pages.
//
//	go run -tags packaging ./cmd/weir FOLDER
func main() {
	if err := writePages(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "packaging:", err)
		os.Exit(exitFailed)
	}
}

// writePages writes the pages below the folder that args names.
func writePages(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("is given %d arguments, must be given a folder", len(args))
	}
	man, completions := filepath.Join(args[0], "man"), filepath.Join(args[0], "completions")
	if err := cmp.Or(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	root := newRoot(streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	root.DisableAutoGenTag = true
	forgetMachine(root)
	return cmp.Or(doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "weir", Manual: "weir"}, man),
		root.GenBashCompletionFileV2(filepath.Join(completions, "weir.bash"), true),
		root.GenZshCompletionFile(filepath.Join(completions, "_weir")),
		root.GenFishCompletionFile(filepath.Join(completions, "weir.fish"), true),
		root.GenPowerShellCompletionFileWithDesc(filepath.Join(completions, "weir.ps1")))
}

// forgetMachine words the defaults that are of this machine, so that the pages are the same wherever they are written.
func forgetMachine(c *cobra.Command) {
	if workers := c.Flags().Lookup("workers"); workers != nil {
		workers.DefValue = "processors of the machine"
	}
	for _, below := range c.Commands() {
		forgetMachine(below)
	}
}
