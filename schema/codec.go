package schema

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cortext/schema/rawjson"
)

// The codec converts records to JSON and back by the `json` tags of their fields, in
// field order. It differs from encoding/json in what the format promises: names match
// exactly, a duplicate name is an error, unknown members are kept and written back byte
// for byte in the place of the field Unknown, strings survive unchanged (see package
// rawjson), and a field without a value is omitted. A `codec` tag changes that: "keep"
// always writes the field, "set" sorts a list and drops repeats. A field with a stamp
// (title and title_set) is written whenever the stamp is.

// Raw is a JSON value as in the file.
type Raw []byte

type fieldInfo struct {
	name  string
	keep  bool
	set   bool
	at    int
	typ   reflect.Type
	stamp int // the field that stamps this one, -1 if none
}

type structInfo struct {
	fields  []fieldInfo
	byName  map[string]int // index into fields
	unknown int            // the field that keeps unknown members, -1 if none
	known   int            // number of fields before it
}

var structs sync.Map // reflect.Type -> *structInfo: a cache of the parsed tags

const stampSuffix = "_set"

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
				info.unknown, info.known = i, len(info.fields)
			}
			continue
		}
		tag := f.Tag.Get("codec")
		info.byName[name] = len(info.fields)
		info.fields = append(info.fields, fieldInfo{name, tag == "keep", tag == "set", i, f.Type, -1})
	}
	for i := range info.fields {
		if stamp, ok := info.byName[info.fields[i].name+stampSuffix]; ok {
			info.fields[i].stamp = info.fields[stamp].at
		}
	}
	structs.Store(t, info)
	return info
}

// A nameCheck checks the name of an unknown member.
type nameCheck func(info *structInfo, name string) error

// anyName is for logs, which hold whatever agents write.
func anyName(*structInfo, string) error { return nil }

// exactName rejects a name that differs from a known one only in case, because a
// case-insensitive reader would take it for the known one.
func exactName(info *structInfo, name string) error {
	for _, f := range info.fields {
		if strings.EqualFold(f.name, name) {
			return fmt.Errorf("name %q must be spelled %q", name, f.name)
		}
	}
	return nil
}

// decode fills the struct v from the JSON object raw.
func decode(raw []byte, v any, check nameCheck) error {
	return decodeStruct(raw, reflect.ValueOf(v).Elem(), check)
}

func decodeStruct(raw []byte, v reflect.Value, check nameCheck) error {
	members, err := rawjson.Object(raw)
	if err != nil {
		return err
	}
	return decodeMembers(members, v, check)
}

func decodeMembers(members []rawjson.Member, v reflect.Value, check nameCheck) error {
	info := infoOf(v.Type())
	for _, m := range members {
		at, ok := info.byName[m.Name]
		if !ok {
			if err := check(info, m.Name); err != nil {
				return err
			}
			if info.unknown >= 0 {
				u := v.Field(info.unknown).Addr().Interface().(*[]rawjson.Member)
				*u = append(*u, rawjson.Member{Name: m.Name, Value: appendRaw(nil, m.Value)})
			}
			continue
		}
		f := info.fields[at]
		if err := decodeField(m.Value, v.Field(f.at), f, check); err != nil {
			return err
		}
	}
	return nil
}

// decodeField decodes raw into v, the field f of a struct.
func decodeField(raw []byte, v reflect.Value, f fieldInfo, check nameCheck) error {
	if string(raw) == "null" {
		return nil
	}
	if err := decodeValue(raw, v, check); err != nil {
		return fmt.Errorf("field %q: %w", f.name, err)
	}
	if f.set {
		v.Set(reflect.ValueOf(asSet(v.Interface().([]string))))
	}
	return nil
}

// asSet returns a list in the spelling of a set: sorted, without duplicates.
func asSet(list []string) []string {
	if slices.IsSorted(list) {
		return slices.Compact(list)
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

func decodeValue(raw []byte, v reflect.Value, check nameCheck) error {
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
		if string(raw) == "null" {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(raw, v.Elem(), check)
	case reflect.Struct:
		return decodeStruct(raw, v, check)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[Raw]() {
			v.SetBytes(appendRaw(nil, raw))
			return nil
		}
		elements, err := rawjson.Array(raw)
		if err != nil {
			return err
		}
		if len(elements) == 0 {
			return nil // absent and empty are the same value
		}
		v.Set(reflect.MakeSlice(v.Type(), len(elements), len(elements)))
		for i, e := range elements {
			if err := decodeValue(e, v.Index(i), check); err != nil {
				return err
			}
		}
	default:
		panic("schema: no codec for " + v.Type().String())
	}
	return nil
}

// absent reports whether v has no value. An empty list has none, nor does a struct of
// only such fields.
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

// layout is the text before each name and between a name and its value.
type layout struct{ before, colon string }

func encodeStruct(dst []byte, v reflect.Value) []byte {
	return append(encodeMembers(append(dst, '{'), v, layout{"", ":"}), '}')
}

// encodeLines encodes the struct v as a control file: each member on one line.
func encodeLines(v reflect.Value) []byte {
	return append(encodeMembers([]byte{'{'}, v, layout{"\n  ", ": "}), "\n}\n"...)
}

// encodeMembers appends the members of the struct v with commas between them.
func encodeMembers(dst []byte, v reflect.Value, l layout) []byte {
	info := infoOf(v.Type())
	from := len(dst)
	member := func(name string) {
		if len(dst) > from {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendQuote(append(dst, l.before...), name)
		dst = append(dst, l.colon...)
	}
	for i := 0; i <= len(info.fields); i++ {
		if i == info.known && info.unknown >= 0 {
			for _, m := range v.Field(info.unknown).Interface().([]rawjson.Member) {
				member(m.Name)
				dst = appendRaw(dst, m.Value)
			}
		}
		if i == len(info.fields) {
			break
		}
		f := &info.fields[i]
		fv := v.Field(f.at)
		if !f.keep && absent(fv) && (f.stamp < 0 || absent(v.Field(f.stamp))) {
			continue
		}
		member(f.name)
		if f.set {
			fv = reflect.ValueOf(asSet(slices.Clone(fv.Interface().([]string))))
		}
		dst = encodeValue(dst, fv)
	}
	return dst
}

// appendLine appends the struct that v points at on one line.
func appendLine(dst []byte, v any) []byte {
	return encodeStruct(dst, reflect.ValueOf(v).Elem())
}

// objectOf returns an object of members on one line.
func objectOf(members []rawjson.Member) []byte {
	dst := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(rawjson.AppendQuote(dst, m.Name), ':'), m.Value...)
	}
	return append(dst, '}')
}

// appendRaw appends a value unchanged except for line breaks between tokens, which would
// split the line. Inside strings a line break is always an escape.
func appendRaw(dst, raw []byte) []byte {
	from := len(dst)
	dst = append(dst, raw...)
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		line := slices.DeleteFunc(dst[from:], func(c byte) bool { return c == '\n' || c == '\r' })
		dst = dst[:from+len(line)]
	}
	return dst
}

func encodeValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.String:
		return rawjson.AppendQuote(dst, v.String())
	case reflect.Int, reflect.Int64:
		return strconv.AppendInt(dst, v.Int(), 10)
	case reflect.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, "null"...)
		}
		return encodeValue(dst, v.Elem())
	case reflect.Struct:
		return encodeStruct(dst, v)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[Raw]() {
			return appendRaw(dst, v.Bytes())
		}
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = encodeValue(dst, v.Index(i))
		}
		return append(dst, ']')
	}
	panic("schema: no codec for " + v.Type().String())
}
