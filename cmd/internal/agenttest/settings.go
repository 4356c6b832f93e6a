package agenttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// openCodeModel is the only model that OpenCode has in a [Home].
const openCodeModel = "agenttest/model"

// openCodeSettings makes OpenCode use only the server at url, accept conversations of any
// length, and run its tools without asking.
func openCodeSettings(url string) map[string]any {
	return map[string]any{
		"$schema":           "https://opencode.ai/config.json",
		"model":             openCodeModel,
		"small_model":       openCodeModel,
		"share":             "disabled",
		"autoupdate":        false,
		"permission":        "allow",
		"enabled_providers": []string{"agenttest"},
		"provider": map[string]any{"agenttest": map[string]any{
			"npm":     "@ai-sdk/openai-compatible",
			"name":    "Agenttest",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "dummy"},
			"models": map[string]any{"model": map[string]any{
				"name": "Test Model", "tool_call": true, "reasoning": true, "attachment": true,
				"modalities": map[string]any{"input": []string{"text", "image"}, "output": []string{"text"}},
				"limit":      map[string]any{"context": 4_000_000, "output": 8_000},
			}},
		}},
	}
}

// geminiSettings makes Gemini CLI take its key from the environment, send only requests
// for turns, and show no tips.
func geminiSettings() map[string]any {
	return map[string]any{
		"security":  map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}},
		"privacy":   map[string]any{"usageStatisticsEnabled": false},
		"telemetry": map[string]any{"enabled": false},
		"general":   map[string]any{"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
		"ui":        map[string]any{"hideTips": true, "hideBanner": true},
	}
}

// readSettings reads a settings file; a missing file is empty.
func readSettings(name string) (map[string]any, error) {
	settings := map[string]any{}
	raw, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return settings, nil
	}
	if err != nil {
		return nil, fmt.Errorf("agenttest: settings: %w", err)
	}
	if err := json.Unmarshal(raw, &settings); err != nil {
		return nil, fmt.Errorf("agenttest: settings: %s: %w", name, err)
	}
	return settings, nil
}

// writeSettings writes a settings file, and creates its folder if needed.
func writeSettings(name string, settings map[string]any) error {
	raw, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		return fmt.Errorf("agenttest: settings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("agenttest: settings: %w", err)
	}
	if err := os.WriteFile(name, raw, 0o600); err != nil {
		return fmt.Errorf("agenttest: settings: %w", err)
	}
	return nil
}
