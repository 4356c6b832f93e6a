package jsonl

import "bytes"

// Joined reports whether lines may hold a record that does not begin a line, because a writer
// died in the middle of a line and another one appended to it. It takes a tenth of the time
// of [Split]. See [JoinedAt] for when false is certain.
func Joined(lines []byte) bool {
	for _, pair := range [][]byte{[]byte(`{"`), []byte("}{")} {
		for at := 0; ; at++ {
			i := bytes.Index(lines[at:], pair)
			if i < 0 {
				break
			}
			if at += i; JoinedAt(lines, at) {
				return true
			}
		}
	}
	return false
}

// JoinedAt reports whether a record that does not begin a line may begin at or after a pair of
// bytes in lines, which is {" or }{. If it is false for all of them, there is certainly none
// if records begin with an id and one of the names in beginsRecord, as ours do.
//
// Quotation marks in texts are escaped, and an object in a record follows a bracket, a comma
// or a colon. A brace before a quotation mark may also be the end of a text such as "x{".
func JoinedAt(lines []byte, at int) bool {
	rest := lines[at+2:]
	var next byte
	if len(rest) > 0 {
		next = rest[0]
	}
	if lines[at] == '}' { // what another program wrote may begin with a space
		return next == ' ' || next == '\t' || next == '\r'
	}
	if at == 0 || lines[at-1] == '\n' {
		return false
	}
	switch lines[at-1] {
	case '[', ',', ':':
		return beginsRecord(rest)
	}
	switch next {
	case ',', ':', ']', '}':
		return false
	}
	return true
}

// beginsRecord reports whether an object is a message or a tool call, by its first two
// members. It gets what follows the first quotation mark.
func beginsRecord(object []byte) bool {
	id, ok := bytes.CutPrefix(object, []byte(`id":"`))
	_, rest, _ := bytes.Cut(id, []byte(`"`))
	return ok && (bytes.HasPrefix(rest, []byte(`,"parent_id":`)) || bytes.HasPrefix(rest, []byte(`,"message_id":`)) || bytes.HasPrefix(rest, []byte(`,"timestamp":`)))
}
