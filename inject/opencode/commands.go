package opencode

import (
	"fmt"
	"strings"

	"cortext/inject"
	"cortext/inject/setup"
	"cortext/schema/prompt"
	"cortext/schema/rawjson"
)

// configFile contains all commands. The program reads it besides the user's
// opencode.json, at the top of the project or in the same folder (1.18.33).
const configFile = ".opencode/opencode.jsonc"

// commandChanges installs the commands in one file or, if the user has a file of that
// name, each in its own. It removes the separate files of an earlier version unless
// they were edited: such a file takes precedence over the common one.
func commandChanges(files []setup.File, read inject.ReadFile) ([]inject.Change, error) {
	have, ok, err := read(configFile)
	if err != nil {
		return nil, err
	}
	all := setup.Change(have, ok, commandsFile(files))
	if all.Action == inject.Create || all.Action == inject.Update {
		all.Notes = []string{fmt.Sprintf("%d commands", len(files))}
	}
	if all.Action == inject.Keep && !setup.Marked(have) {
		return setup.Changes(files, read)
	}
	former, err := setup.Changes(files, read)
	if err != nil {
		return nil, err
	}
	changes := []inject.Change{all}
	for _, c := range former {
		if c.Action == inject.Create {
			continue // it does not exist
		}
		if c.Action != inject.Keep {
			c.Action = inject.Remove
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// commandsFile returns the file with the contents of files. The program substitutes
// variables and other files for {env:…} and {file:…} before it parses the JSON, and
// does not start if such a file is missing. So commandsFile escapes the brace in texts.
// With a $schema, the program does not modify the file.
func commandsFile(files []setup.File) setup.File {
	quote := func(s string) string {
		return strings.NewReplacer("{env:", `\u007benv:`, "{file:", `\u007bfile:`).Replace(string(rawjson.AppendQuote(nil, s)))
	}
	var b strings.Builder
	b.WriteString(`// Edit the prompts in .workspace/commands/, then run cortext init --agent opencode.
{
  "$schema": "https://opencode.ai/config.json",
  "command": {`)
	for i, f := range files {
		front, body := prompt.Split(f.Text)
		if i > 0 {
			b.WriteByte(',')
		}
		name := strings.TrimSuffix(f.Path[strings.LastIndexByte(f.Path, '/')+1:], ".md")
		b.WriteString("\n    " + quote(name) + ": {")
		for _, field := range []string{"description", "agent", "model", "variant"} {
			if value := setup.Field(front, field); value != "" {
				b.WriteString("\n      " + quote(field) + ": " + quote(value) + ",")
			}
		}
		if setup.Field(front, "subtask") == "true" {
			b.WriteString("\n      \"subtask\": true,")
		}
		b.WriteString("\n      \"template\": " + quote(strings.TrimSpace(body)) + "\n    }")
	}
	b.WriteString("\n  }\n}\n")
	return setup.StampedScript(configFile, b.String())
}
