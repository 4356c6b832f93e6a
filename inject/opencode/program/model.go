package program

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/tokens"
)

// chosenModel is the model that the program would take for a new session,
// "provider/model": of its arguments, of the settings, its agent's before others, or
// the one used last (1.18.33). It is empty where that cannot be told.
func chosenModel(m inject.Machine, c config, args []string) string {
	agent := cmp.Or(inject.Flag(args, "--agent"), c.Agent, "build")
	if name := cmp.Or(inject.Flag(args, "--model", "-m"), c.Agents[agent].Model, c.Model); name != "" {
		return name
	}
	var state struct {
		Recent []struct{ ProviderID, ModelID string } `json:"recent"`
	}
	readJSON(filepath.Join(baseDir(m, "XDG_STATE_HOME", ".local/state"), "opencode", "model.json"), &state)
	if len(state.Recent) == 0 {
		return ""
	}
	last := state.Recent[0] // the program goes on to the next if it has not got this one
	if !c.allowed(last.ProviderID) || !available(m, c, last.ProviderID, last.ModelID) {
		return ""
	}
	return last.ProviderID + "/" + last.ModelID
}

// available reports whether a model can surely be used: there are credentials for
// its provider, or settings, and it is known.
func available(m inject.Machine, c config, providerID, modelID string) bool {
	own, listed := c.Providers[providerID], knownModels(m)[providerID]
	_, inOwn := own.Models[modelID]
	_, inList := listed.Models[modelID]
	_, signedIn := credentials(m)[providerID]
	key := slices.ContainsFunc(listed.Env, func(name string) bool { return m.Getenv(name) != "" })
	return inOwn || inList && (signedIn || key)
}

// knownModels is the list of models that the program fetched, by provider.
func knownModels(m inject.Machine) map[string]provider {
	known := map[string]provider{}
	readJSON(filepath.Join(baseDir(m, "XDG_CACHE_HOME", ".cache"), "opencode", "models.json"), &known)
	return known
}

// credentials are what the user signed in with, by provider.
func credentials(m inject.Machine) map[string]json.RawMessage {
	known := map[string]json.RawMessage{}
	readJSON(filepath.Join(baseDir(m, "XDG_DATA_HOME", ".local/share"), "opencode", "auth.json"), &known)
	if text := m.Getenv("OPENCODE_AUTH_CONTENT"); text != "" {
		more := map[string]json.RawMessage{}
		_ = json.Unmarshal([]byte(text), &more)
		maps.Copy(known, more)
	}
	return known
}

// readJSON reads a file of the program's own; what cannot be read is as good as
// absent.
func readJSON(file string, v any) {
	if b, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(b, v)
	}
}

// allowed reports whether the settings let a provider be used.
func (c *config) allowed(name string) bool {
	return !slices.Contains(c.Disabled, name) && (c.Enabled == nil || slices.Contains(c.Enabled, name))
}

// overhead is what the program sends beside a conversation, in tokens: its own
// prompt and the tools, some 40 kB (1.18.33).
const overhead = 12_000

// tooLarge warns of a payload that is more than the model takes, if that is known.
// The program sends it all the same; where the model refuses, so does each turn
// after, and the program's own summary of it (1.18.33).
func tooLarge(m inject.Machine, c config, model, payload string) []string {
	context := windowOf(m, c, model)
	if context <= 0 || len(payload) < context { // a token is a byte at least
		return nil
	}
	if need := tokens.Count(payload) + overhead; need > context {
		fits := (context - overhead) * 3 / 4
		warning := fmt.Sprintf("with the payload the model %s gets some %d tokens, of %d that it takes: OpenCode will shorten it, or fail", model, need, context)
		if fits >= 200 {
			warning += fmt.Sprintf("; --budget %d fits", fits)
		}
		return []string{warning}
	}
	return nil
}

// Model is the model that the program would take for a new session,
// "provider/model"; empty where that cannot be told.
func Model(m inject.Machine, r inject.Request) string {
	return chosenModel(m, readConfig(m, r.Dir), r.Args)
}

// Window is the context window, in tokens, that the settings or the list of known
// models give a model, "provider/model"; 0 where they do not say. Of a model without
// its provider, as transcripts have it, it is the smallest that a provider gives
// which can be used here.
func Window(m inject.Machine, r inject.Request, model string) int {
	c := readConfig(m, r.Dir)
	if n := windowOf(m, c, model); n > 0 {
		return n
	}
	least := 0
	known := knownModels(m)
	for _, providers := range []map[string]provider{c.Providers, known} {
		for name := range providers {
			if n := windowOf(m, c, name+"/"+model); n > 0 && (least == 0 || n < least) && c.allowed(name) && available(m, c, name, model) {
				least = n
			}
		}
	}
	return least
}

func windowOf(m inject.Machine, c config, model string) int {
	providerID, modelID, _ := strings.Cut(model, "/")
	if n := c.Providers[providerID].Models[modelID].Limit.Context; n != 0 {
		return n
	}
	return knownModels(m)[providerID].Models[modelID].Limit.Context
}
