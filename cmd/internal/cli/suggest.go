package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/find"
)

// nearFlag returns a hint for an unknown flag: one with a similar name, or the command that
// has it.
func nearFlag(cmd *cobra.Command, err error) string {
	otherwise := "run " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return otherwise
	}
	typed := unknown.GetSpecifiedName()
	if shorthands := unknown.GetSpecifiedShortnames(); shorthands != "" && len(shorthands) > 1 {
		typed = shorthands // -json for --json
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if word := find.NearestWord(names, strings.TrimLeft(typed, "-")); word != "" {
		return near("--", word, "")
	}
	return otherwise
}
