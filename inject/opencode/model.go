package opencode

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"cortext/inject"
	"cortext/schema/tokens"
)

// chosenModel returns the model that the program would use for a new session,
// "provider/model": the one in its arguments, else the agent's in the settings, else
// the default in the settings, else the one used last (1.18.33). It returns "" if the
// model is unknown.
func chosenModel(m inject.Machine, c config, args []string) string {
	agent := cmp.Or(inject.Flag(args, "--agent"), c.Agent, "build")
	if name := cmp.Or(inject.Flag(args, "--model", "-m"), c.Agents[agent].Model, c.Model); name != "" {
		return name
	}
	var state struct {
		Recent []struct{ ProviderID, ModelID string } `json:"recent"`
	}
	_ = inject.ReadJSON(filepath.Join(baseDir(m, "XDG_STATE_HOME", ".local/state"), "opencode", "model.json"), &state)
	if len(state.Recent) == 0 {
		return ""
	}
	last := state.Recent[0] // the program tries the next one if this is not available
	if !c.allowed(last.ProviderID) || !available(m, c, last.ProviderID, last.ModelID) {
		return ""
	}
	return last.ProviderID + "/" + last.ModelID
}

// available reports whether a model is certain to be usable: it is known, and its
// provider has credentials or settings.
func available(m inject.Machine, c config, providerID, modelID string) bool {
	own, listed := c.Providers[providerID], knownModels(m)[providerID]
	_, inOwn := own.Models[modelID]
	_, inList := listed.Models[modelID]
	_, signedIn := credentials(m)[providerID]
	key := slices.ContainsFunc(listed.Env, func(name string) bool { return m.Getenv(name) != "" })
	return inOwn || inList && (signedIn || key)
}

// knownModels returns the list of models that the program fetched, by provider.
func knownModels(m inject.Machine) map[string]provider {
	known := map[string]provider{}
	_ = inject.ReadJSON(filepath.Join(baseDir(m, "XDG_CACHE_HOME", ".cache"), "opencode", "models.json"), &known)
	return known
}

// credentials returns the user's credentials, by provider.
func credentials(m inject.Machine) map[string]inject.RawJSON {
	known := map[string]inject.RawJSON{}
	_ = inject.ReadJSON(filepath.Join(dataDir(m), "auth.json"), &known)
	if text := m.Getenv("OPENCODE_AUTH_CONTENT"); text != "" {
		more := map[string]inject.RawJSON{}
		_ = inject.DecodeJSON([]byte(text), &more)
		maps.Copy(known, more)
	}
	return known
}

// allowed reports whether the settings allow a provider.
func (c *config) allowed(name string) bool {
	return !slices.Contains(c.Disabled, name) && (c.Enabled == nil || slices.Contains(c.Enabled, name))
}

// overhead is what the program sends besides a conversation, in tokens: its own
// prompt and the tools, some 40 kB (1.18.33).
const overhead = 12_000

// tooLarge warns of a payload that exceeds the model's limit, if known. The program
// sends it anyway. If the model rejects it, it also rejects every later turn, and the
// program's own summary (1.18.33).
func tooLarge(m inject.Machine, c config, model, payload string) []string {
	context := windowOf(m, c, model)
	if context <= 0 || len(payload) < context { // a token is at least one byte
		return nil
	}
	if need := tokens.Count(payload) + overhead; need > context {
		fits := (context - overhead) * 3 / 4
		warning := fmt.Sprintf("with the payload, the model %s gets about %d tokens of the %d that it accepts: OpenCode will shorten it, or fail", model, need, context)
		if fits >= 200 {
			warning += fmt.Sprintf("; --budget %d fits", fits)
		}
		return []string{warning}
	}
	return nil
}

// Model returns the model that the program would use for a new session,
// "provider/model", or "" if unknown.
func (agent) Model(m inject.Machine, r inject.Request) string {
	return chosenModel(m, readConfig(m, r.Dir), r.Args)
}

// Window returns the context window, in tokens, of a model, "provider/model", from the
// settings or the list of known models; 0 if they do not say. For a model without its
// provider, as in transcripts, it is the smallest window among the providers that are
// usable here.
func (agent) Window(m inject.Machine, r inject.Request, model string) int {
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
