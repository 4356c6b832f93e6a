package notes

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
const Untitled = schema.Untitled

const (
	maxTitle       = 60
	maxDescription = 200
	fewWords       = 4 // arguments of so few words are a prompt, whatever the command
)

// Title names the conversation after its first prompt, in at most 60 runes. The
// arguments of a /workspace command count as a prompt. Other commands, greetings and
// goodbyes count only if there is nothing better.
func Title(messages []schema.Message) string {
	title, _ := titleOf(messages)
	return title
}

// Named reports whether messages after these change neither [Title] nor [Description].
func Named(messages []schema.Message) bool {
	_, titled := titleOf(messages)
	_, described := descriptionOf(messages)
	return titled && described
}

// titleOf also reports whether further messages do not change the title.
func titleOf(messages []schema.Message) (title string, final bool) {
	fallback := ""
	for _, m := range messages {
		if m.Role != schema.User {
			continue
		}
		text := m.Content
		if name, arguments := slashCommand(m.Content); name != "" {
			if doesNoWork(name) || !strings.HasPrefix(name, "workspace.") && len(strings.Fields(arguments)) < fewWords {
				if !doesNoWork(name) {
					fallback = cmp.Or(fallback, cut(stripMarkup(name+" "+arguments), maxTitle))
				}
				continue
			}
			text = unquoted(arguments)
		}
		if isSmallTalk(text) {
			continue
		}
		if topic := topicOf(text); topic != "" {
			return cut(topic, maxTitle), true
		}
	}
	return cmp.Or(fallback, Untitled), false
}

// unquoted removes quotation marks around the arguments as a whole, and what "opencode run
// --command" writes before those within.
func unquoted(arguments string) string {
	n := len(arguments)
	if n < 2 || !strings.ContainsAny(arguments[:1], `"'`) || arguments[n-1] != arguments[0] {
		return arguments
	}
	mark, inner := arguments[:1], arguments[1:n-1]
	if strings.Contains(strings.ReplaceAll(inner, `\`+mark, ""), mark) {
		return arguments
	}
	return strings.ReplaceAll(inner, `\`+mark, mark)
}

// Description returns the first prompt as typed, on one line of at most 200 runes, or
// "" if there is none.
func Description(messages []schema.Message) string {
	text, _ := descriptionOf(messages)
	return text
}

// descriptionOf also reports whether further messages do not change the description.
func descriptionOf(messages []schema.Message) (text string, final bool) {
	fallback := ""
	for _, m := range messages {
		if m.Role != schema.User {
			continue
		}
		text := cut(oneLine(dropBlocks(headAndTail(m.Content))), maxDescription)
		name, _ := slashCommand(m.Content)
		if name != "" && doesNoWork(name) || isSmallTalk(m.Content) {
			fallback = cmp.Or(fallback, text)
		} else if text != "" {
			return text, true
		}
	}
	return fallback, false
}

// slashCommand splits a typed command, "/workspace.plan the move", into its name and
// arguments. A path is not a command.
func slashCommand(content string) (name, arguments string) {
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

// doesNoWork reports whether a command does no work: it controls the agent's program
// or manages the conversation.
func doesNoWork(name string) bool {
	if typ, ok := strings.CutPrefix(name, "workspace."); ok {
		return slices.Contains(prompt.Managing(), typ)
	}
	name = name[strings.LastIndexAny(name, ".:")+1:]
	return listed("managing commands", strings.ToLower(name))
}

// isSmallTalk reports whether a prompt only opens or closes a conversation.
func isSmallTalk(content string) bool {
	text := shortPrompt(content)
	return isShellLine(strings.TrimSpace(content)) || text == "" && len(content) <= maxClosing || listed("greetings", text) || isFarewell(text)
}

// maxClosing is the longest prompt that may count as only opening or closing a
// conversation.
const maxClosing = 80

// shortPrompt returns a short prompt in lower case without surrounding punctuation,
// or "" for a long one.
func shortPrompt(content string) string {
	if len(content) > maxClosing {
		return ""
	}
	return strings.TrimFunc(strings.ToLower(oneLine(content)), func(r rune) bool { return !wordRune(r) })
}

func isFarewell(text string) bool {
	return listed("farewells", strings.NewReplacer(",", "", "’", "'").Replace(text))
}

// topicOf returns what a prompt is about: its first meaningful sentence without
// courtesies, or "" if there is none.
func topicOf(prompt string) string {
	units := sentences(prompt)
	for len(units) > 1 && (isLeadIn(units[0]) || isSmallTalk(units[0].text) || len(units[0].text) < 3) {
		units = units[1:]
	}
	if len(units) == 0 {
		// A prompt of only code or logs: use its first line.
		for l := range strings.Lines(prompt) {
			if strings.HasPrefix(l, "[Image") || strings.HasPrefix(l, "[Pasted") || fenceMark(strings.TrimSpace(l)) != "" {
				continue
			}
			if t := trimTitle(stripMarkup(strings.Trim(l, " \t\r\n#>|`~"))); strings.ContainsFunc(t, unicode.IsLetter) {
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

// isLeadIn reports whether a sentence only announces the subject of the prompt:
// "Implement the following plan:".
func isLeadIn(s sentence) bool {
	const mostWords = 8
	return s.unclosed && len(strings.Fields(s.text)) <= mostWords && containsEntry("announcements", strings.ToLower(s.text))
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
