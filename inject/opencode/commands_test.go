package opencode

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"cortext/inject"
	"cortext/inject/setup"
	"cortext/schema/prompt"
)

// TestConfig checks that the common file has the same content as the separate files,
// replaces them, and contains nothing that the program would substitute.
func TestConfig(t *testing.T) {
	types := append(builtIn(), inject.Type{Name: "retro", Source: "---\ndescription: \"Look \\\"back\\\"\"\nagent: plan # not build\nmodel: a/b\nsubtask: true\n---\nSee {file:secrets} and {env:HOME}, \\ \"quoted\" // no comment\n"})
	apart := ownFiles()
	apart.install(t, inject.InstallOptions{Types: types})
	p := project{}
	if done := p.install(t, inject.InstallOptions{Types: types}); len(done) != 1 || done[configFile] != inject.Create || !setup.Owned(p[configFile]) {
		t.Fatalf("it makes %v", done)
	}
	raw := strings.Join(strings.Split(p[configFile], "\n")[2:], "\n")
	if strings.Contains(raw, "{file:") || strings.Contains(raw, "{env:") {
		t.Errorf("it has places to fill:\n%s", raw)
	}
	var config struct {
		Schema  string `json:"$schema"`
		Command map[string]struct {
			Description, Agent, Model, Template string
			Subtask                             bool
		}
	}
	if err := json.Unmarshal([]byte(raw), &config); err != nil || config.Schema == "" || len(config.Command) != len(types)+len(prompt.Managing()) {
		t.Fatalf("%d commands, %v\n%s", len(config.Command), err, raw)
	}
	for name, c := range config.Command {
		front, body := prompt.Split(apart[".opencode/commands/"+name+".md"])
		if c.Template != strings.TrimSpace(body) || c.Description == "" || c.Description != setup.Field(front, "description") {
			t.Errorf("%s is %+v\nnot\n%s", name, c, body)
		}
	}
	if c := config.Command["workspace.retro"]; fmt.Sprint(c.Description, c.Agent, c.Model, c.Subtask) != `Look "back"plana/btrue` || !strings.Contains(c.Template, `{file:secrets} and {env:HOME}, \ "quoted" //`) {
		t.Errorf("retro is %+v", c)
	}

	// A project set up by an older cortext.
	delete(apart, configFile)
	edited := ".opencode/commands/workspace.plan.md"
	apart[edited] += "mine\n"
	done := apart.install(t, inject.InstallOptions{Types: types})
	if len(apart) != 2 || done[configFile] != inject.Create || done[edited] != inject.Keep || done[".opencode/commands/workspace.chat.md"] != inject.Remove {
		t.Errorf("%v, which leaves %d files", done, len(apart))
	}
	// An edited file stays, and gets no second file next to it.
	p[configFile] += "// mine\n"
	if done = p.install(t, inject.InstallOptions{Types: types[:1]}); len(done) != 1 || done[configFile] != inject.Keep {
		t.Errorf("edited: %v", done)
	}
	p[configFile] = strings.TrimSuffix(p[configFile], "// mine\n")
	if done = p.install(t, inject.InstallOptions{Types: types[:1]}); len(done) != 1 || done[configFile] != inject.Update {
		t.Errorf("a newer text: %v", done)
	}
}
