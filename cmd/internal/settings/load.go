package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Layer is a source of settings. Each overrides the ones before it.
type Layer string

// The layers.
const (
	FromDefault     Layer = "default"
	FromWorkspace   Layer = "workspace"   // [WorkspaceFile]
	FromUser        Layer = "user"        // the user's own file
	FromEnvironment Layer = "environment" // CORTEXT_<NAME>
)

// An Origin says where the value of a setting comes from.
type Origin struct {
	Layer    Layer
	File     string // for values from a file
	Line     int    // line in that file
	Variable string // for values from the environment
}

// A Value is a setting and its effective value.
type Value struct {
	Name    string
	Text    string // as spelled in a file
	Typed   any    // a bool, int or string
	Default string
	Allowed string // description of the allowed values
	Origin  Origin

	// Installed says which value cortext init writes to the agents' files: FromWorkspace,
	// FromUser for the value that applies to the user, or "" for none.
	Installed Layer
}

// A Guarded is a value in a workspace's file that applies only after the user trusts it.
type Guarded struct {
	Name, Value string
	Why         string // what the value does, for display
	Line        int
	Trusted     bool
}

// Sources are the inputs of Load.
type Sources struct {
	Workspace File
	User      File
	Getenv    func(string) string
	Trusts    func(name, value string) bool // whether the user trusts a guarded value of the workspace
}

// A Loaded holds the settings with their origins and warnings.
type Loaded struct {
	Config   Config
	Shared   Config    // excludes the user's own settings, so that committed files may depend on it
	Guarded  []Guarded // those in the workspace's file, trusted or not
	Warnings []string

	origins map[string]Origin // of those that do not have their defaults, by name
}

// Load reads the settings. It cannot fail: instead of an invalid value the value of the
// previous layer applies, and a warning names the file, the line and the allowed values.
// Unknown settings are ignored with a warning, because a newer cortext may have written
// them.
func Load(s Sources) *Loaded {
	l := &Loaded{Config: Default(), origins: map[string]Origin{}}
	l.file(FromWorkspace, s.Workspace, s.Trusts)
	l.Shared = l.Config
	l.file(FromUser, s.User, nil)
	l.environment(s.Getenv)
	l.withheld()
	return l
}

// Values returns all settings.
func (l *Loaded) Values() (all []Value) {
	c, defaults := l.Config, Default()
	initial := defaults.table()
	for i, entry := range c.table() {
		origin, ok := l.origins[entry.name]
		if !ok {
			origin.Layer = FromDefault
		}
		all = append(all, Value{entry.name, entry.value(), entry.typed(), initial[i].value(), entry.allowed, origin, entry.installed})
	}
	return all
}

// file reads one file. trusts is nil for a file whose guarded values apply.
func (l *Loaded) file(layer Layer, f File, trusts func(name, value string) bool) {
	text, err := f.Read()
	then := "the defaults apply"
	if layer == FromUser {
		then = "nothing in it applies"
	}
	var large *sizeError
	switch {
	case errors.As(err, &large):
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s %v: %s", f.Name, err, then))
		return
	case err != nil:
		l.Warnings = append(l.Warnings, fmt.Sprintf("%s cannot be read, %s: %v", f.Name, then, err))
		return
	case len(text) == 0:
		return
	}
	r := read(f.Name, text, l.Config.table())
	if layer == FromWorkspace {
		l.guard(r, trusts)
	}
	for name, line := range r.lines {
		l.origins[name] = Origin{Layer: layer, File: f.Name, Line: line}
	}
	l.Warnings = append(l.Warnings, r.warnings()...)
}

// guard resets the guarded values that the user does not trust.
func (l *Loaded) guard(r *reader, trusts func(name, value string) bool) {
	for i := range r.settings {
		s := &r.settings[i]
		line, set := r.lines[s.name]
		if !set || !slices.Contains(s.guarded, s.value()) {
			continue
		}
		g := Guarded{s.name, s.value(), s.why, line, trusts != nil && trusts(s.name, s.value())}
		l.Guarded = append(l.Guarded, g)
		if !g.Trusted {
			r.reset(s)
		}
	}
}

// environment reads the environment variables of settings. An empty one counts as unset.
func (l *Loaded) environment(getenv func(string) string) {
	if getenv == nil {
		return
	}
	for _, s := range l.Config.table() {
		text := getenv(s.variable())
		if text == "" {
			continue
		}
		if !s.set(&yaml.Node{Kind: yaml.ScalarNode, Value: text}) {
			l.Warnings = append(l.Warnings, fmt.Sprintf("%s is %s, not %s: using %s", s.variable(), quote(text), s.allowed, s.value()))
			continue
		}
		l.origins[s.name] = Origin{Layer: FromEnvironment, Variable: s.variable()}
	}
}

// withheld warns of guarded values that do not apply, unless the user set a different value.
func (l *Loaded) withheld() {
	var list []string
	for _, g := range l.Guarded {
		if _, chosen := l.origins[g.Name]; g.Trusted || chosen {
			continue
		}
		list = append(list, fmt.Sprintf("%s:%d: %s is %s, which %s: it applies after cortext trust, until then it is %s",
			WorkspaceFile, g.Line, g.Name, g.Value, g.Why, named(l.Config.table(), g.Name).value()))
	}
	if len(list) > 0 {
		l.Warnings = append(l.Warnings, strings.Join(list, "; "))
	}
}

// Find returns the value of a setting. The error is a [*NameError] if there is no such
// setting.
func (l *Loaded) Find(name string) (Value, error) {
	for _, v := range l.Values() {
		if v.Name == name {
			return v, nil
		}
	}
	return Value{}, &NameError{name}
}
