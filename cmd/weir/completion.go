package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func completionCommand(s streams) *cobra.Command {
	return &cobra.Command{
		Use:       "completion bash|zsh|fish|powershell",
		Short:     "Print the completion script of a shell",
		Long:      "Print the completion script of a shell.\n\nExit codes: 0 done; 2 usage.",
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
