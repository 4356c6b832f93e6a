package secrets

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func redactJSON(t *testing.T, raw string) (string, Counts) {
	t.Helper()
	counts := Counts{}
	got, err := New().JSON([]byte(raw), counts)
	if err != nil {
		t.Fatalf("%.200q: %v", raw, err)
	}
	if !json.Valid(got) {
		t.Fatalf("%.200q became invalid: %.200q", raw, got)
	}
	return string(got), counts
}

// TestJSONSamples puts each sample into a string value and into a member name. However
// the string is spelled, the sample must be replaced as in a text.
func TestJSONSamples(t *testing.T) {
	r := New()
	for seed := range uint64(5) {
		for _, sm := range samples(seed) {
			for _, esc := range []func(string) string{quoted, spelled} {
				for _, around := range [][2]string{
					{`{ "command" : "`, "\" ,\n\"n\": 1.50e+3,\"s\":\"\\ud83d \\uD83D\\uDE00 \\/\" }"},
					{`{"b":1,"`, `": [null, true]}`},
					{`[[], {}, "`, `"]`},
					{`"`, `"`},
				} {
					raw := around[0] + esc(sm.text()) + around[1]
					want := around[0] + esc(sm.before) + markerStart + sm.rule + "]" + esc(sm.after) + around[1]
					got, err := r.JSON([]byte(raw), nil)
					if err != nil || string(got) != want {
						t.Fatalf("seed %d, rule %s:\n got %q (%v)\nwant %q", seed, sm.rule, got, err, want)
					}
				}
			}
		}
	}
}

func TestJSONNames(t *testing.T) {
	m := newMaker(7)
	key := m.of(alnum, 32)
	tests := []struct{ name, raw, want string }{
		{"password", `{"user":"me","password":"hunter2hunter2"}`, `{"user":"me","password":"[redacted: secret-assignment]"}`},
		{"api key", `{"api_key" : "` + key + `"}`, `{"api_key" : "[redacted: secret-assignment]"}`},
		{"spelled name", `{"api\u005fkey":"` + key + `"}`, `{"api\u005fkey":"[redacted: secret-assignment]"}`},
		{"array", `{"apiKeys":["` + key + `","short"]}`, `{"apiKeys":["[redacted: secret-assignment]","short"]}`},
		{"vendor", `{"DD_API_KEY":"` + m.of(hexLow, 32) + `"}`, `{"DD_API_KEY":"[redacted: datadog-key]"}`},
		{"aws", `{"SecretAccessKey":"` + m.of(b64, 40) + `"}`, `{"SecretAccessKey":"[redacted: aws-secret-key]"}`},
		{"quotes inside", `{"password":"ab\"cd'12\\34xy"}`, `{"password":"[redacted: secret-assignment]"}`},
		{"token in it", `{"token":"` + "gh" + "p_" + m.of(alnum, 36) + `"}`, `{"token":"[redacted: github-token]"}`},
		{"header", `{"headers":{"Authorization":"Bearer ` + key + `"}}`, `{"headers":{"Authorization":"Bearer [redacted: bearer-token]"}}`},
		{"basic header", `{"Authorization":"token ` + key + `"}`, `{"Authorization":"token [redacted: authorization-header]"}`},
	}
	for _, tt := range tests {
		got, counts := redactJSON(t, tt.raw)
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if len(counts) != 1 {
			t.Errorf("%s: counts %v", tt.name, counts)
		}
	}
}

func TestJSONUntouched(t *testing.T) {
	m := newMaker(8)
	for _, raw := range []string{
		`{}`, ` [ ] `, `""`, `null`, `-1.5E+7`, "\t{\"a\" : [1, 2.0 ,\n3e0]}\r\n",
		`{"s":"lone \ud83d and \uDE00\ud83d, pair \ud83d\ude00, \u0000\b\f\/ \\u0041"}`,
		`{"password":"string","token":null,"secret":false,"api_key":12345678901234567890}`,
		`{"password":"Enter your new password 1"}`, `{"max_tokens":4096,"nextToken":"` + m.of(alnum, 40) + `"}`,
		`{"token":"` + m.uuid() + `"}`, `{"secretName":"db-credentials-v2","passwordFile":"/run/secrets/db1"}`,
		`{"file_path":"/src/auth/token_store_2.go","old_string":"token := \"\"","new_string":"token := os.Getenv(\"T1\")"}`,
	} {
		in := []byte(raw)
		got, err := New().JSON(in, nil)
		if err != nil || string(got) != raw {
			t.Errorf("%s became %s (%v)", raw, got, err)
		} else if len(in) > 0 && &got[0] != &in[0] {
			t.Errorf("%s was copied", raw)
		}
	}
}

func TestJSONInnocents(t *testing.T) {
	r := New()
	for _, s := range innocents() {
		raw := []byte(`{"text":"` + quoted(s) + `","` + quoted(s) + `":[]}`)
		got, err := r.JSON(raw, nil)
		if err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%.200q became %.200q (%v)", raw, got, err)
		}
	}
}

func TestJSONInvalid(t *testing.T) {
	for _, raw := range []string{
		``, ` `, `{`, `[`, `"`, `"a`, `"\`, `"\x"`, `"\u12"`, `"\u12g4"`, `{"a"}`, `{"a":}`, `{a:1}`, `[1,]`, `[1 2]`, `{"a":1]`, `1 2`, `}`,
		strings.Repeat("[", 20_000),
	} {
		if got, err := New().JSON([]byte(raw), nil); err == nil {
			t.Errorf("%.40q was taken and became %.40q", raw, got)
		}
	}
}

// TestJSONKeepsSurrogates checks that lone surrogates keep their spelling when a secret
// in the same string is replaced.
func TestJSONKeepsSurrogates(t *testing.T) {
	key := "gh" + "p_" + newMaker(9).of(alnum, 36)
	raw := `{"a":"\uD83d ` + key + ` \ude00\/\u00e9é"}`
	want := `{"a":"\uD83d [redacted: github-token] \ude00\/\u00e9é"}`
	if got, _ := redactJSON(t, raw); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
