package opencode

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"path"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

func (c content) addFile(v part) {
	if !c.w.isPayload(v) {
		c.AddAttachment(attachment(v))
	}
}

// attachment returns the attachment for a file part. For a file of this machine, only the
// name is kept: the file is in the work tree, or none of our business.
func attachment(v part) inject.Attachment {
	name := fileName(v.Filename)
	if data, ok := decodeData(v.URL); ok {
		return inject.NewAttachment(name, v.Mime, data)
	}
	return inject.Attachment{Attachment: schema.Attachment{MediaType: v.Mime, Name: cmp.Or(name, nameOf(v.URL))}}
}

// isPayload reports whether a file is a payload that cortext delivered.
func (w *walk) isPayload(v part) bool {
	if w.o.Strip == nil || !strings.HasPrefix(v.Mime, "text/") {
		return false
	}
	data, ok := decodeData(v.URL)
	return ok && w.o.IsPayload(string(data))
}

// decodeData returns the bytes of a data: address (RFC 2397), or malformed data
// unchanged.
func decodeData(address string) ([]byte, bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return nil, false
	}
	head, body, _ := strings.Cut(rest, ",")
	if strings.HasSuffix(head, ";base64") {
		return inject.DecodeBase64(body, base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding), true
	}
	if s, err := url.PathUnescape(body); err == nil {
		body = s
	}
	return []byte(body), true
}

// fileName returns a file's name without the folders of this machine.
func fileName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if path.IsAbs(name) || strings.Contains(name, ":/") || strings.HasPrefix(name, "~") || strings.HasPrefix(path.Clean(name), "..") {
		return path.Base(name)
	}
	return name
}

// nameOf returns a name for a file that has only an address.
func nameOf(address string) string {
	rest, ok := strings.CutPrefix(address, "file:")
	if !ok {
		return address
	}
	rest, _, _ = strings.Cut(rest, "?")
	if s, err := url.PathUnescape(rest); err == nil {
		rest = s
	}
	if rest = path.Base(strings.ReplaceAll(rest, `\`, "/")); rest == "/" || rest == "." {
		return ""
	}
	return rest
}
