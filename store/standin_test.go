//go:build unix

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cortext/schema"
)

// TestStandIn: nothing is written in place of what git has elsewhere, whichever file it is, and no
// repair removes it. A reader says what to do.
func TestStandIn(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
	line := string(schema.AppendMessage(nil, &schema.Message{ID: "m1", Role: schema.User, Content: "hello"}))
	for _, c := range []struct{ name, file, content, says string }{
		{"a pointer of git-lfs", messagesFile, pointer, "git lfs pull"},
		{"of the calls", toolsFile, pointer, "git lfs pull"},
		{"of session.json", sessionFile, pointer, "git lfs pull"},
		{"a pointer of git-annex", messagesFile, "/annex/objects/SHA256E-s12--4d7a\n", "git annex get"},
		{"an encrypted log", messagesFile, "\x00GITCRYPT\x00\x01\x02\x03", "git-crypt unlock"},
		{"an encrypted log that ends as a record does", messagesFile, "\x00GITCRYPT\x00\x01\x02}\n", "git-crypt unlock"},
		{"an encrypted session.json", sessionFile, "\x00GITCRYPT\x00\x01\x02\x03", "git-crypt unlock"},
		{"a link of git-annex", messagesFile, "", "git annex unlock"},
		{"a link of git-annex to session.json", sessionFile, "", "git annex unlock"},
		{"a pointer with records after it", messagesFile, pointer + line, ""},
		{"another link", messagesFile, "elsewhere", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestStore(t)
			conv, err := s.Create("chat", "hello", &schema.Session{Title: "hello"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := conv.Update(func(tx *Tx, _ *schema.Session) error {
				return tx.Append(schema.Batch{Messages: []schema.Message{{ID: "m0", Role: schema.User, Content: "first"}}})
			}); err != nil {
				t.Fatal(err)
			}
			name := conv.file(c.file)
			file := filepath.Join(s.dir, name)
			if err := errors.Join(conv.Close(), os.Remove(file)); err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.Contains(c.name, "link"):
				target := "../../../../.git/annex/objects/aa/bb/" + c.file
				if c.content != "" {
					target = c.content
				}
				err = os.Symlink(target, file)
			default:
				err = os.WriteFile(file, []byte(c.content), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}

			conv, err = openTestStore(t, s.dir).Conversation(conv.path)
			if err != nil {
				t.Fatal(err)
			}
			defer conv.Close()
			var is *StandInError
			if err := conv.StandIn(); errors.As(err, &is) != (c.says != "") || is != nil && (is.File != name || !strings.HasSuffix(err.Error(), ": "+c.says)) {
				t.Fatalf("it is %v", err)
			}
			if c.says == "" {
				return
			}
			err = conv.Update(func(tx *Tx, sess *schema.Session) error {
				sess.Title = "changed"
				return tx.Append(schema.Batch{Messages: []schema.Message{{ID: "m1", Role: schema.User, Content: "hello"}}, Tools: []schema.Tool{{ID: "t1", Name: "x"}}})
			})
			if err == nil {
				t.Error("it was written")
			}
			if _, err := openTestStore(t, s.dir).Repairs().Repair(conv, nil); !errors.As(err, &is) {
				t.Errorf("a repair: %v", err)
			}
			if got, err := os.ReadFile(file); err == nil && string(got) != c.content {
				t.Errorf("it is now %q", got)
			}
			if _, err := os.Lstat(file); err != nil {
				t.Error(err)
			}
		})
	}
}
