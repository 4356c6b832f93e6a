package agenttest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ResumedLine is the line by which a user text is recognized as the payload of a resumed
// conversation.
const ResumedLine = "[RESUMED CONVERSATION]"

// HangText is the first piece of a turn that hangs. Agents draw complete lines, so it is
// one.
const HangText = "hanging\n\n"

var (
	directive = regexp.MustCompile(`(?s)@@(TOOL|THINK|SAY|BIG|SLOW|HANG)(?:\s+(.*?))?@@`)
	// Text that agents add to a user's message: Claude Code and OpenCode the first form,
	// Gemini CLI the others.
	reminder = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>|<session_context>.*?</session_context>|<hook_context>.*?</hook_context>`)
)

// plan is one model turn.
type plan struct {
	think string
	text  string
	tools []call
	slow  time.Duration
	hang  bool
}

type call struct {
	name  string
	input json.RawMessage
}

// planFor reads the turn to answer with from the request's directives. A side request is
// never scripted, even if it quotes the user's text.
func planFor(r Request) (plan, error) {
	text, at := r.newestUserText()
	p := plan{text: echo(text)}
	if r.schema != nil {
		raw, err := json.Marshal(leastJSON(r.schema))
		if err != nil {
			return plan{}, fmt.Errorf("agenttest: answer as JSON: %w", err)
		}
		return plan{text: string(raw)}, nil
	}
	if !r.Main() || isResumed(text) {
		return p, nil
	}
	var calls []call
	said := false
	for _, d := range directive.FindAllStringSubmatch(text, -1) {
		value := d[2]
		switch d[1] {
		case "TOOL":
			name, input, _ := strings.Cut(value, " ")
			if strings.TrimSpace(input) == "" {
				input = "{}"
			}
			if !json.Valid([]byte(input)) {
				return plan{}, fmt.Errorf("agenttest: input of %q is not JSON: %q", name, input)
			}
			calls = append(calls, call{name: name, input: json.RawMessage(input)})
		case "THINK":
			p.think = value
		case "SAY":
			p.text, said = value, true
		case "BIG":
			n, err := strconv.Atoi(value)
			if err != nil || n < 0 {
				return plan{}, fmt.Errorf("agenttest: bytes of @@BIG@@: %q", value)
			}
			p.text, said = big(n), true
		case "SLOW":
			seconds, err := strconv.ParseFloat(value, 64)
			if err != nil || seconds < 0 {
				return plan{}, fmt.Errorf("agenttest: seconds of @@SLOW@@: %q", value)
			}
			p.slow = time.Duration(seconds * float64(time.Second))
		case "HANG":
			p.hang = true
		}
	}
	done := callingTurns(r.messages[at:])
	switch {
	case done < len(calls):
		// The turns before the last call only call tools.
		p.tools, p.hang = calls[done:done+1], false
		p.text = "I will call " + calls[done].name + "."
	case done > 0 && !said:
		p.text = fmt.Sprintf("All %d tool call(s) done.", done)
	}
	return p, nil
}

// newestUserText returns the user's own newest text and the index of the message after
// it. Consecutive user messages arrive merged into one with several blocks, so it looks
// at blocks, not messages.
func (r Request) newestUserText() (text string, after int) {
	for i := len(r.messages) - 1; i >= 0; i-- {
		if r.messages[i].Role != "user" {
			continue
		}
		blocks := r.messages[i].Content
		for j := len(blocks) - 1; j >= 0; j-- {
			if blocks[j].Type != "text" {
				continue
			}
			own := strings.TrimSpace(reminder.ReplaceAllString(blocks[j].Text, ""))
			if r.Protocol == OpenAI {
				own = unquote(own)
			}
			if own != "" {
				return own, i + 1
			}
		}
	}
	return "", len(r.messages)
}

// unquote reverses what "opencode run" does to an argument that contains a space: it adds
// quotes around it and a backslash before each quote in it.
func unquote(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	return strings.ReplaceAll(text[1:len(text)-1], `\"`, `"`)
}

// callingTurns counts the model turns that call a tool.
func callingTurns(list []message) (n int) {
	for _, m := range list {
		if m.Role == "assistant" && m.calls() {
			n++
		}
	}
	return n
}

// isResumed reports whether the text contains [ResumedLine] as a line.
func isResumed(text string) bool {
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == ResumedLine {
			return true
		}
	}
	return false
}

// echo returns the answer to a text without directives.
func echo(text string) string {
	runes := []rune(strings.ReplaceAll(text, "\n", " "))
	return "ok: " + string(runes[:min(60, len(runes))])
}

// big returns n bytes of text.
func big(n int) string {
	const unit = "0123456789abcdef"
	return strings.Repeat(unit, n/len(unit)+1)[:n]
}
