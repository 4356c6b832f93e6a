package listing

import (
	"encoding/binary"
	"hash/fnv"
	"path"
	"strings"

	"cortext/schema"
)

// A decoder reads strings from a text.
type decoder struct {
	rest string
	ok   bool
}

func (d *decoder) number() int {
	n, size := uint64(0), 0
	for shift := 0; size < len(d.rest) && shift < 35; shift += 7 {
		c := d.rest[size]
		size++
		if n |= uint64(c&0x7f) << shift; c < 0x80 {
			d.rest = d.rest[size:]
			return int(n)
		}
	}
	d.ok = false
	return 0
}

func (d *decoder) string() string {
	n := d.number()
	if n > len(d.rest) {
		d.ok = false
		return ""
	}
	s := d.rest[:n]
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) list() []string {
	n := d.number()
	if n > len(d.rest) {
		d.ok = false
		return nil
	}
	var list []string
	for range n {
		list = append(list, d.string())
	}
	return list
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendList(b []byte, list []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, s)
	}
	return b
}

func idHash(id string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.ToLower(schema.IDKey(id))))
	return h.Sum64()
}

// baseHash is the same for names that differ only in case.
func baseHash(folded string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(folded))
	return h.Sum64()
}

// folderHash is ordered by day.
func folderHash(folder string) uint64 {
	day, name := path.Split(strings.TrimPrefix(folder, "conversations/"))
	return uint64(hash(strings.TrimSuffix(day, "/")))<<32 | uint64(hash(name))
}

func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}
