package schema

import (
	"slices"
	"strings"
)

// The stamp of a tag, or of a name in the metadata, has its text. If the text is redacted,
// the stamp must go, too, and a clone that still has it would bring it back. So what takes
// its place lists the times of the stamps that it had: from them alone a merge can tell which
// tag of the other side is gone.

// created replaces a time in `was` if the value has no stamp: it dates from the creation of
// the conversation.
const created = "created"

// An element is what tags_set and metadata_set say about one tag or name.
type element struct {
	name string
	on   bool
	at   Time
	was  []string // times of earlier elements, by which it is recognized
}

// begun returns `was` for an element that replaces one with was and at.
func begun(was []string, at Time) []string {
	if len(was) > 0 {
		return was
	}
	return []string{string(at)}
}

// unite returns the times of both lists.
func unite(a, b []string) []string {
	all := asSet(slices.Concat(a, b))
	return all[max(len(all)-maxWas, 0):]
}

// uniteElements returns `was` for the later of two elements of the same name, the one
// whose time is to.
func uniteElements(was []string, at Time, laterWas []string, to Time) []string {
	if at == "" || at == to {
		return unite(was, laterWas)
	}
	return slices.DeleteFunc(unite(append(slices.Clone(was), string(at)), laterWas), func(t string) bool { return t == string(to) })
}

// ForgetRedacted removes the stamps of tags and of names in the metadata that are redacted
// and no longer there: they still contain the text. redact returns the redacted form of a
// text.
func (s *Session) ForgetRedacted(redact func(string) string) {
	s.forgetTags(redact)
	s.forgetValues(redact)
}

// ForgetNotes removes the hashes of earlier notes, which could confirm a guess of what they
// said.
func (s *Session) ForgetNotes() {
	s.NotesSet = slices.Clone(s.NotesSet)
	for i, n := range s.NotesSet {
		var was []string
		for _, key := range n.Was {
			was = append(was, withoutHash(key))
		}
		s.NotesSet[i].Was = asSet(was)
	}
}

// withoutHashes removes the hashes from keys in which one side removed them.
func withoutHashes(set []NoteStamp) []NoteStamp {
	bare := map[string]bool{}
	for _, n := range set {
		for _, key := range n.Was {
			bare[key] = bare[key] || withoutHash(key) == key
		}
	}
	set = slices.Clone(set)
	for i, n := range set {
		was := slices.Clone(n.Was)
		for k, key := range was {
			if at := withoutHash(key); bare[at] {
				was[k] = at
			}
		}
		set[i].Was = asSet(was)
	}
	return set
}

func (s *Session) forgetTags(redact func(string) string) {
	var kept, gone []TagStamp
	for _, t := range s.TagsSet {
		if !t.On && redact(t.Tag) != t.Tag {
			gone = append(gone, t)
		} else {
			kept = append(kept, t)
		}
	}
	for _, t := range gone {
		name := redact(t.Tag)
		i := slices.IndexFunc(kept, func(k TagStamp) bool { return k.Tag == name })
		if i < 0 {
			i, kept = len(kept), append(kept, TagStamp{At: t.At, Tag: name, On: slices.Contains(s.Tags, name)})
		}
		kept[i].Was = unite(kept[i].Was, append(slices.Clone(t.Was), string(t.At)))
	}
	slices.SortFunc(kept, func(a, b TagStamp) int { return strings.Compare(a.Tag, b.Tag) })
	s.TagsSet = kept
}

func (s *Session) forgetValues(redact func(string) string) {
	values := valuesByKey(s.Metadata)
	var kept, gone []ValueStamp
	for _, v := range s.MetadataSet {
		if len(v.To) == 0 && redact(v.Key) != v.Key {
			gone = append(gone, v)
		} else {
			kept = append(kept, v)
		}
	}
	for _, v := range gone {
		name := redact(v.Key)
		i := slices.IndexFunc(kept, func(k ValueStamp) bool { return k.Key == name })
		if i < 0 {
			i, kept = len(kept), append(kept, ValueStamp{At: v.At, Key: name, To: values[name]})
		}
		kept[i].Was = unite(kept[i].Was, append(slices.Clone(v.Was), string(v.At)))
	}
	slices.SortFunc(kept, func(a, b ValueStamp) int { return strings.Compare(a.Key, b.Key) })
	s.MetadataSet = kept
}

// forgotten returns the names that one side redacted and another still has. names holds
// the names that each side uses, and sets what each side says about them.
//
// A side that knows a time knows all names of that time. If it has a redacted text in place
// of one of them and lacks one of these names, it redacted that name.
func forgotten(names [][]string, sets [][]element) map[string]bool {
	times := map[string][]string{}
	off := map[string]bool{}
	for _, set := range sets {
		for _, e := range set {
			times[e.name] = append(append(times[e.name], e.was...), string(e.at))
			off[e.name] = off[e.name] || !e.on
		}
	}
	for _, name := range slices.Concat(names...) {
		if len(times[name]) == 0 {
			times[name] = []string{created}
		}
	}
	using := func(name string) (n int) {
		for _, list := range names {
			if slices.Contains(list, name) {
				n++
			}
		}
		return n
	}
	gone := map[string]bool{}
	for _, set := range sets {
		known := map[string]bool{}
		for _, e := range set {
			known[e.name] = true
		}
		for _, e := range set {
			if len(e.was) == 0 || !strings.Contains(e.name, redactedPrefix) {
				continue
			}
			for name := range times {
				shared := func(at string) bool { return at != created && slices.Contains(e.was, at) }
				switch {
				case known[name]:
				case slices.ContainsFunc(times[name], shared):
					gone[name] = true
				case slices.Contains(e.was, created) && slices.Contains(times[name], created):
					// A side that kept the name may have no stamp of it, but uses it.
					gone[name] = gone[name] || using(name) == 0 || !off[name] && using(name) < len(names)
				}
			}
		}
	}
	return gone
}
