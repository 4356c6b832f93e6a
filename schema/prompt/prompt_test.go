package prompt

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTypes(t *testing.T) {
	want := []string{"brainstorm", "debug", "plan", "learn", "meeting", "review", "projectmanage", "chat"}
	if got := Types(); !slices.Equal(got, want) {
		t.Errorf("types %q", got)
	}
	Types()[0] = "changed"
	if Types()[0] != "brainstorm" {
		t.Error("a caller changed the types of the others")
	}
}

// TestFiles checks that every embedded file is used.
func TestFiles(t *testing.T) {
	entries, err := commands.ReadDir("commands")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.TrimSuffix(e.Name(), ".md"))
	}
	if want := slices.Sorted(slices.Values(append(Types(), "stopping"))); !slices.Equal(got, want) {
		t.Errorf("embedded are %q, not %q", got, want)
	}
}

func TestBuiltIn(t *testing.T) {
	pattern := regexp.MustCompile(`^description: [A-Z][^:#"\n]+\nargument-hint: "\[[^"\n]+\]"\n$`)
	for _, typ := range Types() {
		file, ok := BuiltIn(typ)
		if !ok {
			t.Errorf("%s has no text", typ)
			continue
		}
		front, body := Split(file)
		if !pattern.MatchString(front) {
			t.Errorf("%s: frontmatter %q", typ, front)
		}
		if !strings.HasPrefix(body, "# ") || !strings.HasSuffix(body, ".\n") || strings.Contains(body, "\r") {
			t.Errorf("%s: body %q", typ, body)
		}
		if n := strings.Count(body, "$ARGUMENTS"); n != 1 {
			t.Errorf("%s has %d placeholders", typ, n)
		}
		for _, word := range []string{"`" + typ + ".md`", "cortext new " + typ + " ", "`/workspace.stop-conversation`", "do not ask again", "let's stop here", "I need to go", "`cortext skip`", "about $REMIND_TURNS"} {
			if !strings.Contains(body, word) {
				t.Errorf("%s does not say %q", typ, word)
			}
		}
		// Text that an agent would expand or run, or that would open a block or fence of
		// ours.
		for _, word := range []string{"!`", "```", "@", "$1", "${", "<type>", "~", "["} {
			if strings.Contains(body, word) {
				t.Errorf("%s holds %q", typ, word)
			}
		}
		if n := strings.Count(file, "\n"); n > 35 {
			t.Errorf("%s has %d lines", typ, n)
		}
	}
	for _, typ := range []string{"", "stopping", "../prompt", "Brainstorm", "brainstorm.md"} {
		if file, ok := BuiltIn(typ); ok || file != "" {
			t.Errorf("%q has a text", typ)
		}
	}
}

func TestManages(t *testing.T) {
	for typed, want := range map[string]bool{
		"/workspace.resume 001": true, "/workspace.compact\n": true, "/workspace.plan the move": false, "/workspace.": false,
		"/exit": true, " /quit\n": true, "/clear": true, "/new": true, "/resume": true, "/sessions": true, "/rewind": true, "/compact": true, "/compress": true,
		"/compact keep the plan": false, "/new upload form": false, "/exits": false, "exit": false, "/review": false, "": false,
	} {
		if Manages(typed) != want {
			t.Errorf("%q: %v", typed, !want)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, c := range []struct{ file, front, body string }{
		{"", "", ""},
		{"body\n", "", "body\n"},
		{"---\na: b\n---\nbody\n", "a: b\n", "body\n"},
		{"---\n---\n\nbody", "", "\nbody"},
		{"---\na: b\n--- \t\nbody", "a: b\n", "body"},
		{"---\na: b\n---", "a: b\n", ""},
		{"---\r\na: b\r\n---\r\nbody\r\n", "a: b\n", "body\n"},
		{"\ufeff---\na: b\n---\nbody", "a: b\n", "body"},
		{"---\nnever closed\n", "", "---\nnever closed\n"},
		{"---\n", "", "---\n"},
		{"\n---\na: b\n---\n", "", "\n---\na: b\n---\n"},
		{"---\na: b\n----\nc\n---\nbody\n---\nmore", "a: b\n----\nc\n", "body\n---\nmore"},
	} {
		if front, body := Split(c.file); front != c.front || body != c.body {
			t.Errorf("%q: front %q, body %q", c.file, front, body)
		}
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct{ body, args, want string }{
		{"About $ARGUMENTS.", "x", "About x."},
		{"About $ARGUMENTS.", "", "About ."},
		{"$ARGUMENTS, $ARGUMENTS", "$ARGUMENTS $1 $& $$", "$ARGUMENTS $1 $& $$, $ARGUMENTS $1 $& $$"},
		{"$1 !`x` @file ${A} $ARGUMENT", "", "$1 !`x` @file ${A} $ARGUMENT"},
		{"Do it.\n", "", "Do it.\n"},
		{"Do it.", "now\nor never", "Do it.\n\nARGUMENTS: now\nor never"},
		{"Do it.\n\n", "now", "Do it.\n\nARGUMENTS: now"},
		{"a\r\n$ARGUMENTS\r\n", "b\r\nc", "a\nb\r\nc\n"},
	} {
		if got := Fill(c.body, c.args); got != c.want {
			t.Errorf("%q with %q: %q", c.body, c.args, got)
		}
	}
}

func TestHash(t *testing.T) {
	const want = "sha256:853ff93762a06ddbf722c4ebe9ddd66d8f63ddaea97f521c3ecc20da7c976020" // from sha256sum
	if got := Hash("hello, world\n"); got != want {
		t.Errorf("hash %s", got)
	}
	if Hash("a\nb\n") != Hash("a\r\nb\r\n") || Hash("a\n") == Hash("a") || Hash("a") == Hash("b") {
		t.Error("a hash tells what it must not, or not what it must")
	}
}

func TestDocument(t *testing.T) {
	const want = `# API Design Discussion

- Type: brainstorm
- Date: 2025-11-22

## Topic

## Ideas

## Decisions

## Open questions

## Next steps
`
	if got := Document("brainstorm", " API Design\n# \x1bDiscussion ", "2025-11-22"); got != strings.Replace(want, "Design", "Design #", 1) {
		t.Errorf("document is\n%s", got)
	}
	if got := Document("x", " \n", ""); !strings.HasPrefix(got, "# Untitled\n") {
		t.Errorf("without a title it begins with %.20q", got)
	}
	seen := map[string]string{}
	for _, typ := range append(Types(), "retrospective") {
		d := Document(typ, "T", "2025-11-22")
		for _, word := range []string{"# T\n", "- Type: " + typ + "\n", "- Date: 2025-11-22\n", "## Open questions\n"} {
			if !strings.Contains(d, word) {
				t.Errorf("%s: no %q in\n%s", typ, word, d)
			}
		}
		_, rest, _ := strings.Cut(d, "## ")
		if other := seen[rest]; other != "" && !(typ == "retrospective" && other == "chat") {
			t.Errorf("%s and %s have the same document", typ, other)
		}
		seen[rest] = typ
	}
}
