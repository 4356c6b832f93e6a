package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"cortext/cmd/internal/organise"
)

func setCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "set <key>=<value>... [<id>...]",
		Short: "Set custom values on conversations",
		Long: `Sets free-form values, such as a ticket number, on conversations; without an id, on the
current one. An empty value removes the key. cortext show prints the values.`,
		Example: "  cortext set ticket=API-42 \"api design\"",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: a.within(func(cmd *cobra.Command, w *opened, list []string) error {
			values, queries, err := valuesIn(list)
			if err != nil {
				return err
			}
			var keys []string
			for _, v := range values {
				keys = append(keys, v.Key)
			}
			shown := oneLine(strings.Join(keys, ", "))
			return edit{organise.Set(values), "set " + shown, "already has this value of " + shown}.applyTo(cmd.Context(), a, w, queries)
		}),
	}
	cmd.Flags().BoolVar(&a.screen.asJSON, "json", false, "print the conversations as JSON")
	return cmd
}

// valuesIn splits arguments into leading values and queries.
func valuesIn(list []string) (values []organise.Value, queries []string, err error) {
	for i, arg := range list {
		if i > 0 && !strings.Contains(arg, "=") {
			return values, list[i:], nil
		}
		v, err := organise.ParseValue(arg)
		if err != nil {
			return nil, nil, err
		}
		values = append(values, v)
	}
	return values, nil, nil
}
