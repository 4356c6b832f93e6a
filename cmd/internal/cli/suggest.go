package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cortext/cmd/internal/find"
)

// flagError says in plain words what is wrong with the value of a flag.
func flagError(err error) string {
	var invalid *pflag.InvalidValueError
	var number *strconv.NumError
	if !errors.As(err, &invalid) || !errors.As(err, &number) {
		return err.Error()
	}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	switch {
	case errors.Is(number, strconv.ErrRange):
		return fmt.Sprintf("--%s %s is out of range", flag.Name, value)
	case flag.Value.Type() == "bool":
		return fmt.Sprintf("--%s %q is neither true nor false", flag.Name, value)
	}
	return fmt.Sprintf("--%s %q is not a whole number", flag.Name, value)
}

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
