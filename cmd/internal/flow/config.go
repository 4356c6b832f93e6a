package flow

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"cortext/store"
)

// ConfigFile holds the settings of a workspace.
const ConfigFile = ".workspace/config.yaml"

// Config are the settings of a workspace (.workspace/config.yaml).
type Config struct {
	// OneActive: at most one conversation is active; one that becomes active
	// pauses the one before.
	OneActive bool `yaml:"one_active"`
}

const defaultConfig = `# Settings of this workspace. What is not here has its default.

# At most one conversation is active: starting or resuming one pauses the other.
one_active: true
`

// readConfig reads the settings. A name that this version does not know is
// warned of and otherwise ignored: a newer cortext may have written it.
func readConfig(st *store.Store) (Config, []string, error) {
	c := Config{OneActive: true}
	b, err := st.ReadFile(ConfigFile)
	if errors.Is(err, store.ErrNotFound) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, err
	}
	var names map[string]any
	if err := yaml.Unmarshal(b, &names); err != nil {
		return c, nil, fmt.Errorf("%s: %w: mend the file or delete it", ConfigFile, err)
	}
	if err := yaml.Unmarshal(b, &c); err != nil {
		return c, nil, fmt.Errorf("%s: %w: mend the file or delete it", ConfigFile, err)
	}
	var warnings []string
	for name := range names {
		if name != "one_active" {
			warnings = append(warnings, fmt.Sprintf("%s: unknown setting %q", ConfigFile, name))
		}
	}
	slices.Sort(warnings)
	return c, warnings, nil
}
