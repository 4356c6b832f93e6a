package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/schema"
)

// manCommand returns the hidden command that writes the manual. It is not in commands,
// because it needs all other commands to be built.
func manCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "man <folder>",
		Hidden:  true,
		Short:   "Write the manual pages into a folder",
		Long:    "Writes a manual page for cortext and one for each command into a folder. It creates the folder.",
		Example: "  cortext man ~/.local/share/man/man1",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			return writeManual(cmd.Root(), a.file(list[0]))
		},
	}
}

// writeManual writes the pages of root and its commands into a folder.
func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pages := []*cobra.Command{root}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			pages = append(pages, c)
		}
	}
	for _, c := range pages {
		if err := os.WriteFile(filepath.Join(dir, pageName(c)+".1"), manualPage(c), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pageName returns the name of a command's page: cortext-list.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manualPage returns the page of a command.
func manualPage(cmd *cobra.Command) []byte {
	var b bytes.Buffer
	title := func(s string) { fmt.Fprintf(&b, ".SH %s\n", s) }
	item := func(tag, text string) { fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(tag), roff(text)) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"cortext, format %s\" \"cortext\"\n", strings.ToUpper(pageName(cmd)), schema.Version)
	title("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(pageName(cmd)), roff(cmd.Short))
	title("SYNOPSIS")
	for _, line := range usageOf(cmd) {
		fmt.Fprintf(&b, ".B %s\n.br\n", roff(line))
	}
	title("DESCRIPTION")
	fmt.Fprintf(&b, "%s\n", roff(describe(cmd)))
	if cmd.HasAvailableSubCommands() {
		title("COMMANDS")
		for _, group := range groupsOf(cmd) {
			if cmd.HasParent() { // its commands are on its page
				for _, c := range group.commands {
					item(c.UseLine(), c.Short)
				}
				continue
			}
			fmt.Fprintf(&b, ".SS %s\n", group.title)
			for _, c := range group.commands {
				item(pageName(c)+"(1)", c.Short)
			}
		}
	}
	title("OPTIONS")
	options := func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		tag := "--" + f.Name
		if f.Shorthand != "" {
			tag = "-" + f.Shorthand + ", " + tag
		}
		if value != "" {
			tag += " " + value
		}
		item(tag, text)
	}
	cmd.LocalNonPersistentFlags().VisitAll(options)
	cmd.Root().PersistentFlags().VisitAll(options)
	title("EXIT STATUS")
	fmt.Fprintf(&b, "%s\n", roff(strings.TrimPrefix(exitCodes, "Exit codes: ")))
	if cmd.Example != "" {
		title("EXAMPLES")
		fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(cmd.Example))
	}
	if cmd.HasParent() {
		title("SEE ALSO")
		fmt.Fprintf(&b, ".BR %s (1)\n", roff(pageName(cmd.Root())))
	}
	return b.Bytes()
}

// roff escapes text for a manual page.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(strings.Join(lines, "\n"), "\n\n", "\n.PP\n") {
		if r < 0x80 {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
