package forge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"html"
	"strconv"
	"strings"

	"cortext/cmd/internal/export/call"
	"cortext/schema"
)

// fold reads a folded part, after its first line: reasoning, a message of the system, or a
// call.
func (r *reader) fold(summary string) error {
	from := r.at
	if strings.HasPrefix(summary, "<i>Reasoning: ") {
		return r.reasoning(from)
	}
	blocks, err := r.blocks()
	if err != nil {
		return err
	}
	if strings.HasPrefix(summary, "<i>System: ") {
		m, err := r.current()
		if err != nil {
			return err
		}
		m.Role = schema.System
		for _, b := range blocks {
			r.texts = append(r.texts, b.text)
		}
		return nil
	}
	m := patterns().callSummary.FindStringSubmatch(summary)
	if m == nil {
		return damaged("line %d is not the first of a tool call", from)
	}
	id, err := r.call(html.UnescapeString(m[2]))
	if err != nil {
		return err
	}
	t := schema.Tool{ID: id, MessageID: r.message.ID, Name: html.UnescapeString(m[2]), Timestamp: r.message.Timestamp}
	fill(&t, html.UnescapeString(m[3]), blocks)
	if yes := m[1] == done; m[1] != none {
		t.Success = &yes
	}
	if m[1] == failed {
		fail(&t, html.UnescapeString(m[4]))
	}
	r.c.Tools = append(r.c.Tools, t)
	return nil
}

// fail records why a call failed, according to its outcome in words.
func fail(t *schema.Tool, outcome string) {
	if code := patterns().exitOutcome.FindStringSubmatch(outcome); code != nil {
		n, _ := strconv.Atoi(code[1])
		t.ExitCode = &n
	} else if outcome != "failed" {
		t.Error = outcome
	}
}

// reasoning reads the reasoning of a message. Without a number it belongs to the current
// message, if that has nothing yet.
func (r *reader) reasoning(from int) error {
	text, err := r.text(inMessage)
	if err != nil {
		return err
	}
	if l, _ := r.line(); l != foldEnd {
		return damaged("the folded part that begins in line %d has no end", from)
	}
	r.at++
	m, err := r.current()
	if err != nil {
		return err
	}
	if len(m.Blocks) > 0 || m.Reasoning != "" {
		r.begin(schema.Assistant, "", "")
		m = r.message
	}
	m.Reasoning = text
	return nil
}

// A block is a code block of ours.
type block struct{ language, text string }

// blocks reads the code blocks of a folded part and its end. Other lines, which somebody may
// have put there instead of an output, count as outputs.
func (r *reader) blocks() (list []block, err error) {
	from := r.at
	for {
		l, ok := r.line()
		if !ok || l != foldEnd && isOurs(l, inMessage) {
			return nil, damaged("the folded part that begins in line %d has no end", from)
		}
		r.at++
		m := patterns().fenceLine.FindStringSubmatch(l)
		switch {
		case l == foldEnd:
			return list, nil
		case l == "":
			continue
		case m == nil:
			list = append(list, block{"text", l})
			continue
		}
		first := r.at
		for l, ok = r.line(); ok && l != m[1]; l, ok = r.line() {
			r.at++
		}
		if !ok {
			return nil, damaged("the code block that begins in line %d has no end", first)
		}
		b := block{m[2], strings.Join(r.lines[first:r.at], "\n")}
		if strings.HasSuffix(b.text, "\n") { // it ends in an empty line
			b.text += "\n"
		}
		if patterns().cutLine.MatchString(b.text) && len(b.text) > mostShown/2 {
			r.cut++
		}
		list = append(list, b)
		r.at++
	}
}

// fill sets the input and the output of a call.
func fill(t *schema.Tool, argument string, blocks []block) {
	var outputs []string
	in := &callInput{}
	kind := schema.KindOf(t.Name)
	for i, b := range blocks {
		switch {
		case b.language == "text":
			outputs = append(outputs, b.text)
		case kind == schema.ShellTool && b.language == "sh":
			in.add("command", b.text)
		case kind == schema.EditTool && b.language == "diff":
			in.add("file_path", argument)
			in.edits(b.text)
		case kind == schema.PatchTool && b.language == "diff":
			in.add("patch", b.text)
			if t.Input = in.raw(); call.Describe(t, "").Argument != argument {
				in.add("path", argument)
			}
		case kind == schema.WriteTool && i == 0 && b.language == extension(argument):
			in.add("file_path", argument)
			in.add("content", cmp.Or(b.text, "\n")) // an empty file has no block
		case b.language == "json" && json.Valid([]byte(b.text)):
			var whole bytes.Buffer
			if json.Compact(&whole, []byte(b.text)) == nil {
				in = &callInput{whole: whole.Bytes()}
			}
		default:
			in.add("text", b.text)
		}
	}
	if in.whole == nil && len(in.members) == 0 && argument != "" {
		in.add("file_path", argument)
	}
	t.Input = in.raw()
	t.Output = strings.Join(outputs, "\n")
}

// A callInput is the input of a call.
type callInput struct {
	whole   []byte // the whole of it, if that is known
	members []member
}

type member struct {
	name  string
	value any
}

func (in *callInput) add(name string, value any) {
	in.members = append(in.members, member{name, value})
}

// edits adds the edits whose diff this is, one for each hunk.
func (in *callInput) edits(diff string) {
	type edit struct {
		Before string `json:"old_string"`
		After  string `json:"new_string"`
	}
	var all []edit
	var before, after []string
	end := func() {
		all = append(all, edit{joined(before), joined(after)})
		before, after = nil, nil
	}
	for l := range strings.SplitSeq(diff, "\n") {
		switch {
		case l == nextHunk:
			end()
		case strings.HasPrefix(l, "-"):
			before = append(before, l[1:])
		case strings.HasPrefix(l, "+"):
			after = append(after, l[1:])
		default:
			l = strings.TrimPrefix(l, " ")
			before, after = append(before, l), append(after, l)
		}
	}
	end()
	if len(all) > 1 {
		in.add("edits", all)
		return
	}
	in.add("old_string", all[0].Before)
	in.add("new_string", all[0].After)
}

// joined joins lines. It ends an empty last line with a newline, or that line would vanish.
func joined(lines []string) string {
	text := strings.Join(lines, "\n")
	if n := len(lines); n > 0 && lines[n-1] == "" {
		text += "\n"
	}
	return text
}

// raw returns the input as JSON, or nil if nothing is known of it.
func (in *callInput) raw() schema.Raw {
	if in.whole != nil {
		return in.whole
	}
	if len(in.members) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for i, m := range in.members {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		_ = enc.Encode(m.name) // to memory, of texts
		b.Truncate(b.Len() - 1)
		b.WriteByte(':')
		_ = enc.Encode(m.value)
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return b.Bytes()
}
