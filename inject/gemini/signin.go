package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"cortext/inject"
)

// signIn returns an error if the program would ask how to sign in, or could not sign
// in. If the system's keychain may hold the missing credentials, it assumes that they
// are there.
func signIn(m inject.Machine, r inject.Request, trusted bool) error {
	const fix = "run gemini and sign in, or set GEMINI_API_KEY"
	kind, external := selectedType(m, r.Dir, trusted)
	if external {
		return nil
	}
	if kind == "" && r.Headless {
		kind = typeFromEnv(m)
	}
	has := func(name string) bool { return m.Getenv(name) != "" || fromEnvFile(m, r.Dir, trusted, name) != "" }
	switch kind {
	case "":
		if !r.Headless && m.Getenv("GEMINI_API_KEY") != "" {
			return geminiCLI.Unready("it would ask how to sign in, although GEMINI_API_KEY is set", "run gemini once and choose, leave it with /quit")
		}
		if r.Headless && has("GEMINI_API_KEY") {
			return nil
		}
		return geminiCLI.Unready("it is not signed in", fix)
	case "gemini-api-key":
		if !has("GEMINI_API_KEY") && !keyStored(m) {
			return geminiCLI.Unready("it is set to use GEMINI_API_KEY, which is not set", "set it, or run gemini and sign in")
		}
	case "vertex-ai":
		if !has("GOOGLE_API_KEY") && !(has("GOOGLE_CLOUD_PROJECT") && has("GOOGLE_CLOUD_LOCATION")) {
			return geminiCLI.Unready("it is set to use Vertex AI, and neither GOOGLE_API_KEY nor GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION are set", "set them, or run gemini and sign in another way")
		}
	case "oauth-personal":
		if m.Getenv("GEMINI_FORCE_ENCRYPTED_FILE_STORAGE") != "true" && m.Getenv("GOOGLE_APPLICATION_CREDENTIALS") == "" &&
			m.Getenv("GOOGLE_CLOUD_ACCESS_TOKEN") == "" && !exists(filepath.Join(geminiDir(m), "oauth_creds.json")) {
			return geminiCLI.Unready("it is set to sign in with Google, and nobody is signed in", fix)
		}
	}
	return nil
}

// selectedType returns how the program signs in according to the settings. A
// project's settings count if it is trusted.
func selectedType(m inject.Machine, dir string, trusted bool) (kind string, external bool) {
	all := []settings{systemSettings(m), {}, userSettings(m)}
	if trusted {
		all[1] = projectSettings(dir)
	}
	for _, s := range all {
		external = external || s.Security.Auth.UseExternal
		kind = cmp.Or(kind, s.Security.Auth.SelectedType, s.SelectedAuthType)
	}
	return kind, external
}

// typeFromEnv returns how the program signs in without a setting, if it has no
// terminal to ask on.
func typeFromEnv(m inject.Machine) string {
	switch {
	case m.Getenv("GOOGLE_GENAI_USE_GCA") == "true":
		return "oauth-personal"
	case m.Getenv("GOOGLE_GENAI_USE_VERTEXAI") == "true":
		return "vertex-ai"
	case m.Getenv("GOOGLE_GEMINI_BASE_URL") != "":
		return "gateway"
	case m.Getenv("GEMINI_API_KEY") != "":
		return "gemini-api-key"
	case m.Getenv("CLOUD_SHELL") == "true" || m.Getenv("GEMINI_CLI_USE_COMPUTE_ADC") == "true":
		return "compute-default-credentials"
	}
	return ""
}

// keyStored reports whether the program may have stored a key that the user typed in:
// in a file, or in a keychain, which on Linux is reached through the session's bus.
func keyStored(m inject.Machine) bool {
	return runtime.GOOS != "linux" || m.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" || exists(filepath.Join(geminiDir(m), "gemini-credentials.json"))
}

// fromEnvFile returns a variable's value in the .env file that the program reads: the
// nearest at or above the folder, else the one in the home folder.
func fromEnvFile(m inject.Machine, dir string, trusted bool, name string) string {
	for dir := range inject.Upwards(inject.RealPath(dir)) {
		if file := filepath.Join(dir, ".gemini", ".env"); trusted && exists(file) {
			return valueIn(file, name)
		}
		if file := filepath.Join(dir, ".env"); exists(file) {
			return valueIn(file, name)
		}
	}
	if file := filepath.Join(geminiDir(m), ".env"); trusted && exists(file) {
		return valueIn(file, name)
	}
	return valueIn(filepath.Join(filepath.Dir(geminiDir(m)), ".env"), name)
}

// valueIn returns the value in a line NAME=value of an .env file.
func valueIn(file, name string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	lines := bufio.NewScanner(bytes.NewReader(b))
	for lines.Scan() {
		line := strings.TrimPrefix(strings.TrimSpace(lines.Text()), "export ")
		key, value, ok := strings.Cut(line, "=")
		if value = strings.Trim(value, " \t\"'"); ok && strings.TrimSpace(key) == name && value != "" {
			return value
		}
	}
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
