package cli

import (
	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func noteCommand(a *app) *cobra.Command {
	var replace bool
	cmd := &cobra.Command{
		Use:   "note <text> [<id>...]",
		Short: "Add a note to conversations",
		Long: `Adds a paragraph to the notes of conversations; without an id, of the current one. It
adds nothing if the last paragraph is already the same. With --replace the text replaces
all notes, and an empty text removes them. cortext show prints the notes.`,
		Example: "  cortext note \"ask the mobile team\" \"api design\"",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			if err := wantsWords(w, list[0], "note"); err != nil {
				return err
			}
			c := edit{organise.Note(list[0]), "note added", "already has this note"}
			if replace {
				c.change, c.done, c.had = organise.ReplaceNotes(list[0]), "notes replaced", "already has these notes"
			}
			return c.applyTo(cmd.Context(), a, w, list[1:])
		}),
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace all notes")
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversations as JSON")
	return cmd
}
