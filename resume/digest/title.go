package digest

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/schema"
	"cortext/schema/prompt"
)

// Untitled is the title of an empty conversation.
const Untitled = "untitled"

const (
	maxTitle       = 60
	maxDescription = 200
	fewWords       = 4 // arguments of so few words are a prompt, whatever the command
)

// Title names the conversation after its first prompt, in at most 60 runes. The
// arguments of a /workspace command count as a prompt. Other commands, greetings and
// goodbyes count only if there is nothing better.
func Title(messages []schema.Message) string {
	fallback := ""
	for _, m := range messages {
		if m.Role != schema.User {
			continue
		}
		text := m.Content
		if name, arguments := slash(m.Content); name != "" {
			if idle(name) || !strings.HasPrefix(name, "workspace.") && len(strings.Fields(arguments)) < fewWords {
				if !idle(name) {
					fallback = cmp.Or(fallback, cut(plain(name+" "+arguments), maxTitle))
				}
				continue
			}
			text = unquoted(arguments)
		}
		if saysNothing(text) {
			continue
		}
		if topic := topicOf(text); topic != "" {
			return cut(topic, maxTitle)
		}
	}
	return cmp.Or(fallback, Untitled)
}

// unquoted removes quotation marks around the arguments as a whole.
func unquoted(arguments string) string {
	if n := len(arguments); n > 1 && strings.ContainsAny(arguments[:1], `"'`) && strings.IndexByte(arguments[1:], arguments[0]) == n-2 {
		return arguments[1 : n-1]
	}
	return arguments
}

// Description returns the first prompt as typed, on one line of at most 200 runes, or
// "" if there is none.
func Description(messages []schema.Message) string {
	fallback := ""
	for _, m := range messages {
		if m.Role != schema.User {
			continue
		}
		text := cut(oneLine(dropBlocks(ends(m.Content))), maxDescription)
		name, _ := slash(m.Content)
		if name != "" && idle(name) || saysNothing(m.Content) {
			fallback = cmp.Or(fallback, text)
		} else if text != "" {
			return text
		}
	}
	return fallback
}

// slash splits a typed command, "/workspace.plan the move", into its name and
// arguments. A path is not a command.
func slash(content string) (name, arguments string) {
	content = strings.TrimSpace(content)
	if !strings.HasPrefix(content, "/") {
		return "", ""
	}
	name, _, _ = strings.Cut(content[1:min(len(content), maxText)], "\n")
	if name, _, _ = strings.Cut(name, " "); !matches("command names", name) {
		return "", ""
	}
	return name, strings.TrimSpace(content[1+len(name):])
}

// idle reports whether a command does no work: it controls the agent's program or
// manages the conversation.
func idle(name string) bool {
	if typ, ok := strings.CutPrefix(name, "workspace."); ok {
		return slices.Contains(prompt.Managing(), typ)
	}
	name = name[strings.LastIndexAny(name, ".:")+1:]
	return listed("managing commands", strings.ToLower(name))
}

// saysNothing reports whether a prompt only opens or closes a conversation.
func saysNothing(content string) bool {
	text := bare(content)
	return shellLine(strings.TrimSpace(content)) || text == "" && len(content) <= maxClosing || listed("greetings", text) || farewell(text)
}

// maxClosing is the longest prompt that may count as only opening or closing a
// conversation.
const maxClosing = 80

// bare returns a short prompt in lower case without surrounding punctuation, or ""
// for a long one.
func bare(content string) string {
	if len(content) > maxClosing {
		return ""
	}
	return strings.TrimFunc(strings.ToLower(oneLine(content)), func(r rune) bool { return !wordRune(r) })
}

func farewell(text string) bool {
	return listed("farewells", strings.NewReplacer(",", "", "’", "'").Replace(text))
}

// topicOf returns what a prompt is about: its first meaningful sentence without
// courtesies, or "" if there is none.
func topicOf(prompt string) string {
	units := sentences(prompt)
	for len(units) > 1 && (leadIn(units[0]) || saysNothing(units[0].text) || len(units[0].text) < 3) {
		units = units[1:]
	}
	if len(units) == 0 {
		// A prompt of only code or logs: use its first line.
		for l := range strings.Lines(prompt) {
			if strings.HasPrefix(l, "[Image") || strings.HasPrefix(l, "[Pasted") || fenceMark(strings.TrimSpace(l)) != "" {
				continue
			}
			if t := trimTitle(plain(strings.Trim(l, " \t\r\n#>|`~"))); strings.ContainsFunc(t, unicode.IsLetter) {
				return t
			}
		}
		return ""
	}
	text := trimTitle(units[0].text)
	if text != "" && units[0].unclosed && len(units) > 1 && utf8.RuneCountInString(text) < maxTitle*2/3 {
		if next := trimTitle(units[1].text); next != "" {
			text += ": " + next
		}
	}
	return text
}

// leadIn reports whether a sentence only announces the subject of the prompt:
// "Implement the following plan:".
func leadIn(s sentence) bool {
	const mostWords = 8
	return s.unclosed && len(strings.Fields(s.text)) <= mostWords && has("announcements", strings.ToLower(s.text))
}

// trimTitle removes what a title does not need: forms of address, courtesies, and the
// full stop.
func trimTitle(s string) string {
	kept := slices.DeleteFunc(strings.Fields(s), func(w string) bool { return strings.Contains(w, "://") })
	if len(kept) > 1 {
		s = strings.Join(kept, " ")
	} else {
		s = patterns()["addresses"].ReplaceAllString(s, "")
	}
	for again := true; again; {
		again = false
		for _, list := range []string{"courtesies", "requests"} {
			p := patterns()[list].FindString(s)
			if p == "" || len(s) <= len(p)+3 {
				continue
			}
			r, n := utf8.DecodeRuneInString(s[len(p):])
			s, again = string(unicode.ToUpper(r))+s[len(p)+n:], true
			if list == "requests" {
				s = strings.TrimSuffix(s, "?")
			}
		}
	}
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,:;…。，：；", r) })
}
