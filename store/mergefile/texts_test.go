package mergefile

import (
	"fmt"
	"strings"
	"testing"
)

// What one side redacted does not come back from the other one, whatever else it changed.
func TestRedact(t *testing.T) {
	for _, test := range []struct{ name, base, a, b, wantA, wantB string }{
		{"no marker", "one\n", "two\n", "three\n", "two\n", "three\n"},
		{
			"the line goes on", "code Mango88 here\n", "code [redacted: x] here\n", "code Mango88 here, and more\n",
			"code [redacted: x] here\n", "code [redacted: x] here, and more\n",
		},
		{
			"another line has it", "a\ncode Mango88\nb\n", "a\ncode [redacted: x]\nb\n", "a\ncode Mango88\nb\nMango88 again\n",
			"a\ncode [redacted: x]\nb\n", "a\ncode [redacted: x]\nb\n[redacted: x] again\n",
		},
		{
			"a paragraph before it", "A\n\ncode Mango88\n\nB\n", "A\n\nC\n\ncode [redacted: x]\n\nB\n", "A\n\ncode Mango88!\n\nB\n",
			"A\n\nC\n\ncode [redacted: x]\n\nB\n", "A\n\ncode [redacted: x]!\n\nB\n",
		},
		{
			"several lines", "a\nBEGIN\nkey\nEND\nb\n", "a\n[redacted: pem]\nb\n", "a\nBEGIN\nkey\nEND\nb, c\n",
			"a\n[redacted: pem]\nb\n", "a\n[redacted: pem]\nb, c\n",
		},
		{
			"a whole line beside an edit", "sk-12345\nold\n", "[redacted: x]\nnew\n", "sk-12345\nold\nmore\n",
			"[redacted: x]\nnew\n", "[redacted: x]\nold\nmore\n",
		},
		{
			"two texts of one line", "Mango88 and Heron99\n", "[redacted: x] and Heron99\n", "Mango88 and [redacted: y]\n",
			"[redacted: x] and [redacted: y]\n", "[redacted: x] and [redacted: y]\n",
		},
		{
			"both edit, too", "Mango88\nHeron99\n", "begin\n[redacted: x]\nHeron99\n", "Mango88!\n[redacted: y]\n",
			"begin\n[redacted: x]\n[redacted: y]\n", "[redacted: x]!\n[redacted: y]\n",
		},
		{
			"without base", "", "code [redacted: x] here\nmine\n", "code Mango88 here\nyours\n",
			"code [redacted: x] here\nmine\n", "code [redacted: x] here\nyours\n",
		},
		{
			"a text that is too short", "it is a b\n", "it is [redacted: x] b\n", "it is a b, at all\n",
			"it is [redacted: x] b\n", "it is a b, at all\n",
		},
	} {
		var base []byte
		if test.base != "" {
			base = []byte(test.base)
		}
		_, a, b := Redact(base, []byte(test.a), []byte(test.b))
		if string(a) != test.wantA || string(b) != test.wantB {
			t.Errorf("%s: %q and %q, want %q and %q", test.name, a, b, test.wantA, test.wantB)
		}
		_, b, a = Redact(base, []byte(test.b), []byte(test.a))
		if string(a) != test.wantA || string(b) != test.wantB {
			t.Errorf("%s, the other way round: %q and %q, want %q and %q", test.name, a, b, test.wantA, test.wantB)
		}
	}
}

// Of a document with a redacted text in each line, all are found, also beside a line that was
// edited.
func TestRedactMany(t *testing.T) {
	const lines = 8000
	var base, a []string
	for i := range lines {
		base = append(base, fmt.Sprintf("line %d key=Mango%d and more\n", i, i))
		a = append(a, fmt.Sprintf("line %d key=[redacted: x] and more\n", i))
	}
	a[lines/2] = "edited\n"
	older := []byte(strings.Join(base, ""))
	_, _, b := Redact(older, []byte(strings.Join(a, "")), append([]byte("b\n"), older...))
	if left := strings.Count(string(b), "Mango"); left > 1 {
		t.Errorf("%d lines are not redacted", left)
	}
}

// An attachment changes only by redaction, so a merge of two versions of it is never left to a
// person. The order of the sides does not matter.
func TestMergeAttachment(t *testing.T) {
	for _, test := range []struct{ name, base, a, b, want string }{
		{"one side", "Mango88 and Heron99\n", "[redacted: x] and Heron99\n", "Mango88 and Heron99\n", "[redacted: x] and Heron99\n"},
		{"one line", "Mango88 and Heron99\n", "[redacted: x] and Heron99\n", "Mango88 and [redacted: y]\n", "[redacted: x] and [redacted: y]\n"},
		{"two lines", "Mango88\nHeron99\n", "[redacted: x]\nHeron99\n", "Mango88\n[redacted: y]\n", "[redacted: x]\n[redacted: y]\n"},
		{"one text by two names", "Mango88\n", "[redacted: x]\n", "[redacted: y]\n", "[redacted: x]\n"},
		{"nobody knows where", "Mango88\n", "[redacted: x]\n[redacted: y]\n", "Other\n[redacted: y]\n", "[redacted: x]\n[redacted: y]\n"},
	} {
		const name = "conversations/2025-11-22/1030-chat-x-hv37/.session/attachments/0f"
		for _, sides := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			got, err := Merge(name, []byte(test.base), []byte(sides[0]), []byte(sides[1]))
			if err != nil || string(got) != test.want {
				t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
			}
			again, err := Merge(name, []byte(sides[0]), got, []byte(sides[0]))
			if err != nil || string(again) != string(got) {
				t.Errorf("%s, merged again: %q, %v; want %q", test.name, again, err, got)
			}
		}
	}
}
