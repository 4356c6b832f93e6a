package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/flow"
	"cortext/schema"
)

func (a *app) newCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new <type> <title>",
		Short: "Start a conversation",
		Long: `Starts a conversation: creates its folder under conversations/, with a markdown
document. The type is brainstorm, debug, plan, learn, meeting, review, projectmanage,
chat, or the name of a file in .workspace/commands/.`,
		Example: "  cortext new brainstorm \"API design\"",
		Args:    args(cobra.MinimumNArgs(2)),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, list []string) error {
			e, paused, err := w.New(list[0], strings.Join(list[1:], " "))
			if err != nil {
				return err
			}
			a.sayPaused(paused)
			if err := a.pauseIdle(cmd.Context(), w); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(rowOf(w, e))
			}
			fmt.Fprintln(a.out, visible(e.Path))
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the conversation as JSON")
	return cmd
}

// pauseIdle pauses idle conversations and reports them.
func (a *app) pauseIdle(ctx context.Context, w *flow.Workspace) error {
	paused, err := w.PauseIdle(ctx, "")
	for _, e := range paused {
		fmt.Fprintf(a.errw, "paused %q: nothing was said in it for %d minutes\n", oneLine(e.Session.DisplayTitle()), w.Config.IdleMinutes)
	}
	return err
}

// sayPaused reports the conversations that were paused in favor of another.
func (a *app) sayPaused(titles []string) {
	for _, t := range titles {
		fmt.Fprintf(a.errw, "paused %q: one conversation is active at a time\n", oneLine(t))
	}
}

func (a *app) checkCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check the workspace for corruption",
		Long: `Reads every file of every conversation and reports damage: incomplete last lines,
runs of NUL bytes, broken or joined lines, invalid UTF-8, a session.json that is
missing or unreadable, and records or files that git's last commit or index has but
the work tree lacks. Conversations that you removed are not reported. check changes
nothing and fetches nothing. It exits with 1 if it finds damage.`,
		Example: "  cortext check",
		Args:    args(cobra.NoArgs),
		RunE: a.within(func(cmd *cobra.Command, w *flow.Workspace, _ []string) error {
			type place struct {
				File   string `json:"file"`
				Line   int    `json:"line"`
				Byte   int64  `json:"byte"`
				Kind   string `json:"kind"`
				Detail string `json:"detail"`
			}
			found := []place{}
			for d := range w.Check(cmd.Context(), func(text string) { a.warn(text) }) {
				found = append(found, place{d.File, d.Line, d.Offset, string(d.Kind), d.Detail})
				if !asJSON {
					fmt.Fprintln(a.out, visible(d.Error()))
				}
			}
			if asJSON {
				if err := a.printJSON(map[string]any{"damage": found}); err != nil {
					return err
				}
			} else if len(found) == 0 {
				fmt.Fprintln(a.out, "no damage")
			}
			if len(found) > 0 {
				return errSilent
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the damage as JSON")
	return cmd
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the versions of cortext and of the file format it writes.",
		Example: "  cortext version",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.printVersion(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the versions as JSON")
	return cmd
}

func (a *app) printVersion(asJSON bool) error {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	if asJSON {
		return a.printJSON(map[string]string{"version": version, "format": schema.Version, "go": runtime.Version()})
	}
	fmt.Fprintf(a.out, "cortext %s, format %s, %s\n", version, schema.Version, runtime.Version())
	return nil
}

func (a *app) completionCommand() *cobra.Command {
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
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
		},
	}
}
