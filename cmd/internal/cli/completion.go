package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func completionCommand(a *app) *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion <" + strings.Join(shells, "|") + ">",
		Short: "Print a shell completion script",
		Long: `Prints a script that makes the shell complete the commands and flags of cortext, its
conversations with their titles, types, tags, agents and statuses. The script for bash
does not need the package bash-completion.`,
		Example:   "  source <(cortext completion bash)\n  cortext completion zsh > \"${fpath[1]}/_cortext\"\n  cortext completion fish > ~/.config/fish/completions/cortext.fish",
		ValidArgs: shells,
		Args:      args(cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs)),
		RunE: func(cmd *cobra.Command, list []string) error {
			root := cmd.Root()
			switch list[0] {
			case "bash":
				return bashCompletion(a.screen.out, root)
			case "zsh":
				return zshCompletion(a.screen.out, root)
			case "fish":
				return root.GenFishCompletion(a.screen.out, true)
			default:
				return root.GenPowerShellCompletionWithDesc(a.screen.out)
			}
		},
	}
}

// Cobra's script for bash calls a function of the package bash-completion. Where that is
// not installed, ours takes its place: it splits the command line into words, without
// splitting at = and :.
const (
	wordsCall = `    _get_comp_words_by_ref "$@" cur prev words cword` + "\n"
	ownCall   = `    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
    else
        __cortext_words
    fi
`
	ownWords = `
# __cortext_words sets cur, prev, words and cword as bash-completion does.
__cortext_words()
{
    local i n=-1 word last=
    words=()
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        word=${COMP_WORDS[i]}
        if ((n > 0)) && [[ $word == [=:]* || $last == *[=:] ]]; then
            words[n]+=$word
        else
            n=$((n + 1))
            words[n]=$word
        fi
        last=$word
        if ((i == COMP_CWORD)); then
            cword=$n
        fi
    done
    cur=${words[cword]}
    prev=
    if ((cword > 0)); then
        prev=${words[cword - 1]}
    fi
}
`
)

// bashCompletion writes the script for bash.
func bashCompletion(out io.Writer, root *cobra.Command) error {
	var b strings.Builder
	if err := root.GenBashCompletionV2(&b, true); err != nil {
		return err
	}
	script := strings.Replace(b.String(), wordsCall, ownCall, 1)
	_, err := fmt.Fprint(out, script, ownWords)
	return err
}

// Cobra's script for zsh escapes colons for zsh's function _describe, but not the backslashes
// that escape them.
const (
	colonsEscaped      = `comp=${comp//:/\\:}`
	backslashesEscaped = `comp=${comp//\\/\\\\}; `
)

// zshCompletion writes the script for zsh.
func zshCompletion(out io.Writer, root *cobra.Command) error {
	var b strings.Builder
	if err := root.GenZshCompletion(&b); err != nil {
		return err
	}
	_, err := fmt.Fprint(out, strings.Replace(b.String(), colonsEscaped, backslashesEscaped+colonsEscaped, 1))
	return err
}
