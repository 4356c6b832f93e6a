package gemini

import (
	"strconv"
	"strings"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// An outcome is the result of a tool call.
type outcome struct {
	name        string
	output      string
	failed      bool // it returned an error instead of an output
	there       bool
	attachments []schema.Attachment
	blobs       []inject.Blob
}

// outcomeOf reads the result of the call with the id native from the parts of a result:
// one functionResponse, and the images and texts after it. Results of other calls in the
// same turn may be among them (0.61.0: updateMessagesFromHistory). n counts the
// responses without an id; it is -1 if the id identifies the response.
func outcomeOf(list []part, native string, n int) (o outcome) {
	responses := 0
	for _, p := range list {
		if p.response != nil {
			responses++
		}
	}
	mine := responses == 0
	var texts []string
	for _, p := range list {
		switch {
		case p.response != nil:
			id := rawjson.String(rawjson.Get(p.response, "id"))
			switch {
			case n >= 0 && id == "":
				mine = n == 0
				n--
			case n < 0 && native != "":
				mine = id == native || id == "" || responses == 1
			default:
				mine = n < 0
			}
			if !mine {
				continue
			}
			o.there, o.name = true, rawjson.String(rawjson.Get(p.response, "name"))
			s, failed := response(rawjson.Get(p.response, "response"))
			o.failed = o.failed || failed
			texts = append(texts, s)
			for _, q := range parts(rawjson.Get(p.response, "parts")) { // Gemini 3 returns images this way
				o.attach(q)
			}
		case !mine:
		case p.data != nil || p.file != nil:
			o.there = true
			o.attach(p)
		case p.isText && p.text != "":
			o.there = true
			texts = append(texts, p.text)
		}
	}
	o.output = strings.Join(texts, "\n\n")
	return o
}

func (o *outcome) attach(p part) {
	if p.data == nil && p.file == nil {
		return
	}
	a := attachment(given(p, ""))
	o.attachments = append(o.attachments, a.Attachment)
	o.blobs = append(o.blobs, a.Blobs...)
}

// response returns the text of a functionResponse: its output or error if it has one,
// else its whole text.
func response(raw []byte) (s string, failed bool) {
	if v := rawjson.Get(raw, "error"); v != nil && rawjson.Get(raw, "output") == nil {
		if s = rawjson.String(v); s == "" {
			s = string(v)
		}
		return s, true
	}
	if v := rawjson.Get(raw, "output"); len(v) > 0 {
		if v[0] == '"' {
			return rawjson.String(v), false
		}
		return string(v), false
	}
	return string(raw), false
}

// finish writes an outcome into a tool record. The status is the one that the program
// recorded. If there is no result, the program's display text takes its place.
func finish(t *schema.Tool, k call, o outcome) {
	t.Output, t.Attachments = o.output, o.attachments
	if !o.there && len(k.display) > 0 {
		if t.Output = rawjson.String(k.display); k.display[0] != '"' && string(k.display) != "null" {
			t.Output = string(k.display)
		}
	}
	switch {
	case k.status == "success":
		t.Success = new(true)
	case k.status == "error" || k.status == "cancelled", k.status == "" && o.failed:
		t.Success = new(false)
		t.Error = inject.Failure(t.Output)
	case k.status == "" && o.there:
		t.Success = new(true)
	}
	if k.name == "run_shell_command" && t.Success != nil {
		t.ExitCode = exitCode(t.Output)
	}
}

// exitCode returns a shell command's exit code. The lines after its output name it if
// it is not 0, and in older versions always. A command that went to the background or
// was cancelled has none.
func exitCode(output string) *int {
	const mark = "\nExit Code: "
	if i := strings.LastIndex(output, mark); i >= 0 {
		digits, _, _ := strings.Cut(output[i+len(mark):], "\n")
		code, err := strconv.Atoi(strings.TrimSpace(digits))
		if err != nil {
			return nil // "(none)"
		}
		return &code
	}
	s := strings.TrimPrefix(output, "<untrusted_context>\n")
	if !strings.HasPrefix(s, "Output: ") || strings.Contains(s, "\nSignal: ") || strings.Contains(s, "\nError: ") {
		return nil
	}
	return new(int)
}
