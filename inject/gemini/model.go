package gemini

import (
	"cmp"
	"os"

	"cortext/inject"
)

// Model returns the model that the program would use: from --model, GEMINI_MODEL, or
// the settings (0.61.0, packages/cli/src/config/config.ts). It may be an alias, such
// as "auto".
func (agent) Model(m inject.Machine, r inject.Request) string {
	trusted, known, err := trust(m, r, trustDefault)
	counts := trusted || !known && err == nil // the program asks before it starts in an unknown folder
	name := cmp.Or(inject.Flag(r.Args, "--model", "-m"), m.Getenv("GEMINI_MODEL"), fromEnvFile(m, r.Dir, counts, "GEMINI_MODEL"))
	all := []settings{systemSettings(m), {}, userSettings(m), systemDefaults(m)}
	if counts {
		all[1] = projectSettings(r.Dir)
	}
	for _, s := range all {
		name = cmp.Or(name, os.Expand(s.modelName(), m.Getenv)) // the settings may refer to variables
	}
	return name
}

// modelName returns the model in a settings file.
func (s settings) modelName() string {
	var name string
	if inject.DecodeJSON(s.Model, &name) == nil {
		return name
	}
	var model struct {
		Name string `json:"name"`
	}
	_ = inject.DecodeJSON(s.Model, &model)
	return model.Name
}
