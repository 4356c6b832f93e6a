package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:       "completion <" + strings.Join(shells, "|") + ">",
		Short:     "Print a shell completion script",
		Long:      "Prints a script that makes the shell complete the commands and flags of cortext.",
		Example:   "  source <(cortext completion bash)",
		ValidArgs: shells,
		Args:      args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(cmd *cobra.Command, list []string) error {
			root := cmd.Root()
			switch list[0] {
			case "bash":
				return root.GenBashCompletionV2(a.screen.out, true)
			case "zsh":
				return root.GenZshCompletion(a.screen.out)
			case "fish":
				return root.GenFishCompletion(a.screen.out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.screen.out)
			}
		},
	}
}
