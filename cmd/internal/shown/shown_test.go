package shown

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestJSON: JSON for a terminal has nothing that controls it, and the same values.
func TestJSON(t *testing.T) {
	const text = "bell\a esc\x1b[31m del\x7f csi\u009b31m \u202eoverride \u2066isolate 日本語 👩\u200d👧 \"\\ line\nnext\u2028"
	plain, err := json.Marshal(map[string]string{text: text})
	if err != nil {
		t.Fatal(err)
	}
	safe := string(JSON(append(plain, '\n')))
	if safe == string(plain) || strings.ContainsAny(safe, "\a\x1b\x7f\u009b\u202e\u2066\u2028") || !strings.HasSuffix(safe, "}\n") || !strings.Contains(safe, "日本語 👩\u200d👧") {
		t.Errorf("%q", safe)
	}
	var back map[string]string
	if err := json.Unmarshal([]byte(safe), &back); err != nil || back[text] != text {
		t.Errorf("%q: %v", back, err)
	}
	if got := string(JSON([]byte("\"\xff\""))); got != `"\ufffd"` {
		t.Errorf("a broken byte becomes %s", got)
	}
}
