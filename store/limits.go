package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"

	"cortext/schema"
	"cortext/schema/clip"
)

// Limits say how much of tool calls and attachments the conversations' folders hold.
type Limits struct {
	Tools       ToolData
	Output      int  // with [ToolsTrimmed]: the most bytes of an output in the log
	Attachments bool // attachments are also in the conversation's folder, where git commits them
}

// ToolData says how much of a tool call its log holds. The rest is below
// .workspace/local/kept, as an attachment of the call.
type ToolData int

const (
	ToolsFull    ToolData = iota // input and output
	ToolsTrimmed                 // the input, and the beginning and end of a long output
	ToolsOff                     // neither; only the name, the outcome and the first line of an error
)

// LeastOutput is the smallest limit of an output, in bytes: the words that replace the rest
// must fit.
const LeastOutput = 256

// The names of the attachments that hold in full what a log lacks.
const (
	wholeOutput = "output.txt"
	wholeInput  = "input.json"
)

// attachmentsDir is in .workspace/local/kept and in the folders of conversations.
const attachmentsDir = "attachments"

// AttachmentName returns the path of the attachment with the given SHA-256 on this machine.
// ok is false if sum is not a SHA-256 in hex: a log may contain anything.
func AttachmentName(sum string) (name string, ok bool) {
	if b, err := hex.DecodeString(sum); err != nil || len(b) != sha256.Size {
		return "", false
	}
	return path.Join(keptDir, attachmentsDir, sum[:2], sum), true
}

// AttachmentNames returns the paths at which an attachment of a conversation may be: on
// this machine, and in the folders of the conversation and of its sub-agents.
func (s *Store) AttachmentNames(e Entry, sum string) (names []string) {
	name, ok := AttachmentName(sum)
	if !ok {
		return nil
	}
	names = append(names, name)
	conv, err := s.Open(e)
	if err != nil {
		return names
	}
	defer conv.Close()
	beside := attachmentsDir + "/" + sum
	for _, f := range conv.folders() {
		names = append(names, f.file(beside))
		subs, _ := f.subagents() // a folder that cannot be listed has no attachment to read
		for _, sub := range subs {
			names = append(names, f.subagent(sub).file(beside))
		}
	}
	return names
}

// limits returns the limits that hold now.
func (o *Options) limits() Limits {
	if o.Limits == nil {
		return Limits{}
	}
	return o.Limits()
}

// A limiter applies limits to calls. keep keeps the whole of a text under a name.
type limiter struct {
	Limits
	keep func(name, text string) error
}

// limit moves the parts of a prepared call that the log must not hold into attachments of
// the call.
func (l limiter) limit(t *schema.Tool) error {
	switch l.Tools {
	case ToolsFull:
		return nil
	case ToolsOff:
		if len(t.Input) > 0 {
			if _, err := l.attach(t, wholeInput, "application/json", string(t.Input)); err != nil {
				return err
			}
			t.Input = nil
		}
		if t.Output != "" {
			if _, err := l.attach(t, wholeOutput, "text/plain", t.Output); err != nil {
				return err
			}
			t.Output = ""
		}
	case ToolsTrimmed:
		most := max(l.Output, LeastOutput)
		if len(t.Output) <= most {
			return nil
		}
		kept, err := l.attach(t, wholeOutput, "text/plain", t.Output)
		if err != nil {
			return err
		}
		t.Output = trimmed(t.Output, most, kept)
	}
	t.Tokens = countTool(t)
	return nil
}

// trimmed returns the beginning and the end of an output, up to most bytes, with words
// between them that say where the whole is.
func trimmed(output string, most int, kept string) string {
	words := func(n int) string { return fmt.Sprintf("\n[%d bytes left out; the whole is in %s]\n", n, kept) }
	room := most - len(words(len(output)))
	head, tail := clip.Head(output, room-room/3), clip.Tail(output, room/3)
	return head + words(len(output)-len(head)-len(tail)) + tail
}

// attach keeps a text on this machine, as an attachment of a call. It returns the name of
// the file.
func (l limiter) attach(t *schema.Tool, name, mediaType, text string) (kept string, err error) {
	sum := hexSum(text)
	kept, _ = AttachmentName(sum)
	if err := l.keep(kept, text); err != nil {
		return "", err
	}
	t.Attachments = append(t.Attachments, schema.Attachment{MediaType: mediaType, Bytes: int64(len(text)), SHA256: sum, Name: name})
	return kept, nil
}

// keepWhole writes the file of an attachment, unless it is there.
func (s *Files) keepWhole(name, text string) error {
	is, err := s.Exists(name)
	if err != nil || is {
		return err
	}
	return s.WriteFile(name, []byte(text))
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// wholeOf returns the attachment that holds in full what a log lacks of a call.
func wholeOf(t *schema.Tool, name string) (sum string) {
	for i := range t.Attachments {
		if t.Attachments[i].Name == name {
			sum = t.Attachments[i].SHA256
		}
	}
	return sum
}

// likeStored returns t with the input, output and attachments of the stored record if t
// holds no more than these: a setting limits what is written of the same call now.
func likeStored(t schema.Tool, stored *schema.Tool) schema.Tool {
	limited := false
	same := func(name, whole string) bool {
		sum := wholeOf(&t, name)
		if sum == "" {
			return false
		}
		limited = sum == wholeOf(stored, name) || sum == hexSum(whole)
		return limited
	}
	if same(wholeOutput, stored.Output) {
		t.Output = stored.Output
	}
	if same(wholeInput, string(stored.Input)) {
		t.Input = stored.Input
	}
	if limited {
		t.Attachments, t.Tokens = stored.Attachments, stored.Tokens
	}
	return t
}

// attachBeside copies the attachments of a record into the folder, as far as this machine
// has them.
func (f sessionFolder) attachBeside(list []schema.Attachment) error {
	for i := range list {
		kept, ok := AttachmentName(list[i].SHA256)
		if !ok {
			continue
		}
		to := f.file(attachmentsDir + "/" + list[i].SHA256)
		if is, err := f.s.Exists(to); err != nil || is {
			if err != nil {
				return err
			}
			continue
		}
		data, err := f.s.ReadFile(kept)
		if err != nil {
			continue // this machine does not have it, or it is too large to be read
		}
		if err := f.s.WriteFile(to, data); err != nil {
			return err
		}
	}
	return nil
}
