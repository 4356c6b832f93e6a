package opencode

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"cortext/inject"
	"cortext/inject/setup"
	"cortext/schema"
)

// A content collects the content of one message's parts.
type content struct {
	w *walk
	*item
}

// A userPrompt is what the parts of a user message say about it.
type userPrompt struct {
	typed     []string // texts that the user typed, verbatim
	synthetic []string // texts that OpenCode wrote
	other     bool     // something else from the user
	compacts  bool     // it requests a compaction
	overflow  bool
	continues bool // it was written after a compaction, to continue
}

func (w *walk) prompt(parts []part) userPrompt {
	var p userPrompt
	for _, v := range parts {
		switch v.Type {
		case "text":
			switch {
			case v.Ignored:
			case v.Synthetic:
				p.synthetic = append(p.synthetic, v.Text)
				p.continues = p.continues || v.Continues
			default:
				p.typed = append(p.typed, v.Text)
			}
		case "subtask": // a command for a sub-agent
			p.typed = append(p.typed, v.Prompt)
		case "file", "agent", "tool", "reasoning":
			p.other = true
		case "compaction":
			p.compacts, p.overflow = true, v.Overflow
		default:
			w.unknownPart("user", v.Type)
		}
	}
	return p
}

// unknownPart counts parts of unknown kinds. The known kinds that we skip add nothing
// to a history.
func (w *walk) unknownPart(role, typ string) {
	switch typ {
	case "step-start", "step-finish", "snapshot", "patch", "retry", "agent", "subtask", "compaction":
		return
	}
	w.losses.Unknown(role + " part " + inject.KindName(typ))
}

// user adds what the user typed, and the files that came with it.
func (c content) user(parts []part) {
	for _, v := range parts {
		switch v.Type {
		case "text":
			if !v.Synthetic && !v.Ignored {
				c.AddText(c.w.typed(v.Text))
			}
		case "subtask":
			c.AddText(c.w.typed(v.Prompt))
		case "file":
			c.addFile(v)
		case "tool":
			c.addCall(v)
		case "reasoning":
			c.AddReasoning(v.Text)
		}
	}
}

// event adds what OpenCode wrote on the user's behalf.
func (c content) event(texts []string) {
	for _, s := range texts {
		if !isBookkeeping(s) {
			c.AddText(s)
		}
	}
}

// isBookkeeping reports whether a text that nobody typed only keeps the model going
// (1.18.33).
func isBookkeeping(s string) bool {
	return strings.HasSuffix(s, "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.") ||
		s == "Summarize the task tool output above and continue with your task." ||
		strings.HasPrefix(s, "<system-reminder>")
}

// assistant adds an answer: OpenCode stores one message per step of a turn.
func (c content) assistant(i info, parts []part) {
	for _, v := range parts {
		switch v.Type {
		case "text":
			if !v.Ignored {
				c.AddText(v.Text)
			}
		case "reasoning":
			c.AddReasoning(v.Text)
		case "file":
			c.addFile(v)
		case "tool":
			c.addCall(v)
		default:
			c.w.unknownPart("assistant", v.Type)
		}
	}
	c.Model, c.Usage = i.Model, i.Usage
	switch {
	case i.Error == "MessageAbortedError":
		c.FinishReason = "interrupted"
	case i.Error != "":
		c.FinishReason = i.Error
	default:
		c.FinishReason = i.Finish
	}
	if i.Completed > i.Created && i.Created > 0 {
		c.DurationMS = i.Completed - i.Created
	}
}

func (c content) addCall(v part) {
	id := c.w.callID(v, c.ID, len(c.ToolCalls))
	s := v.State
	t := schema.Tool{
		ID: id, MessageID: c.ID, Name: v.Tool, Input: schema.Raw(inject.CompactJSON(s.Input)), Timestamp: cmp.Or(stamp(s.Start), c.Timestamp), ExitCode: s.Exit,
	}
	if s.End > s.Start && s.Start > 0 {
		t.DurationMS = s.End - s.Start
	}
	outcome(&t, s)
	var blobs []inject.Blob
	for _, f := range s.Attachments {
		a := attachment(f)
		t.Attachments = append(t.Attachments, a.Attachment)
		blobs = append(blobs, a.Blobs...)
	}
	if s.Session != "" && s.Session != c.w.src.meta.ID {
		c.started = append(c.started, inject.Subagent{NativeID: s.Session, ToolCallID: id})
	}
	c.AddCall(t, blobs...)
}

// outcome fills in the result of a call. A command with an exit code other than 0
// failed, although OpenCode calls it completed. The output so far of an unfinished or
// failed one is in its metadata.
func outcome(t *schema.Tool, s state) {
	ok := true
	switch s.Status {
	case "completed", "success": // success: before 1.0
		t.Output = s.Output
		if s.Exit != nil && *s.Exit != 0 {
			ok = false
			t.Error = inject.Failure(s.Output)
		}
	case "error":
		ok = false
		t.Output, t.Error = s.Error, inject.Failure(s.Error)
		if s.Partial != "" {
			t.Output = s.Partial + "\n\n" + s.Error
		}
	default: // pending, running
		t.Output = cmp.Or(s.Output, s.Partial)
		return
	}
	t.Success = &ok
}

// stamp formats a time in milliseconds; an invalid time gives an empty string.
func stamp(ms int64) schema.Time {
	if ms <= 0 || ms >= 253402300800000 { // the year 10000
		return ""
	}
	return schema.NewTime(time.UnixMilli(ms))
}

// commandMark is the beginning of a generated command's text. OpenCode stores only the
// expansion of a command.
const commandMark = "<!-- cortext: /"

// typedLine is the end of a command's text. What was typed after its name follows.
const typedLine = "\n" + setup.TypedMark + "\n"

// commandOf returns what was typed if a text is the expansion of one of our commands.
// In an earlier form, the arguments were in the first line and could span several
// lines: that mark ends where --> ends a line.
func commandOf(s string) (string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t\r\n"), commandMark)
	for from := 0; ok; {
		i := strings.Index(rest[from:], "-->")
		if i < 0 {
			break
		}
		end := from + i
		from = end + len("-->")
		tail := rest[from:]
		if tail != "" && tail[0] != '\n' && !strings.HasPrefix(tail, "\r\n") {
			continue
		}
		command := "/" + strings.TrimRight(rest[:end], " \t\r\n")
		if _, arguments, ok := strings.Cut(tail, typedLine); ok && !strings.ContainsAny(command, " \t\n") {
			if arguments = strings.TrimSpace(arguments); arguments != "" {
				command += " " + arguments
			}
		}
		return command, true
	}
	return "", false
}

// typed returns a user's text without what cortext itself put there.
func (w *walk) typed(s string) string {
	if line, ok := commandOf(s); ok {
		return line
	}
	s, _ = w.o.Stripped(s)
	return s
}

// isOurs reports whether a message is nothing but a payload of cortext. It recognizes a
// payload by its id, which a launch derives from the text, by the session's metadata,
// which a fork keeps, or by its shape.
func (w *walk) isOurs(id string, p userPrompt) bool {
	texts := p.typed
	if len(texts) == 0 {
		texts = p.synthetic // if the session shows something else instead
	}
	if len(texts) == 0 || p.other {
		return false
	}
	for _, s := range texts {
		if isPayloadMessage(id, s) || w.src.meta.Payload != "" && w.src.meta.Payload == inject.PayloadID(s) {
			continue
		}
		if strings.TrimSpace(s) == "" || strings.TrimSpace(w.typed(s)) != "" {
			return false
		}
	}
	return true
}

// callID returns the agent's id of a call, made unique for model servers that restart
// their count.
func (w *walk) callID(v part, message string, n int) string {
	id := cmp.Or(v.CallID, v.ID, message+"#"+strconv.Itoa(n))
	if !w.calls[id] && (!inject.IsCounted(id) || !w.calledBefore(id)) {
		w.calls[id] = true
		return id
	}
	unique := id + "#" + v.ID
	for w.calls[unique] {
		unique += "+"
	}
	w.calls[unique] = true
	return unique
}
