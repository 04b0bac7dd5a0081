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

		ValidArgsFunction: firstOnly(completeKind),
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
				err := fmt.Errorf("%q is not a kind, must be one that weir kinds lists", args[0])
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
	for i, group := range words.Groups(reg) {
		if i > 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintln(t, group.Title)
		for _, kind := range group.Kinds {
			fmt.Fprintf(t, "  %s\t%s\n", kind.Name, kind.Summary())
		}
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

const completionLong = `Print the completion script of a shell. It completes commands, flags and values: specs, kinds,
rules, formats, runs, and for --set the settings of the spec on the line and their words.

  bash        source it from ~/.bashrc, or write it to
              ~/.local/share/bash-completion/completions/weir; needs bash-completion
  zsh         write it to _weir in a folder of fpath, before compinit
  fish        write it to ~/.config/fish/completions/weir.fish
  powershell  weir completion powershell | Out-String | Invoke-Expression, in $PROFILE

deb and rpm packages put them there.

Exit codes: 0 done; 2 usage.`

func completionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print the completion script of a shell",
		Long:      completionLong,
		Example:   "  source <(weir completion bash)\n  weir completion zsh > \"${fpath[1]}/_weir\"",
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactly(1, "shell: bash, zsh, fish or powershell"),
		RunE: func(c *cobra.Command, args []string) error {
			root := c.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(s.out, true)
			case "zsh":
				return root.GenZshCompletion(s.out)
			case "fish":
				return root.GenFishCompletion(s.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(s.out)
			}
			return usage(c, fmt.Errorf("shell: is %q, must be bash, zsh, fish or powershell", args[0]))
		},
	}
}
