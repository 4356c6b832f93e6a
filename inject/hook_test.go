package inject_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"cortext/inject"
	"cortext/inject/claude"
	"cortext/inject/gemini"
)

// TestHookRefuses checks that no adapter takes bad input for an event.
func TestHookRefuses(t *testing.T) {
	m := inject.Machine{Home: "/home", Getenv: func(string) string { return "" }}
	for _, agent := range agents() {
		event := map[string]string{"claude": "Stop", "gemini": "BeforeAgent", "opencode": "Answered"}[agent.Name()]
		for _, input := range []string{
			"", "x", "{", "[]", "null", `"s"`, `{}`, `{"session_id":""}`, `{"session_id":7}`, `{"session_id":"s","prompt":{}}`,
			`{"session_id":"s"}{`, strings.Repeat("[", 1_000_000), `{"session_id":"s","x":` + strings.Repeat(`{"a":`, 1_000_000),
		} {
			if e, err := agent.(inject.Hooks).Hook(m, event, []byte(input)); err == nil || e != (inject.Event{}) {
				t.Errorf("%s: %.40q is %+v, %v", agent.Name(), input, e, err)
			}
		}
	}
}

// TestReply checks that text arrives unchanged, however its bytes are split on the way. It
// reaches OpenCode as it is, through our plugin.
func TestReply(t *testing.T) {
	texts := []string{
		"", "plain", "\x00\x01\x1f\x7f \"quoted\" \\ \r\n\t", "<b>&amp;</b>", "\u2028\u2029", "Übung 决定了", "👍🏽 𝄞 \U0010ffff", "\uffff\ufffd\ue000",
		"bad \xff\xfe \xed\xa0\x80 \xf0\x9f\x91 end",
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b []byte
		for range r.IntN(30) {
			b = append(b, byte(r.IntN(256)))
			b = utf8.AppendRune(b, rune(r.IntN(0x110000)))
		}
		texts = append(texts, string(b))
	}
	for event, agent := range map[string]inject.Agent{"UserPromptSubmit": claude.Agent(), "BeforeAgent": gemini.Agent()} {
		for _, text := range texts {
			out := agent.(inject.Hooks).Reply(event, text)
			for _, b := range out {
				if b >= utf8.RuneSelf || b < ' ' {
					t.Fatalf("%s: the reply to %q holds %#x: %s", event, text, b, out)
				}
			}
			var got map[string]map[string]string
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%s: %q: %v: %s", event, text, err, out)
			}
			valid := string([]rune(text)) // JSON cannot express an invalid UTF-8 byte
			want := map[string]map[string]string{"hookSpecificOutput": {"hookEventName": event, "additionalContext": valid}}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: %q arrives as %q", event, text, got)
			}
		}
	}
}
