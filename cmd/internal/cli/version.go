package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"cortext/schema"
)

func versionCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Prints the versions of cortext and of the file format it writes.",
		Example: "  cortext version",
		Args:    args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			return printVersion(a.screen)
		},
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the versions as JSON")
	return cmd
}

func printVersion(on screen) error {
	version := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		version = info.Main.Version
	}
	if on.asJSON {
		return on.json(map[string]string{"version": version, "format": schema.Version, "go": runtime.Version()})
	}
	fmt.Fprintf(on.out, "cortext %s, format %s, %s\n", version, schema.Version, runtime.Version())
	return nil
}
