package gemini

import (
	"path"
	"strings"

	"cortext/schema/rawjson"
)

// This file extracts the content of messages. In a user's turn, the program adds its
// own text to what was typed.

// An item is a text, an attachment or a call of a message. Items are in the message's
// order.
type item struct {
	text string
	file *file
	call []byte // a functionCall
}

// A file is a file that the model received with a message.
type file struct {
	name, mediaType string
	data            []byte // base64, a JSON string; nil if only the text is known
	text            string
}

// spoken is the content of one message.
type spoken struct {
	items    []item
	thoughts []string
	results  [][]byte // functionResponses
	context  bool     // it begins with the program's own context
	unknown  []string // kinds of parts
}

func (s *spoken) texts() (list []string) {
	for _, i := range s.items {
		if i.file == nil && i.call == nil {
			list = append(list, i.text)
		}
	}
	return list
}

// The marks around files named with @ (0.61.0: REFERENCE_CONTENT_START and _END). A
// line with the file's name precedes each file.
const (
	refStart = "--- Content from referenced files ---"
	refEnd   = "--- End of content ---"
	refFile  = "Content from @"
)

// userSays extracts from a user's turn what was typed and attached. A turn with tool
// results also has their images, which are in toolCalls as well.
func userSays(content []byte) (s spoken) {
	list := parts(content)
	for _, p := range list {
		if p.response != nil {
			s.results = append(s.results, p.response)
		}
	}
	inside, name := false, ""
	for _, p := range list {
		switch {
		case p.response != nil || p.thought:
		case p.data != nil || p.file != nil:
			if len(s.results) == 0 {
				s.items = append(s.items, item{file: given(p, name)})
			}
			name = ""
		case !p.isText:
			if p.call == nil && p.unknown != "" {
				s.unknown = append(s.unknown, "user part "+p.unknown)
			}
		case inside:
			line := strings.TrimSpace(p.text)
			named, isName := strings.CutPrefix(line, refFile)
			switch {
			case line == refEnd:
				inside, name = false, ""
			case isName && !strings.Contains(named, "\n"):
				name = strings.TrimSuffix(named, ":")
			case name != "":
				s.items = append(s.items, item{file: &file{name: baseName(name), mediaType: "text/plain", text: p.text}})
				name = ""
			}
		case strings.TrimSpace(p.text) == refStart:
			inside = true
		default:
			s.addTyped(p.text)
		}
	}
	return s
}

// addTyped adds a text of a user's turn, without the program's additions.
func (s *spoken) addTyped(t string) {
	trimmed := strings.TrimSpace(t)
	switch {
	case strings.HasPrefix(trimmed, "<session_context>"):
		s.context = true
		_, rest, ok := cutLast(trimmed, "</session_context>")
		if t = strings.TrimLeft(rest, "\n"); !ok {
			t = ""
		}
	case strings.HasPrefix(trimmed, "<hook_context>"): // it contains no "<" (FACTS.md, "Hooks")
		_, rest, ok := strings.Cut(trimmed, "</hook_context>")
		if t = strings.TrimLeft(rest, "\n"); !ok {
			t = ""
		}
	case strings.HasPrefix(trimmed, "<system_note>") && strings.HasSuffix(trimmed, "</system_note>"),
		strings.HasPrefix(trimmed, "Here is the user's editor context as a JSON object."),
		strings.HasPrefix(trimmed, "Here is a summary of changes in the user's editor context"):
		return
	case strings.HasPrefix(trimmed, "User steering update:\n<user_input>\n"), strings.HasPrefix(trimmed, "User hints:\n<user_input>\n"):
		_, rest, _ := strings.Cut(trimmed, "<user_input>\n") // typed while the model was working
		t, _, _ = cutLast(rest, "\n</user_input>")
	}
	t, files := cutReference(t)
	if t != "" {
		s.items = append(s.items, item{text: t})
	}
	for i := range files {
		s.items = append(s.items, item{file: &files[i]})
	}
}

// cutLast is strings.Cut around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// cutReference removes the files named with @ from a text that holds all parts of a
// turn in one, as older versions wrote it.
func cutReference(s string) (string, []file) {
	i := strings.Index(s, refStart+"\n")
	if i < 0 || i > 0 && s[i-1] != '\n' || !strings.HasPrefix(strings.TrimLeft(s[i+len(refStart):], "\n"), refFile) {
		return s, nil
	}
	block, rest, found := cutLast(s[i+len(refStart):], refEnd)
	if !found {
		rest = ""
	}
	var files []file
	for _, b := range strings.Split("\n"+block, "\n"+refFile)[1:] {
		name, body, _ := strings.Cut(b, ":\n")
		files = append(files, file{name: baseName(name), mediaType: "text/plain", text: strings.Trim(body, "\n")})
	}
	return strings.TrimSuffix(s[:i], "\n") + rest, files
}

// baseName returns the last element of a path of either kind, so that no path of this
// machine remains.
func baseName(name string) string {
	if name == "" {
		return ""
	}
	return path.Base(strings.ReplaceAll(name, `\`, "/"))
}

// given makes an attachment from an inlineData or fileData part.
func given(p part, name string) *file {
	if p.data != nil {
		if n := rawjson.String(rawjson.Get(p.data, "displayName")); n != "" {
			name = n
		}
		return &file{name: baseName(name), mediaType: rawjson.String(rawjson.Get(p.data, "mimeType")), data: rawjson.Get(p.data, "data")}
	}
	if uri := rawjson.String(rawjson.Get(p.file, "fileUri")); uri != "" && name == "" {
		name = uri
	}
	return &file{name: name, mediaType: rawjson.String(rawjson.Get(p.file, "mimeType"))}
}

// modelSays extracts the texts, thoughts, images and calls of a model's message.
// Consecutive texts are pieces of one.
func modelSays(content []byte) (s spoken) {
	for _, p := range parts(content) {
		switch n := len(s.items); {
		case p.call != nil:
			s.items = append(s.items, item{call: p.call})
		case p.data != nil || p.file != nil:
			s.items = append(s.items, item{file: given(p, "")})
		case p.isText && p.thought:
			if p.text != binaryReceived {
				s.thoughts = append(s.thoughts, p.text)
			}
		case p.isText && p.text == "":
		case p.isText && n > 0 && s.items[n-1].text != "":
			s.items[n-1].text += p.text
		case p.isText:
			s.items = append(s.items, item{text: p.text})
		case p.unknown != "":
			s.unknown = append(s.unknown, "gemini part "+p.unknown)
		}
	}
	return s
}

// binaryReceived is the model reply that the program inserts when it passes on a file
// that a tool read (0.61.0).
const binaryReceived = "Binary content received. Proceeding with analysis."

// says returns the content of a message of any kind.
func says(kind unitKind, content []byte) spoken {
	switch kind {
	case userUnit:
		return userSays(content)
	case eventUnit:
		s := modelSays(content)
		if t := strings.Join(s.texts(), ""); isNoiseEvent(t) {
			return spoken{}
		}
		return s
	}
	return modelSays(content)
}

// isNoiseEvent reports whether an info, warning or error message is unrelated to the
// conversation: the program's own notices at startup.
func isNoiseEvent(s string) bool {
	for _, p := range []string{
		"Imported session from ", "Gemini CLI update available", "Update successful!", "Automatic update ",
		"Code Assist login required", "Waiting for authentication", "Authentication succeeded", "Conversation checkpoint ",
		"[FileCommandLoader]", "A new version of Gemini CLI is available",
	} {
		if strings.HasPrefix(strings.TrimSpace(s), p) {
			return true
		}
	}
	return false
}

// isCancelled reports whether s is the program's note that the user interrupted a
// turn.
func isCancelled(s string) bool {
	return s == "Request cancelled." || s == "User cancelled the request."
}

// isEvent reports whether the program wrote a user's turn itself, to make the model
// continue or to notify it. Such a turn displays the text of the turn before it.
func isEvent(texts []string, display []byte) bool {
	for _, t := range texts {
		switch {
		case strings.HasPrefix(t, "System: Potential loop detected."), strings.HasPrefix(t, "[System: You "),
			strings.HasPrefix(t, "Background execution update:\n<background_output>"):
		case display != nil && (t == "Please continue." || t == "System: Please continue."):
		default:
			return false
		}
	}
	return len(texts) > 0
}

// shown returns the text of displayContent.
func shown(display []byte) string {
	var sb strings.Builder
	for _, p := range parts(display) {
		if p.isText {
			sb.WriteString(p.text)
		}
	}
	return sb.String()
}

// The texts of the turns that replace a long history: the model's summary of it, and
// the answer to that.
const (
	summaryTag  = "<state_snapshot>"
	summaryAck  = "Got it. Thanks for the additional context!"
	placeholder = "[The previous response was interrupted before it completed.]"
)

// isSummary reports whether a user's turn is the summary of a compression. A typed turn may
// mention the tag, but does not begin with it. A model may put all of the summary in a code fence.
func isSummary(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "```") && strings.HasSuffix(s, "\n```") {
		_, fenced, _ := strings.Cut(s, "\n")
		s = strings.TrimSpace(fenced)
	}
	return strings.HasPrefix(s, summaryTag) || strings.HasPrefix(s, "<scratchpad>") && strings.Contains(s, summaryTag)
}

// thoughts lists the thoughts of a message as lines "subject: description".
func thoughts(raw []byte) (lines []string) {
	elements, _ := rawjson.Array(raw)
	for _, e := range elements {
		subject, description := rawjson.String(rawjson.Get(e, "subject")), rawjson.String(rawjson.Get(e, "description"))
		switch {
		case subject != "" && description != "":
			lines = append(lines, subject+": "+description)
		case subject+description != "":
			lines = append(lines, subject+description)
		}
	}
	return lines
}
