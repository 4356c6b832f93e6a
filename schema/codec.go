package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"cortext/schema/rawjson"
)

// The codec turns records into JSON and back by the `json` tags of their
// fields, in the order of the fields. It differs from encoding/json in what the
// format promises: names match exactly, a name that stands twice is an error,
// unknown members are kept and written back byte for byte after the known ones,
// strings survive unchanged (see package rawjson), and a field without a value
// is absent unless its `codec` tag says keep.

// Raw is a JSON value as it stands in the file.
type Raw []byte

type fieldInfo struct {
	name string
	keep bool
	at   int
}

type structInfo struct {
	fields  []fieldInfo
	byName  map[string]int // index into fields
	unknown int            // the field that keeps unknown members, -1 if none
}

var structs sync.Map // reflect.Type -> *structInfo: a cache of what the tags say

func infoOf(t reflect.Type) *structInfo {
	if v, ok := structs.Load(t); ok {
		return v.(*structInfo)
	}
	info := &structInfo{byName: map[string]int{}, unknown: -1}
	for i := range t.NumField() {
		f := t.Field(i)
		name, ok := f.Tag.Lookup("json")
		if !ok {
			if f.Type == reflect.TypeFor[[]rawjson.Member]() {
				info.unknown = i
			}
			continue
		}
		info.byName[name] = len(info.fields)
		info.fields = append(info.fields, fieldInfo{name: name, keep: f.Tag.Get("codec") == "keep", at: i})
	}
	structs.Store(t, info)
	return info
}

// decode fills the struct v from the JSON object raw.
func decode(raw []byte, v any) error {
	return decodeStruct(raw, reflect.ValueOf(v).Elem())
}

func decodeStruct(raw []byte, v reflect.Value) error {
	members, err := rawjson.Object(raw)
	if err != nil {
		return err
	}
	info := infoOf(v.Type())
	for _, m := range members {
		at, ok := info.byName[m.Name]
		if !ok {
			if info.unknown < 0 {
				continue
			}
			u := v.Field(info.unknown).Addr().Interface().(*[]rawjson.Member)
			*u = append(*u, rawjson.Member{Name: m.Name, Value: bytes.Clone(m.Value)})
			continue
		}
		if string(m.Value) == "null" {
			continue
		}
		if err := decodeValue(m.Value, v.Field(info.fields[at].at)); err != nil {
			return fmt.Errorf("field %q: %w", m.Name, err)
		}
	}
	return nil
}

func decodeValue(raw []byte, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		s, err := rawjson.Unquote(raw)
		v.SetString(s)
		return err
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		if err != nil {
			return fmt.Errorf("%.40q is not a whole number", raw)
		}
		v.SetInt(n)
	case reflect.Bool:
		if s := string(raw); s != "true" && s != "false" {
			return fmt.Errorf("%.40q is neither true nor false", raw)
		}
		v.SetBool(raw[0] == 't')
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem())
	case reflect.Struct:
		return decodeStruct(raw, v)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[Raw]() {
			v.SetBytes(bytes.Clone(raw))
			return nil
		}
		elements, err := rawjson.Array(raw)
		if err != nil {
			return err
		}
		if len(elements) == 0 {
			return nil // absent and empty are one value
		}
		v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
		for i, e := range elements {
			if err := decodeValue(e, v.Index(i)); err != nil {
				return err
			}
		}
	default:
		panic("schema: no codec for " + v.Type().String())
	}
	return nil
}

// layout says how an object is spread over lines: records of a log stand on one
// line without spaces, session.json has one member a line.
type layout struct {
	indent string // "" keeps everything on one line
	depth  int
}

func (l layout) deeper() layout { return layout{l.indent, l.depth + 1} }

func (l layout) newline(dst []byte) []byte {
	if l.indent == "" {
		return dst
	}
	dst = append(dst, '\n')
	for range l.depth {
		dst = append(dst, l.indent...)
	}
	return dst
}

// colon is what stands between a name and its value.
func (l layout) colon() string {
	if l.indent == "" {
		return ":"
	}
	return ": "
}

// absent reports whether v has no value: an empty list is none, nor is a struct
// of nothing but such fields.
func absent(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice:
		return v.Len() == 0
	case reflect.Struct:
		for i := range v.NumField() {
			if !absent(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return v.IsZero()
}

func encodeStruct(dst []byte, v reflect.Value, l layout) []byte {
	info := infoOf(v.Type())
	dst = append(dst, '{')
	in := l.deeper()
	first := true
	member := func(name string) {
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = in.newline(dst)
		dst = rawjson.AppendQuote(dst, name)
		dst = append(dst, in.colon()...)
	}
	for _, f := range info.fields {
		fv := v.Field(f.at)
		if !f.keep && absent(fv) {
			continue
		}
		member(f.name)
		dst = encodeValue(dst, fv, in)
	}
	if info.unknown >= 0 {
		for _, m := range v.Field(info.unknown).Interface().([]rawjson.Member) {
			member(m.Name)
			dst = append(dst, m.Value...)
		}
	}
	if !first {
		dst = l.newline(dst)
	}
	return append(dst, '}')
}

// appendLine spells the struct that v points at on one line. Values that are
// kept as they stand may hold line breaks between their parts, which would cut
// the line in two; inside strings a line break is always an escape.
func appendLine(dst []byte, v any) []byte {
	from := len(dst)
	dst = encodeStruct(dst, reflect.ValueOf(v).Elem(), layout{})
	if bytes.IndexByte(dst[from:], '\n') >= 0 || bytes.IndexByte(dst[from:], '\r') >= 0 {
		line := slices.DeleteFunc(dst[from:], func(c byte) bool { return c == '\n' || c == '\r' })
		dst = dst[:from+len(line)]
	}
	return dst
}

func encodeValue(dst []byte, v reflect.Value, l layout) []byte {
	switch v.Kind() {
	case reflect.String:
		return rawjson.AppendQuote(dst, v.String())
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Pointer:
		return encodeValue(dst, v.Elem(), l)
	case reflect.Struct:
		return encodeStruct(dst, v, l)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[Raw]() {
			return append(dst, v.Bytes()...)
		}
		// Each element of a list of objects has its own line, so that two
		// branches that both add one conflict in few lines.
		perLine := l.indent != "" && v.Type().Elem().Kind() == reflect.Struct
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
				if l.indent != "" && !perLine {
					dst = append(dst, ' ')
				}
			}
			if perLine {
				dst = l.deeper().newline(dst)
			}
			dst = encodeValue(dst, v.Index(i), layout{})
		}
		if perLine {
			dst = l.newline(dst)
		}
		return append(dst, ']')
	}
	panic("schema: no codec for " + v.Type().String())
}
