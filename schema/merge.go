package schema

import (
	"bytes"
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"cortext/schema/rawjson"
)

// Repair describes what is wrong with a merged session.json. The next write must fix it.
type Repair struct {
	Doubled  bool  // some members are doubled: a merge kept the lines of both sides
	Conflict int64 // offset of the first conflict marker, -1 if there is none
	Partial  bool  // some lines were unreadable
}

// A side is the file as one side of a merge had it or, if the merge left no markers, the
// lines of all sides together.
type side struct {
	members []rawjson.Member
	active  time.Time // last_active; zero if there is only one side
}

// A variant is one of the values that a member has in a merged file.
type variant struct {
	value  reflect.Value
	text   []byte    // value in the canonical spelling
	active time.Time // last_active of its side; the latest if several have it
}

// merging chooses between the variants of each member. The choice does not depend on the
// order of sides or members (FORMAT.md, "Merging").
type merging struct {
	session  reflect.Value // a Session
	info     *structInfo
	variants map[string][]variant // of known members, by name; sorted by text, without duplicates
}

// mergeSides makes one session from the members of all sides.
func mergeSides(sides []side) (*Session, error) {
	s := new(Session)
	m := merging{reflect.ValueOf(s).Elem(), infoOf(reflect.TypeFor[Session]()), map[string][]variant{}}
	unknown, err := m.collect(sides)
	if err != nil {
		return nil, err
	}
	for _, f := range m.info.fields {
		all := m.variants[f.name]
		switch {
		case f.name == "version":
			s.Version = slices.MaxFunc(values[string](all), func(a, b string) int {
				return cmp.Or(cmp.Compare(minorOf(a), minorOf(b)), strings.Compare(a, b))
			})
		case f.name == "created_at":
			s.CreatedAt = first(values[Time](all), compareTimes)
		case f.name == "last_active":
			s.LastActive = first(values[Time](all), func(a, b Time) int { return compareTimes(b, a) })
		case f.name == "id":
			s.ID = idOf(values[string](m.variants["conversation_id"]), values[string](all))
		case f.stamp < 0 && !strings.HasSuffix(f.name, stampSuffix):
			m.constant(f)
		case f.stamp >= 0 && m.session.Field(f.stamp).Kind() == reflect.Pointer:
			m.settable(f)
		}
	}
	m.counters(s)
	s.Tags, s.TagsSet = mergeTags(values[[]string](m.variants["tags"]), values[[]TagStamp](m.variants["tags_set"]))
	m.notes(s)
	s.Sources = mergeSources(values[[]Source](m.variants["sources"]))
	s.Links = mergeLinks(values[*Links](m.variants["links"]))
	s.Metadata, s.MetadataSet = mergeMetadata(values[Raw](m.variants["metadata"]), values[[]ValueStamp](m.variants["metadata_set"]))
	if minorOf(s.Version) > minorOf(Version) {
		s.Unknown = unionUnknown(unknown)
	} else {
		s.Unknown = mergeUnknown(unknown)
	}
	if err := s.validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// MergeSessions merges two sessions of the same conversation by the rules for a merged
// file: the value set last counts, and counters that differ are left out.
func MergeSessions(a, b *Session) (*Session, error) {
	var sides []side
	for _, s := range []*Session{a, b} {
		raw, err := s.Marshal()
		if err != nil {
			return nil, err
		}
		members, err := rawjson.Members(raw)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side{members: members, active: s.LastActive.Time()})
	}
	return mergeSides(sides)
}

// collect fills m.variants and returns the unknown members of all sides.
func (m *merging) collect(sides []side) (unknown []rawjson.Member, err error) {
	for _, side := range sides {
		for _, member := range side.members {
			at, ok := m.info.byName[member.Name]
			if !ok {
				if err := exactName(m.info, member.Name); err != nil {
					return nil, err
				}
				unknown = append(unknown, rawjson.Member{Name: member.Name, Value: appendRaw(nil, member.Value)})
				continue
			}
			f := m.info.fields[at]
			v := reflect.New(m.session.Field(f.at).Type()).Elem()
			if err := decodeField(member.Value, v, f, exactName); err != nil {
				return nil, err
			}
			m.variants[f.name] = append(m.variants[f.name], variant{v, encodeValue(nil, v), side.active})
		}
	}
	for name, all := range m.variants {
		slices.SortFunc(all, func(a, b variant) int {
			return cmp.Or(bytes.Compare(a.text, b.text), b.active.Compare(a.active))
		})
		m.variants[name] = slices.CompactFunc(all, func(a, b variant) bool { return bytes.Equal(a.text, b.text) })
	}
	return unknown, nil
}

func values[T any](all []variant) []T {
	list := make([]T, len(all))
	for i, v := range all {
		list[i] = v.value.Convert(reflect.TypeFor[T]()).Interface().(T)
	}
	return list
}

// first returns the smallest non-zero value of list.
func first[T comparable](list []T, compare func(a, b T) int) T {
	var none T
	list = slices.DeleteFunc(list, func(v T) bool { return v == none })
	if len(list) == 0 {
		return none
	}
	return slices.MinFunc(list, compare)
}

// idOf takes the smallest id, preferably of those whose end is the end of the folder's
// name. Any other id was made up where only the folder was left.
func idOf(folders, ids []string) string {
	named := slices.DeleteFunc(slices.Clone(ids), func(id string) bool {
		return !slices.ContainsFunc(folders, func(name string) bool {
			end := name[strings.LastIndexByte(name, '-')+1:]
			return len(end) >= leastEnd && strings.HasSuffix(id, end)
		})
	})
	return cmp.Or(first(named, strings.Compare), first(ids, strings.Compare))
}

// leastEnd is the least number of characters of an id that the name of a folder ends with.
const leastEnd = 4

// constant takes the smallest value of a member that never changes, among those with the
// most redacted text.
func (m *merging) constant(f fieldInfo) {
	all := slices.DeleteFunc(slices.Clone(m.variants[f.name]), func(v variant) bool { return absent(v.value) })
	if len(all) > 0 {
		m.session.Field(f.at).Set(slices.MinFunc(all, func(a, b variant) int { return compareRedacted(a.text, b.text) }).value)
		m.redacted(m.session.Field(f.at), all)
	}
}

// redacted also redacts in a chosen value what other variants of the same value redact.
func (m *merging) redacted(chosen reflect.Value, all []variant) {
	for _, v := range all {
		if !bytes.Contains(encodeValue(nil, v.value), []byte(redactedPrefix)) {
			continue
		}
		if both, ok := combineValues(chosen, v.value); ok {
			chosen.Set(both)
		}
	}
}

// compareRedacted orders values, those with the most redacted text first.
func compareRedacted(a, b []byte) int {
	return cmp.Or(compareMarks(b, a), bytes.Compare(a, b))
}

// compareMarks orders values, those with the most redacted text last.
func compareMarks(a, b []byte) int {
	mark := []byte(redactedPrefix)
	return cmp.Compare(bytes.Count(a, mark), bytes.Count(b, mark))
}

// setAfter reports whether the encoded value that was set last differs from a value that was
// redacted as a whole, which could be any.
func setAfter(last, redacted []byte) bool {
	rest := redactedMarks().ReplaceAll(redacted, nil)
	return len(rest) < len(redacted) && len(bytes.Trim(rest, `" `)) == 0 && !bytes.Contains(last, []byte(redactedPrefix))
}

// settable takes the value that was set last. A value that matches no stamp comes from an
// older release or a person, who had seen the stamped value, so it counts, unless the merge
// brought it back beside another value. Of values written from the log, the one with the
// most redacted text counts: the other side may not have known of a redaction.
func (m *merging) settable(f fieldInfo) {
	all := m.variants[f.name]
	stamps := slices.DeleteFunc(m.variants[f.name+stampSuffix], func(v variant) bool { return v.value.IsNil() })
	if len(stamps) == 0 {
		if len(all) > 0 {
			m.session.Field(f.at).Set(slices.MaxFunc(all, func(a, b variant) int {
				return cmp.Or(a.active.Compare(b.active), bytes.Compare(a.text, b.text))
			}).value)
		}
		return
	}
	last := slices.MaxFunc(stamps, func(a, b variant) int {
		at := func(v variant) Time { return Time(stampAt(v.value).String()) }
		later := cmp.Or(compareTimes(at(a), at(b)), bytes.Compare(a.text, b.text))
		if f.name == "context_summary" || f.name == "plan" {
			return cmp.Or(compareMarks(a.text, b.text), later)
		}
		return later
	})
	chosen := cloneValue(last.value)
	for _, v := range stamps {
		all = append(all[:len(all):len(all)], variant{value: stampTo(v.value)})
	}
	all = slices.DeleteFunc(slices.Clone(all), func(v variant) bool {
		return setAfter(encodeValue(nil, stampTo(chosen)), encodeValue(nil, v.value))
	})
	m.redacted(stampTo(chosen), all)
	all = m.variants[f.name]
	m.session.Field(f.stamp).Set(chosen)
	stamped := slices.ContainsFunc(stamps, func(v variant) bool {
		return len(all) == 1 && bytes.Equal(all[0].text, encodeValue(nil, stampTo(v.value)))
	})
	if len(all) == 1 && !stamped {
		m.session.Field(f.at).Set(all[0].value)
		return
	}
	m.session.Field(f.at).Set(cloneValue(stampTo(chosen)))
}

// counters leaves out all counters if the sides differ in any: they are counted again.
func (m *merging) counters(s *Session) {
	for _, name := range counters {
		if len(m.variants[name]) > 1 {
			s.MessageCount, s.Tokens, s.CountedBytes, s.Usage = 0, 0, 0, nil
		}
	}
}

// notes keeps every text that no other has replaced.
func (m *merging) notes(s *Session) {
	all := m.variants["notes"]
	sets := values[[]NoteStamp](m.variants["notes_set"])
	s.NotesSet = liveNotes(slices.Concat(sets...))
	stamped := slices.ContainsFunc(sets, func(set []NoteStamp) bool {
		return len(all) == 1 && joinNotes(set) == all[0].value.String()
	})
	if len(s.NotesSet) > 0 && (len(all) != 1 || stamped) {
		s.Notes = joinNotes(s.NotesSet)
		return
	}
	slices.SortStableFunc(all, func(a, b variant) int { return a.active.Compare(b.active) })
	var texts []string
	for _, v := range all {
		if text := v.value.String(); text != "" {
			texts = append(texts, text)
		}
	}
	s.Notes = strings.Join(texts, "\n\n")
}

// liveNotes returns the stamps that no later one replaced, sorted by time, without
// duplicates.
func liveNotes(set []NoteStamp) []NoteStamp {
	replaced := map[string]time.Time{}
	for _, n := range set {
		for _, key := range n.Was {
			if t := n.At.Time(); t.After(replaced[key]) {
				replaced[key] = t
			}
		}
	}
	set = withoutHashes(set)
	set = slices.DeleteFunc(set, func(n NoteStamp) bool {
		return replaced[n.key()].After(n.At.Time()) || replaced[string(n.At)].After(n.At.Time())
	})
	set = inOneOrder(set)
	slices.SortStableFunc(set, func(a, b NoteStamp) int { return compareTimes(a.At, b.At) })
	return combineNotes(set)
}

// combineNotes replaces two versions of a note that redact different texts with one
// that redacts both.
func combineNotes(set []NoteStamp) (list []NoteStamp) {
	isRedacted := func(n NoteStamp) bool { return strings.Contains(n.To, redactedPrefix) }
	for _, n := range set {
		if !isRedacted(n) {
			list = append(list, n)
			continue
		}
		for i, o := range list {
			text, ok := CombineRedacted(o.To, n.To)
			if !ok || !isRedacted(o) || text == o.To || text == n.To {
				continue
			}
			was := asSet(slices.Concat(o.Was, n.Was, []string{string(o.At), string(n.At)}))
			n.At, n.To = NewTime(n.At.Time().Add(time.Millisecond)), text // n is the later one
			n.Was = was[max(len(was)-maxWas, 0):]
			list = slices.Delete(list, i, i+1)
			break
		}
		list = append(list, n)
	}
	return list
}

// mergeSources takes the native sessions of all variants. Sessions are only added, so a
// variant that has all of them determines their order; otherwise they are ordered by
// their bytes.
func mergeSources(variants [][]Source) []Source {
	type key struct{ agent, nativeID, from string }
	keyOf := func(s Source) key { return key{s.Agent, s.NativeID, s.From} }
	all := map[key]Source{}
	for _, s := range slices.Concat(variants...) {
		if old, ok := all[keyOf(s)]; !ok || compareRecords(&s, &old) > 0 {
			all[keyOf(s)] = s
		}
	}
	for _, list := range variants {
		var ordered []Source
		seen := map[key]bool{}
		for _, s := range list {
			if k := keyOf(s); !seen[k] {
				seen[k] = true
				ordered = append(ordered, all[k])
			}
		}
		if len(ordered) == len(all) {
			return ordered
		}
	}
	return inOneOrder(slices.Collect(maps.Values(all)))
}

func mergeLinks(variants []*Links) *Links {
	variants = slices.DeleteFunc(variants, func(l *Links) bool { return l == nil })
	if len(variants) < 2 {
		return append(variants, nil)[0]
	}
	var parents, calls, messages []string
	merged := new(Links)
	for _, l := range variants {
		parents, calls, messages = append(parents, l.Parent), append(calls, l.ToolCallID), append(messages, l.MessageID)
		merged.Related = append(merged.Related, l.Related...)
		merged.Unknown = append(merged.Unknown, l.Unknown...)
	}
	merged.Parent, merged.ToolCallID = first(parents, strings.Compare), first(calls, strings.Compare)
	merged.MessageID = first(messages, strings.Compare)
	merged.Related = asSet(merged.Related)
	merged.Unknown = mergeUnknown(merged.Unknown)
	return merged
}

// mergeObjects makes one object from the members of all variants.
func mergeObjects(variants []Raw) Raw {
	variants = slices.DeleteFunc(variants, func(r Raw) bool { return len(r) == 0 })
	if len(variants) < 2 {
		return append(variants, nil)[0]
	}
	var all []rawjson.Member
	for _, object := range variants {
		members, err := rawjson.Object(object)
		if err != nil {
			return object // validate reports what is wrong with it
		}
		all = append(all, members...)
	}
	return objectOf(mergeUnknown(all))
}

// mergeUnknown sorts members by name and takes the smallest value of each, among those with
// the most redacted text.
func mergeUnknown(all []rawjson.Member) []rawjson.Member {
	slices.SortFunc(all, compareMembers)
	return slices.CompactFunc(all, func(a, b rawjson.Member) bool { return a.Name == b.Name })
}

// unionUnknown sorts members of a later release by name and keeps all their values, because
// that release has its own rules for them.
func unionUnknown(all []rawjson.Member) []rawjson.Member {
	slices.SortFunc(all, compareMembers)
	return slices.CompactFunc(all, func(a, b rawjson.Member) bool {
		return a.Name == b.Name && bytes.Equal(a.Value, b.Value)
	})
}

func compareMembers(a, b rawjson.Member) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), compareRedacted(a.Value, b.Value))
}

// inOneOrder returns the structs without duplicates, ordered by their bytes in the file.
func inOneOrder[T any](list []T) []T {
	byText := make(map[string]T, len(list))
	for i := range list {
		byText[string(appendLine(nil, &list[i]))] = list[i]
	}
	var ordered []T
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		ordered = append(ordered, byText[text])
	}
	return ordered
}

// compareRecords compares two structs by their bytes in the file.
func compareRecords[T any](a, b *T) int {
	return bytes.Compare(appendLine(nil, a), appendLine(nil, b))
}
