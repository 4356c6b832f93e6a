//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A secretRow is a case of TestSecret.
type secretRow struct {
	name     string
	secret   string
	how      []string // of cortext redact
	exchange string   // "driver", "attributes" or "ref"
	goesOn   []string // what the other user does meanwhile: commands; ID stands for the conversation, SECRET for the text
	late     bool     // the secret is not committed before it is redacted
	rename   bool     // it is in the name of the folder, too
	commits  bool     // attachments are beside the log
	short    bool     // also with -short
}

const (
	plainSecret = "Pelican77Tango"
	hardSecret  = "Peli\"can\\77 <é>&Tango"
)

var (
	byPattern = []string{"--pattern", "Pel[i]can77Tango"}
	bySecret  = []string{"--secret"}
)

var secretRows = []secretRow{
	{name: "driver", secret: plainSecret, how: byPattern, exchange: "driver", goesOn: []string{"tag later ID", "note more ID", "set more=1 ID"}, short: true},
	{name: "driver, hard text", secret: hardSecret, how: bySecret, exchange: "driver", goesOn: []string{"untag SECRET ID", "set SECRET= ID", "title ID other"}},
	{name: "driver, idle, renamed", secret: plainSecret, how: bySecret, exchange: "driver", rename: true},
	{name: "driver, tags again", secret: plainSecret, how: bySecret, exchange: "driver", goesOn: []string{"untag SECRET ID", "tag SECRET,x ID", "note --replace all ID"}},
	{name: "attributes", secret: plainSecret, how: bySecret, exchange: "attributes", goesOn: []string{"tag later ID", "note more ID", "set more=1 ID"}, commits: true, short: true},
	{name: "attributes, hard text", secret: hardSecret, how: bySecret, exchange: "attributes", goesOn: []string{"untag SECRET ID", "note --replace all ID"}},
	{name: "attributes, idle", secret: plainSecret, how: byPattern, exchange: "attributes"},
	{name: "before the commit", secret: plainSecret, how: bySecret, exchange: "attributes", late: true, rename: true, goesOn: []string{"tag later ID"}},
	{name: "before the commit, driver", secret: hardSecret, how: bySecret, exchange: "driver", late: true, goesOn: []string{"tag later ID", "note more ID"}},
	{name: "ref", secret: plainSecret, how: bySecret, exchange: "ref", goesOn: []string{"tag later ID", "note more ID", "set more=1 ID"}, short: true},
	{name: "ref, idle, hard text", secret: hardSecret, how: bySecret, exchange: "ref"},
	{name: "ref, before the commit", secret: plainSecret, how: byPattern, exchange: "ref", late: true, goesOn: []string{"tag later ID"}},
}

// TestSecret plants a secret wherever cortext keeps text of a conversation, redacts it, and
// merges with a clone that still has it. Afterwards neither the workspaces nor the folders
// of the users have it, in any encoding, except where the command says: in git's history
// and in the agent's transcripts. Nothing that is printed has it. Ids and order stay, and
// check finds no damage.
func TestSecret(t *testing.T) {
	for _, row := range secretRows {
		if testing.Short() && !row.short {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &secretCase{t: t, row: row, forms: formsOf(row.secret), now: time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)}
			s.run()
		})
	}
}

// A secretCase is two users, of whom one redacts what both have.
type secretCase struct {
	t        *testing.T
	row      secretRow
	forms    []form
	one, two *world
	now      time.Time
	id       string // of the conversation
}

func (s *secretCase) run() {
	s.begin()
	s.plant()
	if !s.row.late {
		s.send(s.one)
		s.receive(s.two)
	}
	s.wander(s.two)
	for _, line := range s.row.goesOn {
		s.do(s.two, line)
	}
	before := s.ids(s.one)
	s.redact()
	s.wander(s.one)
	s.gone(s.one, "after the redaction")
	if now := s.ids(s.one); now != before {
		s.t.Errorf("ids or order changed: %s", firstDifference(before, now))
	}
	s.send(s.one)
	s.receive(s.two)
	s.payload(s.two)
	if s.row.exchange == "attributes" { // the next write settles what git put together
		s.do(s.two, "note settled ID")
	}
	s.wander(s.two)
	s.gone(s.two, "in the other clone, after the merge")
	s.send(s.two)
	s.receive(s.one)
	s.wander(s.one)
	s.gone(s.one, "after the merge")
	if a, b := s.ids(s.one), s.ids(s.two); a != b {
		s.t.Errorf("the clones read differently: %s", firstDifference(a, b))
	}
}

// cortext runs a command that must succeed and returns what it prints.
func (s *secretCase) cortext(w *world, args ...string) string {
	s.t.Helper()
	return s.fed(w, "", args...)
}

func (s *secretCase) fed(w *world, input string, args ...string) string {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	w.clock = s.now
	out, errs, code := w.run(command{dir: w.dir(), input: input, args: append([]string{"cortext"}, args...)})
	if code != 0 {
		s.t.Fatalf("%q: exit code %d\n%s%s", args, code, out, errs)
	}
	return out + errs
}

// do runs a command line.
func (s *secretCase) do(w *world, line string) string {
	s.t.Helper()
	var args []string
	for _, word := range strings.Fields(line) {
		args = append(args, strings.NewReplacer("ID", s.id, "SECRET", s.row.secret).Replace(word))
	}
	return s.cortext(w, args...)
}

// begin makes the workspace of the one user and the clone of the other.
func (s *secretCase) begin() {
	s.one, s.two = newWorld(s.t, 1), newWorld(s.t, 2)
	programs, err := built()
	s.one.check(err)
	for _, w := range []*world{s.one, s.two} {
		for _, p := range []string{"cortext-web", "cortext-zstd"} {
			w.check(os.Symlink(filepath.Join(programs, p), filepath.Join(w.root, "bin", p)))
		}
	}
	w := s.one
	remote := filepath.Join(w.root, "remote.git")
	w.must(w.root, "git", "init", "-q", "--bare", remote)
	w.must(w.root, "git", "init", "-q", w.tree("clone").dir)
	commit, driver := "off", "--no-merge-driver"
	switch s.row.exchange {
	case "ref":
		commit = "ref"
	case "driver":
		driver = "--no-merge-driver=false"
	}
	s.cortext(w, "init", "--agent", "claude", "--commit", commit, driver)
	for _, setting := range []string{"idle_minutes 0", "tools trimmed", "tool_output_kb 1", "summarize_after 6", "keep_messages 2"} {
		s.do(w, "config set "+setting)
	}
	if s.row.commits {
		s.do(w, "config set --user attachments commit")
	}
	w.must(w.dir(), "git", "add", "-A")
	w.must(w.dir(), "git", "commit", "-qm", "init")
	w.must(w.dir(), "git", "remote", "add", "origin", remote)
	w.must(w.dir(), "git", "push", "-q", "-u", "origin", "main")
	s.two.must(s.two.root, "git", "clone", "-q", remote, s.two.tree("clone").dir)
	s.cortext(s.two, "init", "--agent", "claude", driver)
}

// plant makes a conversation with the secret in it, everywhere.
func (s *secretCase) plant() {
	w := s.one
	secret := s.row.secret
	if s.row.late { // the other clone has what came before
		secret = "nothing"
	}
	transcript := filepath.Join(w.home, ".claude/projects/p/s1.jsonl")
	w.write(transcript, secretTranscript(w.dir(), secret, s.row.rename))
	w.write(strings.TrimSuffix(transcript, ".jsonl")+"/subagents/agent-aa11.jsonl", secretSubagent(secret))
	w.write(strings.TrimSuffix(transcript, ".jsonl")+"/subagents/agent-aa11.meta.json", `{"agentType":"general","toolUseId":"c5"}`)
	s.cortext(w, "import", transcript)
	s.id = w.entries(every...)[0].ID
	if s.row.late {
		s.send(w)
		s.receive(s.two)
		secret = s.row.secret
		w.write(transcript, secretTranscript(w.dir(), "nothing", s.row.rename)+secretTurns(w.dir(), secret))
		s.cortext(w, "import", transcript)
	}
	id := s.id
	s.cortext(w, "tag", secret+",x-"+secret+",plain", id)
	s.cortext(w, "tag", "was-"+secret, id)
	s.cortext(w, "untag", "was-"+secret, id)
	if !s.row.rename { // the name of its folder has the title
		s.cortext(w, "fork", id, "--no-resume", "--title", "fork")
	}
	s.cortext(w, "title", id, "the", secret, "title")
	if s.row.rename {
		s.cortext(w, "fork", id, "--no-resume")
	}
	s.cortext(w, "note", "--replace", secret, id)
	s.cortext(w, "note", "it is "+secret, id)
	s.cortext(w, "set", "key="+secret, id)
	s.cortext(w, "set", secret+"=1", id)
	s.cortext(w, "compact", id, "--apply")
	var have []string
	for _, e := range w.entries(every...) {
		have = append(have, e.ID)
	}
	other := filepath.Join(w.root, "files", "s2.jsonl") // removed; git and the user's state may know of it
	w.write(other, strings.NewReplacer(`"s1"`, `"s2"`, `"u`, `"w`).Replace(secretTurns(w.dir(), secret)))
	s.cortext(w, "import", other)
	for _, e := range w.entries(every...) {
		if !slices.Contains(have, e.ID) {
			s.cortext(w, "rm", "--yes", e.ID)
		}
	}

	dir := filepath.Join(w.dir(), s.folder(w)) // documents, and what a repair sets aside
	w.write(filepath.Join(dir, "ideas.md"), "An idea: "+secret+"\n")
	log := filepath.Join(dir, ".session/messages.jsonl")
	b, err := os.ReadFile(log)
	w.check(err)
	quoted, err := json.Marshal(secret)
	w.check(err)
	w.check(os.WriteFile(log, slices.Concat(b, []byte(`{"id":"broken","content":`), quoted, []byte("\n")), 0o600))
	s.cortext(w, "repair")
	b, err = os.ReadFile(log)
	w.check(err)
	w.check(os.WriteFile(log, slices.Concat(b, []byte(`{"id":"torn","content":`), quoted), 0o600))
	s.cortext(w, "note", "mends a torn tail", id)
	s.cortext(w, "stop", id)
	s.wander(w)
}

// folder returns the folder of the conversation, relative to the workspace.
func (s *secretCase) folder(w *world) string {
	s.t.Helper()
	for _, e := range w.entries(every...) {
		if e.ID == s.id {
			return e.Path
		}
	}
	s.t.Fatalf("no conversation %s", s.id)
	return ""
}

func (s *secretCase) redact() {
	s.t.Helper()
	args := append([]string{"redact", s.id, "--yes", "--documents", "--linked"}, s.row.how...)
	if s.row.rename {
		args = append(args, "--rename")
	}
	if out := s.fed(s.one, s.row.secret+"\n", args...); strings.Contains(out, s.row.secret) {
		s.t.Errorf("redact prints it:\n%s", out)
	}
	if out := s.fed(s.one, s.row.secret+"\n", args...); !strings.Contains(out, "nothing matches") {
		s.t.Errorf("redacted again:\n%s", out)
	}
}

// send commits what a user has and pushes it.
func (s *secretCase) send(w *world) {
	s.t.Helper()
	if s.row.exchange == "ref" {
		for _, e := range w.entries(every...) {
			s.cortext(w, "stop", e.ID)
		}
		s.cortext(w, "push")
		return
	}
	w.clock = s.now
	w.must(w.dir(), "git", "add", "-A")
	w.must(w.dir(), "git", "commit", "-q", "--allow-empty", "-m", "more")
	w.must(w.dir(), "git", "push", "-q", "origin", "main")
}

// receive merges what the other user pushed.
func (s *secretCase) receive(w *world) {
	s.t.Helper()
	if s.row.exchange == "ref" {
		s.cortext(w, "pull")
		return
	}
	w.clock = s.now
	w.must(w.dir(), "git", "add", "-A")
	w.must(w.dir(), "git", "commit", "-q", "--allow-empty", "-m", "mine")
	w.must(w.dir(), "git", "pull", "-q", "--no-edit", "origin", "main")
}

// wander runs commands that read and leave caches behind.
func (s *secretCase) wander(w *world) {
	s.t.Helper()
	if len(w.entries(every...)) == 0 {
		return
	}
	for _, line := range []string{"list", "list --status all --archived", "search Question", "index", "show ID", "stats", "resume ID --print", "sync"} {
		s.do(w, line)
	}
	if out := s.cortext(w, "check"); !strings.Contains(out, "no damage") {
		s.t.Errorf("check: %s", out)
	}
}

// payload fails if anything that is shown, sent or exported has the secret.
func (s *secretCase) payload(w *world) {
	s.t.Helper()
	lines := []string{"list --json", "show ID --json", "show ID", "context ID", "stats --by tag --json", "resume ID --print", "resume ID --print --budget 900", "resume ID --print --strategy pruned-tools"}
	for _, format := range []string{"json", "jsonl", "md", "html"} {
		lines = append(lines, "export ID -o - --attachments --subagents --format "+format)
	}
	for _, line := range lines {
		if at := s.has([]byte(s.do(w, line))); at != "" {
			s.t.Errorf("%s prints %s", line, at)
		}
	}
	bundle := filepath.Join(w.root, "bundle.tar.zst")
	s.cortext(w, "export", s.id, "--bundle", "--attachments", "--subagents", "-o", bundle)
	b, err := os.ReadFile(bundle)
	w.check(err)
	if at := s.has(b); at != "" {
		s.t.Errorf("a bundle has %s", at)
	}
	w.check(os.Remove(bundle))
}

// gone fails if a file or anything that is printed has the secret.
func (s *secretCase) gone(w *world, when string) {
	s.t.Helper()
	s.payload(w)
	for _, root := range []string{w.dir(), w.home} {
		w.check(filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(w.root, name)
			switch {
			case strings.HasSuffix(rel, ".git/objects"), strings.HasSuffix(rel, ".git/logs"), strings.HasSuffix(rel, ".claude/projects"):
				return fs.SkipDir // redact says that these have it
			case s.named(rel):
				s.t.Errorf("%s: the name %s", when, rel)
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(name)
			if at := s.has(b); at != "" {
				s.t.Errorf("%s: %s: %s", when, rel, at)
			}
			return err
		}))
	}
}

// ids returns the ids of the messages and calls of a conversation, in order.
func (s *secretCase) ids(w *world) string {
	s.t.Helper()
	var all shown
	w.check(json.Unmarshal([]byte(w.must(w.dir(), "cortext", "show", s.id, "--json")), &all))
	var b strings.Builder
	for _, m := range all.Messages {
		fmt.Fprintf(&b, "%s after %s, %s\n", m.ID, m.ParentID, m.Role)
	}
	for _, c := range all.Tools {
		fmt.Fprintf(&b, "%s %s\n", c.ID, c.Name)
	}
	return b.String()
}

// A form is the secret in one encoding.
type form struct {
	name string
	text []byte
}

// formsOf returns a secret as files may have it, with its unsalted hashes.
func formsOf(secret string) []form {
	forms := []form{{"plain", []byte(secret)}}
	text := secret
	for level := range 3 {
		b, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		text = string(b[1 : len(b)-1])
		forms = append(forms, form{fmt.Sprint("in JSON ", level+1), []byte(text)}, form{fmt.Sprint("in JSON without <, ", level+1), []byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(text))})
	}
	for shift := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + secret))
		encoded = strings.TrimRight(encoded, "=")
		forms = append(forms, form{fmt.Sprint("in base64, ", shift), []byte(encoded[[]int{0, 2, 3}[shift] : len(encoded)-2])})
	}
	sum := sha256.Sum256([]byte(secret))
	return append(forms, form{"its SHA-256", fmt.Appendf(nil, "%x", sum[:4])}, form{"its SHA-256 in base64", []byte(base64.StdEncoding.EncodeToString(sum[:])[:10])}, form{"its SHA-256 in binary", sum[:8]})
}

var tagsOfHTML = regexp.MustCompile(`<[^>é]*>`)

// has returns the form in which a file has the secret, with the text around it, or "" if the file
// does not have it.
func (s *secretCase) has(b []byte) string {
	for _, f := range s.forms {
		if i := bytes.Index(b, f.text); i >= 0 {
			return fmt.Sprintf("the secret %s: %q", f.name, b[max(i-60, 0):min(i+len(f.text)+20, len(b))])
		}
	}
	if bytes.HasPrefix(b, []byte("<!")) || bytes.Contains(b, []byte("&quot;")) {
		text := html.UnescapeString(tagsOfHTML.ReplaceAllString(string(b), ""))
		if i := strings.Index(text, s.row.secret); i >= 0 {
			return fmt.Sprintf("the secret in HTML: %q", text[max(i-60, 0):min(i+40, len(text))])
		}
	}
	if r, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		if raw, err := io.ReadAll(r); err == nil {
			return s.has(raw)
		}
	}
	if bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		r, err := zstd.NewReader(nil)
		if err == nil {
			defer r.Close()
			if raw, err := r.DecodeAll(b, nil); err == nil {
				return s.has(raw)
			}
		}
	}
	return ""
}

var slug = regexp.MustCompile(`[^a-z0-9]+`)

// named reports whether a path has the secret, in the form that the name of a folder has.
func (s *secretCase) named(path string) bool {
	plain := slug.ReplaceAllString(strings.ToLower(strings.ReplaceAll(s.row.secret, "é", "e")), "-")
	return strings.Contains(path, s.row.secret) || strings.Contains(slug.ReplaceAllString(strings.ToLower(path), "-"), plain)
}
