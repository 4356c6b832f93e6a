package schema

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"cortext/schema/rawjson"
)

// A Stamp records when a member of a session was last set, and to what. It is next to the
// member in the file, so that a merge that keeps the lines of both sides keeps what is
// needed to choose between them. A member without a stamp still has its value from the
// creation of the conversation.
type Stamp[T any] struct {
	At Time `json:"at"`
	To T    `json:"to" codec:"keep"`

	Unknown []rawjson.Member
}

// A TagStamp records when a tag was last added or removed.
type TagStamp struct {
	At  Time   `json:"at"`
	Tag string `json:"tag"`
	On  bool   `json:"on" codec:"keep"`

	Was []string `json:"was"` // time of the first stamp, or of several after a merge

	Unknown []rawjson.Member
}

// A ValueStamp records when a member of the metadata was last set, and to what, or removed.
type ValueStamp struct {
	At  Time   `json:"at"`
	Key string `json:"key" codec:"keep"`
	To  Raw    `json:"to"` // absent: removed

	Was []string `json:"was"` // time of the first stamp, or of several after a merge

	Unknown []rawjson.Member
}

// A NoteStamp records a text that the notes were set to. If the two sides of a merge each
// wrote one, both stay until someone edits the notes.
type NoteStamp struct {
	At  Time     `json:"at"`
	Was []string `json:"was"` // keys of the stamps that this one replaced
	To  string   `json:"to" codec:"keep"`

	Unknown []rawjson.Member
}

// key identifies a stamp within a conversation. It includes the text, because two clones
// whose clocks are behind may use the same time.
func (n *NoteStamp) key() string {
	sum := sha256.Sum256([]byte(n.To))
	return string(n.At) + "-" + hex.EncodeToString(sum[:4])
}

// withoutHash returns a key without the hash of the text. It stands for every text of its
// time.
func withoutHash(key string) string {
	if i := len(key) - 9; i > 0 && key[i] == '-' && strings.Trim(key[i+1:], "0123456789abcdef") == "" {
		return key[:i]
	}
	return key
}

// maxWas bounds the keys in a NoteStamp. A text that was replaced earlier than these
// comes back if it is merged again.
const maxWas = 100

// Stamp stamps each settable member that differs from before, and each whose stamp does
// not match its value (an older release or a person changed it). Call it after an edit
// and after secrets are redacted, since a stamp repeats the value. The values of a new
// conversation need no stamps.
//
// The time of a stamp is now, or a millisecond after the latest stamp in the file, so
// that a clock that is behind does not undo an edit.
func (s *Session) Stamp(before *Session, now time.Time) {
	at := s.nextStamp(before, now)
	v, was := reflect.ValueOf(s).Elem(), reflect.ValueOf(before).Elem()
	for _, f := range infoOf(v.Type()).fields {
		if f.stamp < 0 || v.Field(f.stamp).Kind() != reflect.Pointer {
			continue
		}
		stamp := v.Field(f.stamp)
		value := encodeValue(nil, v.Field(f.at))
		old := encodeValue(nil, was.Field(f.at))
		if bytes.Equal(value, old) && (stamp.IsNil() || bytes.Equal(value, encodeValue(nil, stampTo(stamp)))) {
			continue
		}
		stamp.Set(reflect.New(stamp.Type().Elem()))
		stampAt(stamp).SetString(string(at))
		stampTo(stamp).Set(cloneValue(v.Field(f.at)))
	}
	s.stampTags(before, at)
	s.stampNotes(before, at)
	s.stampMetadata(before, at)
}

func (s *Session) stampTags(before *Session, at Time) {
	is, was := asMap(s.Tags), asMap(before.Tags)
	stamped := map[string]bool{}
	s.TagsSet = slices.Clone(s.TagsSet) // before may share the slice
	for i, t := range s.TagsSet {
		stamped[t.Tag] = true
		if t.On != is[t.Tag] || was[t.Tag] != is[t.Tag] {
			s.TagsSet[i] = TagStamp{At: at, Tag: t.Tag, On: is[t.Tag], Was: begun(t.Was, t.At)}
		}
	}
	for _, tag := range asSet(slices.Concat(s.Tags, before.Tags)) {
		if is[tag] != was[tag] && !stamped[tag] {
			stamp := TagStamp{At: at, Tag: tag, On: is[tag]}
			if was[tag] {
				stamp.Was = []string{created}
			}
			s.TagsSet = append(s.TagsSet, stamp)
		}
	}
	slices.SortFunc(s.TagsSet, func(a, b TagStamp) int { return strings.Compare(a.Tag, b.Tag) })
}

func (s *Session) stampMetadata(before *Session, at Time) {
	is, was := valuesByKey(s.Metadata), valuesByKey(before.Metadata)
	stamped := map[string]bool{}
	s.MetadataSet = slices.Clone(s.MetadataSet) // before may share the slice
	for i, v := range s.MetadataSet {
		stamped[v.Key] = true
		if !bytes.Equal(v.To, is[v.Key]) || !bytes.Equal(was[v.Key], is[v.Key]) {
			s.MetadataSet[i] = ValueStamp{At: at, Key: v.Key, To: is[v.Key], Was: begun(v.Was, v.At)}
		}
	}
	for _, key := range asSet(slices.Concat(slices.Collect(maps.Keys(is)), slices.Collect(maps.Keys(was)))) {
		if !bytes.Equal(is[key], was[key]) && !stamped[key] {
			stamp := ValueStamp{At: at, Key: key, To: is[key]}
			if len(was[key]) > 0 {
				stamp.Was = []string{created}
			}
			s.MetadataSet = append(s.MetadataSet, stamp)
		}
	}
	slices.SortFunc(s.MetadataSet, func(a, b ValueStamp) int { return strings.Compare(a.Key, b.Key) })
	if len(s.MetadataSet) > 0 && len(s.Metadata) == 0 {
		s.Metadata = Raw("{}")
	}
}

// valuesByKey returns the members of an object, or none for anything else.
func valuesByKey(object Raw) map[string]Raw {
	values := map[string]Raw{}
	members, err := rawjson.Object(object)
	if len(object) == 0 || err != nil {
		return values
	}
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values
}

func asMap(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[s] = true
	}
	return m
}

// maxNotes is how many parts of the notes have stamps of their own. A later addition replaces them
// all by one.
const maxNotes = 100

// stampNotes stamps the notes. What was added to them gets a stamp of its own, so that the
// rest stays recognizable: the other side of a merge may redact or replace it.
func (s *Session) stampNotes(before *Session, at Time) {
	if s.Notes == before.Notes && (len(s.NotesSet) == 0 || s.Notes == joinNotes(s.NotesSet)) {
		return
	}
	set := slices.Clone(s.NotesSet)
	if len(set) == 0 && before.Notes != "" && s.CreatedAt != "" {
		set = []NoteStamp{{At: s.CreatedAt, To: before.Notes}} // from the creation
	}
	if added, ok := strings.CutPrefix(s.Notes, joinNotes(set)+"\n\n"); ok && len(set) > 0 && len(set) < maxNotes {
		more := append(slices.Clone(set), NoteStamp{At: at, To: added})
		if joinNotes(more) == s.Notes {
			s.NotesSet = more
			return
		}
	}
	var was []string
	for _, n := range set {
		was = append(append(was, n.key()), n.Was...)
	}
	was = asSet(was)
	s.NotesSet = []NoteStamp{{At: at, Was: was[max(len(was)-maxWas, 0):], To: s.Notes}}
}

// nextStamp returns the time for the stamps of an edit at now.
func (s *Session) nextStamp(before *Session, now time.Time) Time {
	var last time.Time
	for _, t := range append(s.stampTimes(), before.stampTimes()...) {
		if t.Time().After(last) {
			last = t.Time()
		}
	}
	now = now.Truncate(time.Millisecond)
	if next := last.Add(time.Millisecond); next.After(now) && next.UTC().Year() <= 9999 {
		now = next
	}
	return NewTime(now)
}

// stampTimes returns the times of all stamps in s.
func (s *Session) stampTimes() []Time {
	var times []Time
	v := reflect.ValueOf(s).Elem()
	for _, f := range infoOf(v.Type()).fields {
		if f.stamp >= 0 && v.Field(f.stamp).Kind() == reflect.Pointer && !v.Field(f.stamp).IsNil() {
			times = append(times, Time(stampAt(v.Field(f.stamp)).String()))
		}
	}
	for _, t := range s.TagsSet {
		times = append(times, t.At)
	}
	for _, n := range s.NotesSet {
		times = append(times, n.At)
	}
	for _, v := range s.MetadataSet {
		times = append(times, v.At)
	}
	return times
}

// Defer takes from another session of the same conversation everything that s does not
// know for certain: settable members that have no stamp in s, and members that never
// change. The sources, counters and activity of s stay.
func (s *Session) Defer(to *Session) {
	v, from := reflect.ValueOf(s).Elem(), reflect.ValueOf(to.Clone()).Elem()
	for _, f := range infoOf(v.Type()).fields {
		switch {
		case strings.HasSuffix(f.name, stampSuffix):
		case slices.Contains([]string{"version", "id", "sources", "last_active", "message_count", "tokens", "counted_bytes", "usage"}, f.name):
		case f.stamp < 0:
			if !absent(from.Field(f.at)) {
				v.Field(f.at).Set(from.Field(f.at))
			}
		case v.Field(f.stamp).IsZero():
			v.Field(f.at).Set(from.Field(f.at))
			v.Field(f.stamp).Set(from.Field(f.stamp))
		}
	}
}

func (s *Session) clearStamps() {
	v := reflect.ValueOf(s).Elem()
	for _, f := range infoOf(v.Type()).fields {
		if f.stamp >= 0 {
			v.Field(f.stamp).SetZero()
		}
	}
}

// stampAt and stampTo return the fields of a *Stamp of any type.
func stampAt(stamp reflect.Value) reflect.Value { return stamp.Elem().Field(0) }
func stampTo(stamp reflect.Value) reflect.Value { return stamp.Elem().Field(1) }

// compareTimes orders times; different spellings are not equal.
func compareTimes(a, b Time) int {
	return cmp.Or(a.Time().Compare(b.Time()), strings.Compare(string(a), string(b)))
}

// joinNotes returns the notes that result from all stamps. If both sides of a merge added to
// a text, they have that text in common. So a text is left out up to where it differs from an
// earlier one, in whole paragraphs.
func joinNotes(set []NoteStamp) string {
	var texts [][]string
	for _, n := range set {
		if n.To != "" {
			texts = append(texts, strings.Split(n.To, "\n\n"))
		}
	}
	var all []string
	for i, text := range texts {
		common := 0
		for _, earlier := range texts[:i] {
			k := 0
			for k < min(len(text), len(earlier)) && text[k] == earlier[k] {
				k++
			}
			common = max(common, k)
		}
		all = append(all, text[common:]...)
	}
	return strings.Join(all, "\n\n")
}
