package capture

import (
	"path"
	"unicode/utf8"

	"cortext/inject"
)

const attachmentsDir = ".workspace/local/kept/attachments"

// keepAttachments puts the bytes of attachments where git does not see them: text
// with its secrets replaced, as in messages.
func (c *Capture) keepAttachments(blobs []inject.Blob) error {
	for _, b := range blobs {
		name := path.Join(attachmentsDir, b.SHA256[:2], b.SHA256)
		if ok, err := c.ws.Store.Exists(name); err != nil || ok {
			if err != nil {
				return err
			}
			continue
		}
		data := b.Data
		if utf8.Valid(data) {
			text, err := c.ws.Store.Redact(string(data))
			if err != nil {
				return err
			}
			data = []byte(text)
		}
		if err := c.ws.Store.WriteFile(name, data); err != nil {
			return err
		}
	}
	return nil
}
