package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/docs"
	"weir/schema"
)

const docsLong = `Print a page of the documentation, or one section of it: PAGE is a name of the list,
a path as messages have it, such as docs/spec.md, and PAGE#SECTION a heading, of which the
first words are enough. Without PAGE, list the pages.

Pages are Markdown and printed as they are. In a terminal they go through the program that
the environment variable PAGER names, if it is set.

Exit codes: 0 done; 2 usage, or no such page or section.`

func docsCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "docs [PAGE[#SECTION]]",
		Short: "Print a page of the documentation; needs no network",
		Long:  docsLong,
		Example: "  weir docs\n  weir docs guide\n  weir docs spec#the-domain\n  weir docs kinds#marginal_tree\n" +
			"  PAGER=less weir docs docs/privacy.md",
		ValidArgs: docs.Names(),
		Args:      optional("PAGE"),
		RunE: func(c *cobra.Command, args []string) error {
			text := listOfPages()
			if len(args) == 1 {
				page, err := section(args[0])
				if err != nil {
					return usage(c, err)
				}
				text = string(page)
			}
			return pageThrough(s.out, text, os.Getenv("PAGER"))
		},
	}
}

// listOfPages lists the pages with their titles.
func listOfPages() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, name := range docs.Names() {
		page, _ := docs.Read(name)
		fmt.Fprintf(t, "%s\t%s\n", name, page.Title())
	}
	_ = t.Flush() // into memory
	return b.String()
}

// section returns a page, or the section of it that the argument names behind #.
func section(arg string) (docs.Page, error) {
	name, heading, cut := strings.Cut(arg, "#")
	page, there := docs.Read(name)
	if !there {
		return "", unknown("page", name, docs.Names())
	}
	if !cut {
		return page, nil
	}
	part, there := page.Section(heading)
	if !there {
		return "", unknown("section of "+name, heading, page.Anchors())
	}
	return part, nil
}

// unknown words a name that is not in a list, with the name that may be meant.
func unknown(what, name string, accepted []string) error {
	hint := schema.DidYouMean(name, accepted)
	if hint != "" {
		hint = "; " + hint
	}
	return fmt.Errorf("%s: is %q, must be one of %s%s", what, name, strings.Join(accepted, ", "), hint)
}

// pageThrough prints text: through the pager where a person reads it on a terminal and has named one.
func pageThrough(w io.Writer, text, pager string) error {
	words := strings.Fields(pager)
	if f, is := w.(*os.File); !is || !isTerminal(f) || len(words) == 0 {
		_, err := io.WriteString(w, text)
		return err
	}
	signal.Ignore(os.Interrupt) // is the pager's, while it runs
	c := exec.Command(words[0], words[1:]...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return withCode(exitUsage, fmt.Errorf("PAGER: is %q, must be a program that shows text: %w", pager, err))
	}
	return nil
}
