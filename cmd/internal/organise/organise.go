// Package organise changes what users record about conversations: tags, notes, the archive
// flag and free-form values.
package organise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"cortext/cmd/internal/workspace"
	"cortext/schema"
	"cortext/schema/rawjson"
	"cortext/store"
)

// Limits on what one change may add. Lists show tags, and session.json is read often.
const (
	maxTag   = 100      // bytes of a tag
	maxNotes = 64 << 10 // bytes of all notes of a conversation
	maxKey   = 100      // bytes of a key
	maxValue = 8 << 10  // bytes of a value
)

// An InputError reports text that cannot be stored.
type InputError struct{ Why string }

func (e *InputError) Error() string { return e.Why }

func invalid(format string, args ...any) error { return &InputError{fmt.Sprintf(format, args...)} }

// A Change changes a session. It returns an [*InputError] if the result would be invalid.
type Change func(*schema.Session) error

// Apply makes a change to a conversation. It returns the entry after the change, and whether
// anything is different. A change that alters nothing writes nothing.
func Apply(w *workspace.Workspace, e store.Entry, change Change) (after store.Entry, changed bool, err error) {
	s, err := w.Edit(e, func(s *schema.Session) error {
		before, err := s.Marshal()
		if err == nil {
			err = change(s)
		}
		if err != nil {
			return err
		}
		now, err := s.Marshal()
		changed = !bytes.Equal(before, now)
		return err
	})
	if err != nil {
		return e, false, err
	}
	e.Session = s
	return e, changed, nil
}

// ParseTags splits a comma-separated list of tags and checks each.
func ParseTags(list string) (tags []string, err error) {
	for _, tag := range strings.Split(list, ",") {
		tag = strings.Join(strings.Fields(tag), " ")
		switch {
		case tag == "":
			continue
		case len(tag) > maxTag:
			return nil, invalid("a tag has %d bytes, at most %d are allowed", len(tag), maxTag)
		case !printable(tag):
			return nil, invalid("the tag %q has a character that cannot be shown", tag)
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	if len(tags) == 0 {
		return nil, invalid("the tag is empty")
	}
	return tags, nil
}

// printable reports whether a text is valid UTF-8 without control characters or characters
// that change the writing direction.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	})
}

// Tag adds tags. It ignores tags that differ from an existing one only in case.
func Tag(tags []string) Change {
	return func(s *schema.Session) error {
		all := slices.Clone(s.Tags)
		for _, tag := range tags {
			if !slices.ContainsFunc(all, func(t string) bool { return strings.EqualFold(t, tag) }) {
				all = append(all, tag)
			}
		}
		if len(all) > schema.MaxSessionMembers {
			return invalid("a conversation has at most %d tags", schema.MaxSessionMembers)
		}
		s.Tags = all
		return nil
	}
}

// Untag removes tags, whatever their case. Tags that a conversation does not have are ignored.
func Untag(tags []string) Change {
	return func(s *schema.Session) error {
		s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(have string) bool {
			return slices.ContainsFunc(tags, func(t string) bool { return strings.EqualFold(t, have) })
		})
		return nil
	}
}

// SetArchived sets or clears the archive flag. Lists, and a resume without a query, leave out
// archived conversations.
func SetArchived(archived bool) Change {
	return func(s *schema.Session) error {
		s.Archived = archived
		return nil
	}
}

// Note adds a paragraph to the notes, unless they end with it.
func Note(text string) Change {
	return func(s *schema.Session) error {
		text, err := noteText(text)
		if err == nil && text == "" {
			err = invalid("the note is empty")
		}
		if err != nil {
			return err
		}
		if s.Notes == text || strings.HasSuffix(s.Notes, "\n\n"+text) {
			return nil
		}
		return setNotes(s, strings.TrimSpace(s.Notes+"\n\n"+text))
	}
}

// ReplaceNotes replaces all notes; an empty text removes them.
func ReplaceNotes(text string) Change {
	return func(s *schema.Session) error {
		text, err := noteText(text)
		if err != nil {
			return err
		}
		return setNotes(s, text)
	}
}

// noteText returns the text of a note with newlines as line endings, without space around it.
// Newlines and tabs are the only control characters that a note may have.
func noteText(text string) (string, error) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	return text, freeText("the note", text)
}

// freeText checks text of several lines: it is valid UTF-8, and its only control characters
// are newlines and tabs.
func freeText(what, text string) error {
	if !utf8.ValidString(text) {
		return invalid("%s is not valid UTF-8", what)
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return invalid("%s has the control character %U; of these, only newlines and tabs are allowed", what, r)
		}
	}
	return nil
}

func setNotes(s *schema.Session, text string) error {
	if len(text) > maxNotes {
		return invalid("the notes would have %d bytes, at most %d are allowed", len(text), maxNotes)
	}
	s.Notes = text
	return nil
}

// A Value is a free-form value of a conversation, in its metadata. An empty Text removes
// the key.
type Value struct{ Key, Text string }

// ParseValue parses key=value.
func ParseValue(arg string) (v Value, err error) {
	key, text, ok := strings.Cut(arg, "=")
	key = strings.TrimSpace(key)
	switch {
	case !ok:
		return v, invalid("%q is not of the form key=value", arg)
	case key == "" || len(key) > maxKey || !printable(key):
		return v, invalid("the key %q must have 1 to %d bytes that can be shown", key, maxKey)
	case len(text) > maxValue:
		return v, invalid("the value of %s has %d bytes, at most %d are allowed", key, len(text), maxValue)
	}
	return Value{key, text}, freeText("the value of "+key, text)
}

// Set sets free-form values. All others, including those that are not strings, stay unchanged.
func Set(values []Value) Change {
	return func(s *schema.Session) error {
		var members []rawjson.Member
		if len(s.Metadata) > 0 {
			var err error
			if members, err = rawjson.Members(s.Metadata); err != nil {
				return fmt.Errorf("metadata of session.json: %w", err)
			}
		}
		for _, v := range values {
			members = slices.DeleteFunc(members, func(m rawjson.Member) bool { return m.Name == v.Key })
			if v.Text != "" {
				members = append(members, rawjson.Member{Name: v.Key, Value: rawjson.AppendQuote(nil, v.Text)})
			}
		}
		if len(members) > schema.MaxSessionMembers {
			return invalid("a conversation has at most %d values", schema.MaxSessionMembers)
		}
		if len(s.Metadata)+len(members) > 0 {
			s.Metadata = object(members)
		}
		return nil
	}
}

// object encodes a JSON object.
func object(members []rawjson.Member) schema.Raw {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuote(b, m.Name)
		b = append(append(b, ':'), m.Value...)
	}
	return append(b, '}')
}

// Values returns the free-form values of a session, sorted by key. Values that are not
// strings are returned as JSON.
func Values(s *schema.Session) (list []Value) {
	var all map[string]json.RawMessage
	if json.Unmarshal(s.Metadata, &all) != nil {
		return nil
	}
	for key, raw := range all {
		text := string(raw)
		if plain, err := rawjson.Unquote(raw); err == nil {
			text = plain
		}
		list = append(list, Value{key, text})
	}
	slices.SortFunc(list, func(a, b Value) int { return strings.Compare(a.Key, b.Key) })
	return list
}
