package opencode

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"path"
	"strings"

	"cortext/inject"
	"cortext/schema"
)

func (c *content) addFile(v part) {
	if c.w.isPayload(v) {
		return
	}
	a, blob := c.w.attachment(v)
	c.m.Blocks = append(c.m.Blocks, schema.Block{Type: schema.AttachmentBlock, Index: len(c.m.Attachments)})
	c.m.Attachments = append(c.m.Attachments, a)
	c.it.blobs = append(c.it.blobs, blob...)
}

// attachment turns a file part into a reference. The bytes of a data: address stay
// out of the log. For a file of this machine, only the name is kept: the file is in
// the work tree, or none of our business.
func (w *walk) attachment(v part) (schema.Attachment, []inject.Blob) {
	a := schema.Attachment{MediaType: v.Mime, Name: fileName(v.Filename)}
	data, ok := decodeData(v.URL)
	if !ok {
		if a.Name == "" {
			a.Name = nameOf(v.URL)
		}
		return a, nil
	}
	sum := sha256.Sum256(data)
	a.Bytes, a.SHA256 = int64(len(data)), hex.EncodeToString(sum[:])
	return a, []inject.Blob{{SHA256: a.SHA256, Data: data}}
}

// isPayload reports whether a file is a payload that cortext delivered.
func (w *walk) isPayload(v part) bool {
	if w.o.Strip == nil || !strings.HasPrefix(v.Mime, "text/") {
		return false
	}
	data, ok := decodeData(v.URL)
	if !ok {
		return false
	}
	rest, ok := w.o.Strip(string(data))
	return ok && strings.TrimSpace(rest) == ""
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
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding} {
			if b, err := enc.DecodeString(body); err == nil {
				return b, true
			}
		}
		return []byte(body), true
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

// nameOf returns a name for an address without one.
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
