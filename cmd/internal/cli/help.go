package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/find"
)

// addHelp makes root and its commands print their help in our form.
func addHelp(root *cobra.Command, p *pager) {
	print := func(cmd *cobra.Command) error {
		return p.show(func(w io.Writer) error { help(w, cmd); return nil })
	}
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = print(cmd) })
	root.SetUsageFunc(print)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [command]", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			target, _, err := root.Find(args)
			if len(args) > 0 && (err != nil || target == root) {
				return unknownCommand(root, args[0])
			}
			return print(target)
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) (list []string, _ cobra.ShellCompDirective) {
			for _, c := range root.Commands() {
				if len(args) == 0 && !c.Hidden && strings.HasPrefix(c.Name(), typed) {
					list = append(list, c.Name()+"\t"+c.Short)
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
	})
}

// unknownCommand returns the error for a word that is not a command.
func unknownCommand(root *cobra.Command, word string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return &usageError{fmt.Sprintf("there is no command %q", word), near("cortext ", find.NearestWord(names, word), "run cortext --help for the commands")}
}

// help prints the help of a command. The examples come last, closest to the prompt.
func help(w io.Writer, cmd *cobra.Command) {
	width := widthOf(w)
	fmt.Fprintf(w, "%s\n\nUsage:\n", reflow(describe(cmd), width, ""))
	for _, line := range usageOf(cmd) {
		fmt.Fprintf(w, "  %s\n", reflow(line, width-2, "      "))
	}
	if cmd.HasAvailableSubCommands() {
		for _, group := range groupsOf(cmd) {
			fmt.Fprintf(w, "\n%s:\n", group.title)
			for _, c := range group.commands {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name(), reflow(c.Short, width-commandsIndent, strings.Repeat(" ", commandsIndent)))
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nFlags:\n%s", strings.ReplaceAll(flags.FlagUsagesWrapped(width), fmt.Sprintf("[=%q]", optional), "      "))
	}
	if flags := cmd.Root().PersistentFlags(); flags.HasAvailableFlags() {
		fmt.Fprintf(w, "\nGlobal flags:\n%s", flags.FlagUsagesWrapped(width))
	}
	fmt.Fprintf(w, "\n%s\n", reflow(exitCodes, width, ""))
	switch strings.Count(cmd.Example, "\n") {
	case 0:
		if cmd.Example != "" {
			fmt.Fprintf(w, "\nExample:\n%s\n", cmd.Example)
		}
	default:
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
}

// A commandGroup is a part of a list of commands.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// groupsOf returns the commands below cmd that the help shows, in one group if they have none.
func groupsOf(cmd *cobra.Command) (list []commandGroup) {
	titles := cmd.Groups()
	if len(titles) == 0 {
		titles = []*cobra.Group{{Title: "Commands"}}
	}
	for _, group := range titles {
		shown := slices.DeleteFunc(slices.Clone(cmd.Commands()), func(c *cobra.Command) bool { return !c.IsAvailableCommand() || c.GroupID != group.ID })
		list = append(list, commandGroup{group.Title, shown})
	}
	return list
}

// commandsIndent is the column in which a command's description begins.
const commandsIndent = 15

// reflow breaks the lines of a text again if one of them is wider than a screen, and puts
// indent before each line that it begins. Indented lines of the text stay as they are. A
// width that is not positive is no limit.
func reflow(text string, width int, indent string) string {
	lines := strings.Split(text, "\n")
	if width <= 0 || !slices.ContainsFunc(lines, func(line string) bool { return textWidth(line) > width }) {
		return text
	}
	var b strings.Builder
	at := 0 // the width of the line so far; 0: none that can be continued
	for i, line := range lines {
		if line == "" || line[0] == ' ' {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(line)
			at = 0
			continue
		}
		for _, word := range strings.Fields(line) {
			n := textWidth(word)
			switch {
			case at > 0 && at+1+n <= width:
				b.WriteString(" ")
				at += 1 + n
			case b.Len() == 0:
				at = n
			default:
				b.WriteString("\n" + indent)
				at = n
			}
			b.WriteString(word)
		}
	}
	return b.String()
}

// describe returns what a command does.
func describe(cmd *cobra.Command) string {
	if cmd.Long != "" {
		return strings.TrimSpace(cmd.Long)
	}
	return cmd.Short
}

// usageOf returns the forms of a command line.
func usageOf(cmd *cobra.Command) (lines []string) {
	if cmd.Runnable() && cmd.HasParent() {
		lines = append(lines, cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		lines = append(lines, cmd.CommandPath()+" <command> [flags]")
	}
	return lines
}
