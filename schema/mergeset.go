package schema

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"cortext/schema/rawjson"
)

// Tags and metadata are sets: both sides of a merge may add to them and remove from them.

// mergeTags takes the tags of all variants and applies the last stamp of each: a removed
// tag stays removed.
func mergeTags(tags [][]string, sets [][]TagStamp) ([]string, []TagStamp) {
	tags, sets = withoutForgottenTags(tags, sets)
	last := map[string]TagStamp{}
	for _, t := range slices.Concat(sets...) {
		old, ok := last[t.Tag]
		if !ok || cmp.Or(compareTimes(t.At, old.At), compareRecords(&t, &old)) > 0 {
			t, old = old, t
		}
		old.Was = uniteElements(t.Was, t.At, old.Was, old.At)
		last[old.Tag] = old
	}
	is := asMap(slices.Concat(tags...))
	combineTags(is, last, tags, sets)
	var set []TagStamp
	for tag, t := range last {
		set = append(set, t)
		if len(tags) > 1 || len(sets) > 1 {
			is[tag] = t.On
		}
	}
	slices.SortFunc(set, func(a, b TagStamp) int { return strings.Compare(a.Tag, b.Tag) })
	var all []string
	for tag, on := range is {
		if on {
			all = append(all, tag)
		}
	}
	return asSet(all), set
}

// withoutForgottenTags returns the tags of all variants without those that one side redacted.
func withoutForgottenTags(tags [][]string, sets [][]TagStamp) ([][]string, [][]TagStamp) {
	said := make([][]element, len(sets))
	for i, set := range sets {
		for _, t := range set {
			said[i] = append(said[i], element{t.Tag, t.On, t.At, t.Was})
		}
	}
	gone := forgotten(tags, said)
	if len(gone) == 0 {
		return tags, sets
	}
	tags, sets = slices.Clone(tags), slices.Clone(sets)
	for i := range tags {
		tags[i] = slices.DeleteFunc(slices.Clone(tags[i]), func(tag string) bool { return gone[tag] })
	}
	for i := range sets {
		sets[i] = slices.DeleteFunc(slices.Clone(sets[i]), func(t TagStamp) bool { return gone[t.Tag] })
	}
	return tags, sets
}

// mergeMetadata merges objects of free-form values. Of each member it takes the value set last
// or, without a stamp, the smallest.
func mergeMetadata(objects []Raw, sets [][]ValueStamp) (Raw, []ValueStamp) {
	objects, sets = withoutForgottenValues(objects, sets)
	last := map[string]ValueStamp{}
	for _, v := range slices.Concat(sets...) {
		old, ok := last[v.Key]
		if !ok || cmp.Or(compareTimes(v.At, old.At), compareRecords(&v, &old)) > 0 {
			v, old = old, v
		}
		old.Was = uniteElements(v.Was, v.At, old.Was, old.At)
		last[old.Key] = old
	}
	for _, v := range slices.Concat(sets...) {
		chosen := last[v.Key]
		if !bytes.Contains(v.To, []byte(redactedPrefix)) || len(chosen.To) == 0 || setAfter(chosen.To, v.To) {
			continue
		}
		if text, ok := CombineRedacted(string(chosen.To), string(v.To)); ok {
			chosen.To = Raw(text)
			last[v.Key] = chosen
		}
	}
	merged := mergeObjects(objects)
	members, err := rawjson.Object(merged)
	if len(merged) == 0 {
		members, err = nil, nil
	}
	var set []ValueStamp
	for key, v := range last {
		set = append(set, v)
		if err != nil || len(objects) < 2 && len(sets) < 2 {
			continue
		}
		members = slices.DeleteFunc(members, func(m rawjson.Member) bool { return m.Name == key })
		if len(v.To) > 0 {
			members = append(members, rawjson.Member{Name: key, Value: v.To})
		}
	}
	slices.SortFunc(set, func(a, b ValueStamp) int { return strings.Compare(a.Key, b.Key) })
	if err == nil && (len(objects) > 1 || len(sets) > 1) {
		slices.SortFunc(members, func(a, b rawjson.Member) int { return strings.Compare(a.Name, b.Name) })
		if merged = nil; len(members)+len(set) > 0 {
			merged = objectOf(members)
		}
	}
	return merged, set
}

// withoutForgottenValues is withoutForgottenTags for names in the metadata.
func withoutForgottenValues(objects []Raw, sets [][]ValueStamp) ([]Raw, [][]ValueStamp) {
	names, said := make([][]string, len(objects)), make([][]element, len(sets))
	for i, object := range objects {
		for name := range valuesByKey(object) {
			names[i] = append(names[i], name)
		}
	}
	for i, set := range sets {
		for _, v := range set {
			said[i] = append(said[i], element{v.Key, len(v.To) > 0, v.At, v.Was})
		}
	}
	gone := forgotten(names, said)
	if len(gone) == 0 {
		return objects, sets
	}
	objects, sets = slices.Clone(objects), slices.Clone(sets)
	for i, object := range objects {
		if members, err := rawjson.Object(object); err == nil {
			objects[i] = objectOf(slices.DeleteFunc(members, func(m rawjson.Member) bool { return gone[m.Name] }))
		}
	}
	for i := range sets {
		sets[i] = slices.DeleteFunc(slices.Clone(sets[i]), func(v ValueStamp) bool { return gone[v.Key] })
	}
	return objects, sets
}
