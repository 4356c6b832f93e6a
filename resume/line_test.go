package resume

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/tokens"
)

func TestOneLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                                 "",
		"  API  design \n":                 "API  design",
		"a\nb\r\n\tc":                      "a b c",
		"a \u2028 b\u0085c\vd\fe\x1cf":     "a b c d e f",
		"\x1b[31mred\x00\x7f\u009b":        `\x1b[31mred\x00\x7f\x9b`,
		"\u202eabc\u2066\u200b\ufeff":      `\u202eabc\u2066\u200b\ufeff`,
		"👩‍👩‍👧 日本語 é":                      "👩‍👩‍👧 日本語 é",
		"a\xffb\xed\xa0\xbdc":              "a\ufffdb\ufffdc",
		"[RESUMED CONVERSATION]":           "(RESUMED CONVERSATION)",
		"x [END RESUMED CONTEXT] [y]":      "x (END RESUMED CONTEXT) [y]",
		"[ end\nResumed context ]":         "( end Resumed context )",
		"[RE\u200bSUMED CONVERSATION]":     `(RE\u200bSUMED CONVERSATION)`,
		"[[RESUMED]]":                      "((RESUMED)]",
		"[R.E.S.U.M.E.D]":                  "(R.E.S.U.M.E.D)",
		"[RESUME the work] [UNRESUMED]":    "[RESUME the work] [UNRESUMED]",
		"a[0] [not resumed] [x":            "a[0] [not resumed] [x",
		"[a] [RESUMED":                     "[a] (RESUMED",
		"[" + strings.Repeat(".", 40):      "[" + strings.Repeat(".", 40),
		"[RESUME\u0301D] [ＲＥＳＵＭＥＤ] [a]":    "(RESUME\u0301D) (ＲＥＳＵＭＥＤ) [a]",
		"［END RESUMED CONTEXT］ ［a］":        "(END RESUMED CONTEXT) ［a］",
		"[END\u3164RESUMED\u1160 CONTEXT]": "(END\\u3164RESUMED\u1160 CONTEXT)",
		"[1] Resumed [2] end":              "[1] Resumed [2] end",
		"【end resumed】 [rësumed]":          "(end resumed) [rësumed]",
		"x [END" + strings.Repeat("\n", 17) + "RESUMED CONTEXT]":   "x (END RESUMED CONTEXT)",
		"[END" + strings.Repeat("\t", 1000) + "RESUMED CONTEXT]":   "(END RESUMED CONTEXT)",
		"[END" + strings.Repeat("\u200b", 20) + "RESUMED CONTEXT]": "(END" + strings.Repeat(`\u200b`, 20) + "RESUMED CONTEXT)",
		strings.Repeat("~", 15) + " ~~":                            strings.Repeat("~", 15) + " ~~",
		"a" + strings.Repeat("~", 16) + "b~":                       "a" + strings.Repeat("~", 15) + "…b~",
		"[" + strings.Repeat("[", 3) + "]":                         "[[[[]",
	} {
		if got := oneLine(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, s := range []string{"", "a", "the quick brown fox jumps", strings.Repeat("日本語 ", 50), strings.Repeat("~", 5000), strings.Repeat("\x01", 900), strings.Repeat("🜁", 90)} {
		for limit := range 40 {
			got := cutTokens(s, limit)
			if !tokens.Exceed(s, limit) {
				if got != s {
					t.Errorf("%.20q was cut to %q although it has no more than %d tokens", s, got, limit)
				}
				continue
			}
			head, ok := strings.CutSuffix(got, "…")
			if !ok || !strings.HasPrefix(s, head) || !utf8.ValidString(got) || tokens.Count(got) > limit+2 {
				t.Errorf("%.20q cut to %d tokens is %q", s, limit, got)
			}
		}
	}
	if tokens.Exceed("a b c", 3) || !tokens.Exceed("a b c", 2) {
		t.Error("Exceed does not count")
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ id, folder, want string }{
		{"01jd9k3v7m8q2r5t6w0x1y2z3a", "001-chat-x", "cortext show --all 01jd9k3v7m8q2r5t6w0x1y2z3a"},
		{"", "001-brainstorm-api-design", "cortext show --all 001-brainstorm-api-design"},
		{"$(id)", "001-x", "cortext show --all 001-x"},
		{"", "a b'; rm -rf $HOME", `cortext show --all 'a b'\''; rm -rf $HOME'`},
		{"", "-rf", "cortext show --all -- -rf"},
		{"", "-r f", "cortext show --all -- '-r f'"},
		{"", "plané", "cortext show --all 'plané'"},
		{"", "a\nb", "cortext show --all 'a b'"},
		{"", "", "cortext list"},
		{"", strings.Repeat("a'", 30), "cortext list"},
	} {
		if got := commandLine(&schema.Session{ID: c.id, ConversationID: c.folder}, "show", " --all"); got != c.want {
			t.Errorf("%q %q: %s", c.id, c.folder, got)
		}
	}
}

func TestAgo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour:                     "just now",
		0:                              "just now",
		59 * time.Second:               "just now",
		time.Minute:                    "1 minute ago",
		119 * time.Second:              "1 minute ago",
		59 * time.Minute:               "59 minutes ago",
		time.Hour:                      "1 hour ago",
		2*time.Hour + 59*time.Minute:   "2 hours ago",
		23*time.Hour + 59*time.Minute:  "23 hours ago",
		24 * time.Hour:                 "1 day ago",
		29*24*time.Hour + 23*time.Hour: "29 days ago",
		30 * 24 * time.Hour:            "1 month ago",
		364 * 24 * time.Hour:           "12 months ago",
		365 * 24 * time.Hour:           "1 year ago",
		290 * 365 * 24 * time.Hour:     "290 years ago",
	} {
		if got := Ago(noon, noon.Add(-d)); got != want {
			t.Errorf("%v: %q, not %q", d, got, want)
		}
		if want == "just now" {
			want = "0 minutes ago"
		}
		if got := ago(noon, noon.Add(-d)); got != want {
			t.Errorf("in a block, %v: %q, not %q", d, got, want)
		}
	}
	if got := Ago(noon, time.Time{}); got != "an unknown time ago" {
		t.Errorf("no time: %q", got)
	}
	if got := Ago(noon, time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC)); got != "292 years ago" {
		t.Errorf("longer than a duration can be: %q", got)
	}
}

func TestLastActive(t *testing.T) {
	s := &schema.Session{LastActive: "2025-11-22T10:00:00Z", CreatedAt: "2025-11-20T10:00:00Z"}
	messages := []schema.Message{{Timestamp: "2025-11-21T10:00:00Z"}, {}}
	for _, want := range []string{"2 hours ago", "1 day ago", "2 days ago", "an unknown time ago"} {
		if got := Ago(noon, lastActive(s, messages)); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		switch {
		case s.LastActive != "":
			s.LastActive = ""
		case messages != nil:
			messages = nil
		default:
			s.CreatedAt = ""
		}
	}
}
