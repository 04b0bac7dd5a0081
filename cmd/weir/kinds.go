package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"weir/pipeline"
	"weir/pipeline/spec"
	"weir/pipeline/words"
	"weir/schema"
)

func kindsCommand(s streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "kinds [NAME]",
		Short:   "List the kinds of stages, or show the ports and settings of one",
		Long:    "List the kinds of stages, or show the ports and settings of one.\n\nExit codes: 0 done; 2 unknown kind.",
		Example: "  weir kinds\n  weir kinds impute_knn\n  weir kinds encode --json",
		Args:    optional("NAME"),
		RunE: func(c *cobra.Command, args []string) error {
			reg, err := registry()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listKinds(s.out, reg, asJSON)
			}
			kind := reg.Kind(args[0])
			if kind == nil {
				err := fmt.Errorf("unknown kind %q", args[0])
				if near := schema.Suggest(args[0], reg.Names()); near != "" {
					err = fmt.Errorf("%w; did you mean %s?", err, near)
				}
				return usage(c, err)
			}
			return showKind(s.out, kind, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

func listKinds(w io.Writer, reg *pipeline.Registry, asJSON bool) error {
	if asJSON {
		docs := map[string]string{}
		for _, name := range reg.Names() {
			docs[name] = reg.Kind(name).Doc
		}
		return printJSON(w, docs)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, name := range reg.Names() {
		fmt.Fprintf(t, "%s\t%s\n", name, words.FirstSentence(reg.Kind(name).Doc))
	}
	return t.Flush()
}

func showKind(w io.Writer, kind *pipeline.Kind, asJSON bool) error {
	if asJSON {
		s, err := spec.StageSchema(kind)
		if err != nil {
			return err
		}
		return printJSON(w, s)
	}
	text, err := words.Kind(kind)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}
