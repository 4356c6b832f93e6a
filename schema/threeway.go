package schema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"cortext/schema/rawjson"
)

// MergeSessionFiles merges two versions of a session.json that have a common ancestor, and
// returns the result in canonical form. A member that only one side changed is taken from that
// side. Where both sides differ from base, the rules for a merged file apply (FORMAT.md,
// "Merging"). The result does not depend on which side is ours. A base that is empty or
// unreadable counts as absent. An error means that one of the sides cannot be read.
//
// If one side belongs to a different conversation from base and the other side, that side is
// the result. Such files meet if a side removed a conversation and began one that looks like
// it, such as its fork: git takes that for a renamed file.
func MergeSessionFiles(base, ours, theirs []byte) ([]byte, error) {
	a, err := membersOf(ours)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	b, err := membersOf(theirs)
	if err != nil {
		return nil, fmt.Errorf("theirs: %w", err)
	}
	sides := []side{a, b}
	if before, err := membersOf(base); err == nil {
		id := before.id()
		switch {
		case a.id() != id && b.id() == id:
			sides = []side{a}
		case a.id() == id && b.id() != id:
			sides = []side{b}
		default:
			sides = []side{a.changedSince(before, b), b.changedSince(before, a)}
			for i, is := range []bool{a.equal(before), b.equal(before)} {
				if is && !a.equal(b) { // what the other side counted is all that there is
					sides[i] = sides[i].without(counters)
				}
			}
		}
	}
	s, err := mergeSides(sides)
	if err != nil {
		return nil, err
	}
	return s.Marshal()
}

// membersOf reads one side, even a session.json that a merge left in need of repair.
func membersOf(raw []byte) (side, error) {
	s, err := ParseSession(raw)
	if err != nil {
		return side{}, err
	}
	if raw, err = s.Marshal(); err != nil {
		return side{}, err
	}
	members, err := rawjson.Members(raw)
	return side{members: members, active: s.LastActive.Time()}, err
}

// always lists the members that the rules merge whatever base has: they only grow, or are
// recounted if the sides differ.
var always = append([]string{"version", "created_at", "last_active", "sources", "links", "id"}, counters...)

// counters lists the members that count what the logs hold.
var counters = []string{"message_count", "tokens", "counted_bytes", "usage"}

// changedSince returns the side without the members that only the other side changed since
// base. A member and its stamp count as one. A text stays if base's version has more redacted
// than the changed one: then the rules decide.
func (s side) changedSince(base, other side) side {
	mine, before, theirs := s.texts(), base.texts(), other.texts()
	mark := []byte(redactedPrefix)
	s.members = slices.DeleteFunc(slices.Clone(s.members), func(m rawjson.Member) bool {
		name := strings.TrimSuffix(m.Name, stampSuffix)
		text := mine[name]
		return !slices.Contains(always, name) && bytes.Equal(text, before[name]) && !bytes.Equal(text, theirs[name]) &&
			bytes.Count(theirs[name], mark) >= bytes.Count(text, mark)
	})
	return s
}

func (s side) equal(other side) bool {
	return slices.EqualFunc(s.members, other.members, func(m, o rawjson.Member) bool { return m.Name == o.Name && bytes.Equal(m.Value, o.Value) })
}

// without returns the side without some members.
func (s side) without(names []string) side {
	s.members = slices.DeleteFunc(slices.Clone(s.members), func(m rawjson.Member) bool { return slices.Contains(names, m.Name) })
	return s
}

// id returns the id of the conversation, as it is written.
func (s side) id() string {
	i := slices.IndexFunc(s.members, func(m rawjson.Member) bool { return m.Name == "id" })
	if i < 0 {
		return ""
	}
	return string(s.members[i].Value)
}

// texts returns the text of each member and its stamp, by the member's name.
func (s side) texts() map[string][]byte {
	all := map[string][]byte{}
	for _, m := range s.members {
		name := strings.TrimSuffix(m.Name, stampSuffix)
		all[name] = append(append(append(all[name], m.Name...), ' '), m.Value...)
	}
	return all
}

// MergeSummaryFiles returns the newer of two versions of a summary or, if both are equally
// old, the one with the greater bytes. If both are versions of one text, everything that
// either redacts is redacted in the result. An error means that one of them cannot be
// read.
func MergeSummaryFiles(ours, theirs []byte) ([]byte, error) {
	a, err := ParseSummary(ours)
	if err != nil {
		return nil, err
	}
	b, err := ParseSummary(theirs)
	if err != nil {
		return nil, err
	}
	if text, ok := CombineRedacted(a.Content, b.Content); ok {
		a.Content, b.Content = text, text
	}
	var spelled [2][]byte
	for i, s := range []*Summary{a, b} {
		if spelled[i], err = s.Marshal(); err != nil {
			return nil, err
		}
	}
	order := a.CreatedAt.Time().Compare(b.CreatedAt.Time())
	if order > 0 || order == 0 && bytes.Compare(spelled[0], spelled[1]) > 0 {
		return spelled[0], nil
	}
	return spelled[1], nil
}
