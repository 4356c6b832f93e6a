package setup

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/rawjson"
)

// Hooks describes the hooks in an agent's settings, in the form that Claude Code and
// Gemini CLI share: {"hooks": {EVENT: [{"hooks": [{"type": "command", "command":
// …}]}]}}.
type Hooks struct {
	Agent     string   // its name in cortext hook
	Events    []string // in the order to add them
	AfterTool string   // the event after a tool call, which is optional
	Timeout   int      // in the agent's unit
	Earlier   []string // the wordings that earlier versions wrote, with EVENT in place of the event's name

	// StatusLine is the word that asks cortext for the agent's status line, which is
	// optional; empty if the agent has none.
	StatusLine string

	Before   string // precedes the rest of the shell line
	Name     string // the hook's name shown by the agent, if it has such a member
	Comments bool   // the file may have comments, which stay
}

// wording returns the shell line of a hook. It finds cortext on the PATH, or through
// the links that cortext makes in the user's state folder. If cortext is missing or
// fails, the line is silent and succeeds: agents show a failed hook to the user, and
// exit status 2 stops the agent. cortext-hook always succeeds, so the second command
// runs only if there is no such program. cortext inherits standard input and output.
func (h Hooks) wording() string {
	call := h.Agent + " EVENT 2>/dev/null || "
	return h.Before + `PATH="$PATH:${XDG_STATE_HOME:-$HOME/.local/state}/cortext/bin"; cortext-hook ` + call + "cortext hook " + call + "true"
}

// entry is the group for an event with our hook.
const entry = `{
	"hooks": [
		{
			"type": "command",%s
			"command": %s,
			"timeout": %d
		}
	]
}`

// command returns the wording for an event, as a JSON string.
func command(wording, event string) string {
	return string(rawjson.AppendQuote(nil, strings.ReplaceAll(wording, "EVENT", event)))
}

func (h Hooks) group(event string) string {
	name := ""
	if h.Name != "" {
		name = "\n\t\t\t\"name\": " + string(rawjson.AppendQuote(nil, h.Name)) + ","
	}
	return fmt.Sprintf(entry, name, command(h.wording(), event), h.Timeout)
}

// runs reports whether a shell line is cortext's hook for the event, however it calls
// cortext.
func (h Hooks) runs(line, event string) bool {
	return regexp.MustCompile(`cortext(-hook)?(\.exe)?["']?( hook)? ` + h.Agent + ` ` + event + `\b`).MatchString(line)
}

// settings returns a settings file with cortext's hooks in it, and a line for each
// change. have is the file's content, empty if there is none. Existing content keeps
// its bytes, including a hook of cortext's that the user changed. If there is nothing to
// change, it returns have itself. A file that is not JSON is an [*invalidError].
func (h Hooks) settings(have []byte) (want []byte, changes []string, err error) {
	d := newDocument(have)
	if h.Comments {
		d.text = inject.BlankComments(d.text)
	}
	if err := d.parse(); err != nil {
		return nil, nil, err
	}
	if changes, err = d.addHooks(h); err != nil {
		return nil, nil, err
	}
	if len(changes) == 0 {
		return have, nil, nil
	}
	return d.apply(), changes, nil
}

func (d *document) addHooks(h Hooks) (changes []string, err error) {
	if d.root[0] != '{' {
		return nil, d.shape(d.root, "the file does not hold a JSON object")
	}
	hooks, err := d.member(d.root, "hooks")
	if err != nil {
		return nil, err
	}
	if hooks != nil && hooks[0] != '{' {
		return nil, d.shape(hooks, `"hooks" is not an object`)
	}
	var missing []string // as members of hooks
	for _, event := range h.Events {
		var groups []byte
		if hooks != nil {
			if groups, err = d.member(hooks, event); err != nil {
				return nil, err
			}
		}
		if groups == nil {
			missing = append(missing, `"`+event+`": [`+indent("\n"+h.group(event))+"\n]")
			changes = append(changes, "hook "+event)
			continue
		}
		if groups[0] != '[' {
			return nil, d.shape(groups, fmt.Sprintf("%q in \"hooks\" is not an array", event))
		}
		found, renewed, err := d.renew(groups, h, event)
		if err != nil {
			return nil, err
		}
		if !found {
			d.add(groups, h.group(event))
			changes = append(changes, "hook "+event)
		} else if renewed {
			changes = append(changes, "hook "+event+": new wording")
		}
	}
	status, err := d.statusLine(h)
	if err != nil {
		return nil, err
	}
	var members []string
	if hooks == nil {
		members = append(members, `"hooks": {`+indent("\n"+strings.Join(missing, ",\n"))+"\n}")
	} else if len(missing) > 0 {
		d.add(hooks, missing...)
	}
	if status != "" {
		members = append(members, status)
		changes = append(changes, "status line")
	}
	if len(members) > 0 {
		d.add(d.root, members...)
	}
	return changes, nil
}

// statusLine returns the member with our status line, or "" if it is not wanted or the
// project has one, ours or another.
func (d *document) statusLine(h Hooks) (string, error) {
	if h.StatusLine == "" {
		return "", nil
	}
	have, err := d.member(d.root, "statusLine")
	if err != nil || have != nil {
		return "", err
	}
	return "\"statusLine\": {\n\t\"type\": \"command\",\n\t\"command\": " + command(h.wording(), h.StatusLine) + "\n}", nil
}

// Install returns the files of an agent's commands, and of its hooks in the settings files.
func (h Hooks) Install(f Form, settings []string, o inject.InstallOptions, read inject.ReadFile) ([]inject.Change, error) {
	changes, err := Changes(Commands(f, o.Types), read)
	if err != nil {
		return nil, err
	}
	if o.AfterTool {
		h.Events = append(slices.Clone(h.Events), h.AfterTool)
	}
	if !o.Status {
		h.StatusLine = ""
	}
	for _, file := range settings {
		c, err := h.change(file, read)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// change returns the change that settings makes to the file at path.
func (h Hooks) change(path string, read inject.ReadFile) (inject.Change, error) {
	have, ok, err := read(path)
	if err != nil {
		return inject.Change{}, err
	}
	want, notes, err := h.settings([]byte(have))
	if err != nil {
		return inject.Change{}, fmt.Errorf("%s: %w: nothing was changed", path, err)
	}
	c := inject.Change{Path: path, Text: string(want), Action: inject.Update, Notes: notes}
	switch {
	case !ok:
		c.Action = inject.Create
	case len(notes) == 0:
		c.Action = inject.Same
	}
	return c, nil
}

// renew looks for our hooks among the groups of an event, and replaces earlier
// wordings with the current one. Entries of an unknown shape are not ours.
func (d *document) renew(groups []byte, h Hooks, event string) (found, renewed bool, err error) {
	for _, g := range d.elements(groups) {
		entries, err := d.member(g.value, "hooks")
		if err != nil {
			return false, false, err
		}
		if entries == nil || entries[0] != '[' {
			continue
		}
		for _, e := range d.elements(entries) {
			raw, err := d.member(e.value, "command")
			if err != nil {
				return false, false, err
			}
			line, _ := rawjson.Unquote(raw) // "" if it is not a string
			if !h.runs(line, event) {
				continue
			}
			found = true
			if slices.ContainsFunc(h.Earlier, func(w string) bool { return strings.ReplaceAll(w, "EVENT", event) == line }) {
				d.replace(raw, command(h.wording(), event))
				renewed = true
			}
		}
	}
	return found, renewed, nil
}

// An invalidError says where settings.json stops being editable JSON. Line and Column
// count from 1; columns are in characters.
type invalidError struct {
	Line, Column int
	Why          string
}

func (e *invalidError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Why)
}

// invalid turns the parser's error into one that names the likely mistake.
func (d *document) invalid(e *rawjson.SyntaxError) error {
	at, why := e.Offset, e.Msg
	rest := d.text[at:]
	before := bytes.TrimRight(d.text[:at], jsonSpace)
	switch {
	case bytes.HasPrefix(rest, []byte("//")) || bytes.HasPrefix(rest, []byte("/*")):
		why = "this looks like a comment, which JSON does not have"
	case len(rest) > 0 && (rest[0] == '}' || rest[0] == ']') && bytes.HasSuffix(before, []byte(",")):
		at, why = len(before)-1, "a comma with nothing after it"
	case len(rest) > 0 && rest[0] >= 0x80:
		why = fmt.Sprintf("%q where JSON was expected", bytes.Runes(rest[:min(4, len(rest))])[0])
	}
	return d.invalidAt(at, why)
}
