package opencode

import (
	"strconv"

	"cortext/inject"
	"cortext/schema"
	"cortext/schema/rawjson"
)

// The JSON of messages and parts is the same in all three stores. In a database, the
// ids are in columns of their own (FACTS.md, "Records of a transcript").

// A row is a stored message with its parts.
type row struct {
	place
	created int64 // in milliseconds; 0 if info has the time
	info    []byte
	parts   []piece
}

// A place is the position of a message in its session: at is a time in a database,
// else a number from 1.
type place struct {
	at int64
	id string
}

type piece struct {
	id  string
	raw []byte
}

// info is a message without its parts.
type info struct {
	Role, Mode         string
	Model, Provider    string
	Finish, Error      string
	Created, Completed int64  // in milliseconds
	Summary            bool   // a compaction: it summarizes what precedes it
	Title              string // of a prompt in old versions, derived from its text
	Usage              *schema.Usage
}

func parseInfo(raw []byte) info {
	var i info
	for _, m := range members(raw) {
		switch m.Name {
		case "role":
			i.Role = rawjson.String(m.Value)
		case "mode", "agent": // synonyms; a user's message has only agent
			if i.Mode == "" {
				i.Mode = rawjson.String(m.Value)
			}
		case "providerID":
			i.Provider = rawjson.String(m.Value)
		case "modelID":
			i.Model = rawjson.String(m.Value)
		case "model":
			if id := rawjson.String(rawjson.Get(m.Value, "modelID")); id != "" && i.Model == "" {
				i.Model = id
			}
		case "finish":
			i.Finish = rawjson.String(m.Value)
		case "error":
			i.Error = rawjson.String(rawjson.Get(m.Value, "name"))
		case "time":
			i.Created, i.Completed = inject.Number(rawjson.Get(m.Value, "created")), inject.Number(rawjson.Get(m.Value, "completed"))
		case "summary": // in a user's message it is an object
			i.Summary = inject.IsTrue(m.Value)
			if i.Title = rawjson.String(rawjson.Get(m.Value, "body")); i.Title == "" {
				i.Title = rawjson.String(rawjson.Get(m.Value, "title"))
			}
		case "tokens":
			i.Usage = usage(m.Value)
		}
	}
	return i
}

// usage adds up what OpenCode counts separately: input excludes tokens from the
// cache, output excludes reasoning.
func usage(raw []byte) *schema.Usage {
	cache := rawjson.Get(raw, "cache")
	read := inject.Count(cache, "read")
	return inject.NewUsage(inject.Count(raw, "input")+read+inject.Count(cache, "write"), inject.Count(raw, "output")+inject.Count(raw, "reasoning"), read)
}

// A part is a piece of a message.
type part struct {
	ID, Type            string
	Text, Prompt        string
	Synthetic, Ignored  bool // not typed; shown and not sent
	Overflow, Continues bool // of compactions
	Mime, Filename, URL string
	Tool, CallID        string
	State               state
}

// A state is the status and result of a call.
type state struct {
	Status        string
	Input         []byte
	Output, Error string
	Start, End    int64
	Exit          *int
	Session       string // of the sub-agent that it started
	Partial       string // output so far
	Attachments   []part
}

func parsePart(p piece) part {
	v := part{ID: p.id}
	for _, m := range members(p.raw) {
		switch m.Name {
		case "id":
			if v.ID == "" {
				v.ID = rawjson.String(m.Value)
			}
		case "type":
			v.Type = rawjson.String(m.Value)
		case "text":
			v.Text = rawjson.String(m.Value)
		case "prompt":
			v.Prompt = rawjson.String(m.Value)
		case "synthetic":
			v.Synthetic = inject.IsTrue(m.Value)
		case "ignored":
			v.Ignored = inject.IsTrue(m.Value)
		case "overflow":
			v.Overflow = inject.IsTrue(m.Value)
		case "metadata":
			v.Continues = inject.IsTrue(rawjson.Get(m.Value, "compaction_continue"))
		case "mime":
			v.Mime = rawjson.String(m.Value)
		case "filename":
			v.Filename = rawjson.String(m.Value)
		case "url":
			v.URL = rawjson.String(m.Value)
		case "tool":
			v.Tool = rawjson.String(m.Value)
		case "callID":
			v.CallID = rawjson.String(m.Value)
		case "state":
			v.State = parseState(m.Value)
		}
	}
	return v
}

func parseState(raw []byte) state {
	var s state
	for _, m := range members(raw) {
		switch m.Name {
		case "status":
			s.Status = rawjson.String(m.Value)
		case "input":
			s.Input = m.Value
		case "output":
			s.Output = textOrRaw(m.Value)
		case "error":
			s.Error = textOrRaw(m.Value)
		case "time":
			s.Start, s.End = inject.Number(rawjson.Get(m.Value, "start")), inject.Number(rawjson.Get(m.Value, "end"))
		case "metadata":
			s.Session, s.Partial = rawjson.String(rawjson.Get(m.Value, "sessionId")), rawjson.String(rawjson.Get(m.Value, "output"))
			if code, err := strconv.Atoi(string(rawjson.Get(m.Value, "exit"))); err == nil {
				s.Exit = &code
			}
		case "attachments":
			list, _ := rawjson.Array(m.Value)
			for _, a := range list {
				s.Attachments = append(s.Attachments, parsePart(piece{raw: a}))
			}
		}
	}
	return s
}

func members(object []byte) []rawjson.Member {
	if len(object) == 0 || object[0] != '{' {
		return nil
	}
	list, err := rawjson.Members(object)
	if err != nil {
		return nil
	}
	return list
}

// textOrRaw returns a string's text, or any other value verbatim.
func textOrRaw(raw []byte) string {
	if len(raw) > 0 && raw[0] != '"' && string(raw) != "null" {
		return string(raw)
	}
	return rawjson.String(raw)
}
