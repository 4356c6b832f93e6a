package program

import (
	"cmp"
	"encoding/json"
	"os"

	"cortext/inject"
)

// Model is the model that the program would use: --model, GEMINI_MODEL, then the
// settings (0.61.0, packages/cli/src/config/config.ts). It may be an alias, such as
// "auto".
func Model(m inject.Machine, r inject.Request) string {
	trusted, known, err := trust(m, r, trustDefault)
	counts := trusted || !known && err == nil // the program asks before it starts in a folder that it does not know
	name := cmp.Or(inject.Flag(r.Args, "--model", "-m"), m.Getenv("GEMINI_MODEL"), fromEnvFile(m, r.Dir, counts, "GEMINI_MODEL"))
	all := []settings{systemSettings(m), {}, userSettings(m), systemDefaults(m)}
	if counts {
		all[1] = projectSettings(r.Dir)
	}
	for _, s := range all {
		name = cmp.Or(name, os.Expand(s.modelName(), m.Getenv)) // the settings may name variables
	}
	return name
}

// modelName is the model that a settings file names.
func (s settings) modelName() string {
	var name string
	if json.Unmarshal(s.Model, &name) == nil {
		return name
	}
	var model struct {
		Name string `json:"name"`
	}
	_ = json.Unmarshal(s.Model, &model)
	return model.Name
}
