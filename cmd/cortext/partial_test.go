//go:build unix

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var partialCount = flag.Uint64("partial.count", envNumber("CORTEXT_PARTIAL", 40), "the number of conversations of TestPartialClone")

// TestPartialClone compares a partial, sparse clone of many conversations, made as
// cmd/README.md says, with a full one. Lists and searches of titles must fetch nothing, and
// a resume one conversation, in one request. scripts/partial.sh measures it.
func TestPartialClone(t *testing.T) {
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	p := &partial{pushers: pushers{t: t, root: t.TempDir()}, count: int(*partialCount)}
	p.env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+filepath.Join(p.root, "home"),
		"XDG_STATE_HOME="+filepath.Join(p.root, "home/state"), "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0")
	p.remote()
	full, part := filepath.Join(p.root, "full"), filepath.Join(p.root, "part")
	url := "file://" + filepath.Join(p.root, "remote.git")
	p.step("full clone", full, func() { p.must(p.root, "git", "clone", "-q", url, full) })
	whole := packed(full)
	p.step("partial clone", part, func() {
		p.must(p.root, "git", "clone", "-q", "--filter=blob:limit=4k", "--no-checkout", url, part)
		p.must(part, "git", "sparse-checkout", "set", "--no-cone", "/.gitattributes", "/.workspace/", "/conversations/**/.session/session.json")
		p.must(part, "git", "checkout", "-q")
	})
	if n := packed(part); n*2 > whole {
		t.Errorf("the partial clone has %d bytes in packs, the full one %d", n, whole)
	}
	first := requests(part)
	title := fmt.Sprintf("topic %d", p.count/2)
	for _, c := range []struct{ what, dir string }{{"list, partial", part}, {"list again, partial", part}, {"list, full", full}, {"list again, full", full}} {
		p.step(c.what, c.dir, func() { p.must(c.dir, "cortext", "list", "--limit", "10") })
	}
	p.step("list --search, partial", part, func() {
		if out := p.must(part, "cortext", "list", "--search", title); !strings.Contains(out, title) {
			t.Errorf("%q was not found: %s", title, out)
		}
	})
	p.step("list --search, full", full, func() { p.must(full, "cortext", "list", "--search", title) })
	p.step("search, partial", part, func() {
		if out := p.must(part, "cortext", "search", title); !strings.Contains(out, title) {
			t.Errorf("%q was not found: %s", title, out)
		}
	})
	p.step("stats, partial", part, func() { p.must(part, "cortext", "stats") })
	if n := requests(part); n != first {
		t.Errorf("lists and searches made %d requests", n-first)
	}
	p.step("fetch one, partial", part, func() {
		cmd := exec.Command(filepath.Join(bin, "cortext"), "resume", title, "--print")
		cmd.Dir, cmd.Env = part, p.env
		out, err := cmd.CombinedOutput()
		_, fetch, ok := strings.Cut(string(out), "not fetched yet: run ")
		if err == nil || !ok {
			t.Fatalf("%v: %s", err, out)
		}
		fetch, _, _ = strings.Cut(fetch, "\n")
		p.must(part, "sh", "-c", fetch)
	})
	if n := requests(part); n != first+1 {
		t.Errorf("one conversation took %d requests", n-first)
	}
	trace := filepath.Join(p.root, "trace")
	for _, c := range []struct{ what, dir string }{{"resume --print, partial", part}, {"resume --print, full", full}} {
		p.step(c.what, c.dir, func() {
			p.env = append(p.env, "GIT_TRACE="+trace)
			defer func() { p.env = p.env[:len(p.env)-1] }()
			if out := p.must(c.dir, "cortext", "resume", title, "--print"); !strings.Contains(out, "question 1 about "+title) {
				t.Errorf("%s: %s", c.what, out)
			}
		})
	}
	if n := requests(part); n != first+1 {
		t.Errorf("the resume took %d more requests", n-first-1)
	}
	if log, err := os.ReadFile(trace); err != nil || bytes.Count(log, []byte("built-in: git ls-files")) != 1 {
		t.Errorf("git read its index more than once for a resume: %v\n%s", err, log)
	}
	p.step("sparse-checkout add, partial", part, func() {
		path := strings.TrimSpace(p.must(part, "sh", "-c", "dirname $(dirname $(ls -d conversations/*/*"+fmt.Sprintf("-topic-%d-*", p.count/2)+"/.session/session.json))"))
		p.must(part, "git", "sparse-checkout", "add", "/"+path+"/")
	})
	p.must(part, "git", "status", "--porcelain")
}

// Partial is a remote with many conversations, and its clones.
type partial struct {
	pushers
	count int
}

// step runs f and reports how long it took and what it added to a clone.
func (p *partial) step(what, dir string, f func()) {
	before, asked, began := packed(dir), requests(dir), time.Now()
	f()
	p.t.Logf("%-28s %8.2f s  %10.1f MB fetched  %d requests", what, time.Since(began).Seconds(), float64(packed(dir)-before)/1e6, requests(dir)-asked)
}

// packed returns the size of a clone's objects.
func packed(dir string) (n int64) {
	_ = filepath.WalkDir(filepath.Join(dir, ".git/objects"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// requests returns how often a partial clone has fetched.
func requests(dir string) int {
	list, _ := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.promisor"))
	return len(list)
}

// remote makes a bare repository with the conversations, in one commit.
func (p *partial) remote() {
	p.t.Helper()
	dir := filepath.Join(p.root, "remote.git")
	p.must(p.root, "git", "init", "-q", "--bare", "-b", "main", dir)
	p.must(dir, "git", "config", "uploadpack.allowFilter", "true")
	p.must(dir, "git", "config", "uploadpack.allowAnySHA1InWant", "true")
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env = dir, p.env
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	w := bufio.NewWriter(in)
	fmt.Fprint(w, "commit refs/heads/main\ncommitter a <a@example.com> 1767600000 +0000\ndata 1\nx\n")
	file := func(name, text string) { fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text) }
	file(".gitattributes", "conversations/**/.session/**/*.jsonl merge=union -text\nconversations/**/.session/**/session.json merge=union -text\n")
	file(".workspace/config.yaml", "one_active: true\n")
	base := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range p.count {
		p.conversation(i, base.Add(time.Duration(i)*10*time.Minute), file)
	}
	if err = w.Flush(); err == nil {
		err = in.Close()
	}
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// wordsFrom returns a function that returns that many bytes of words, always others.
func wordsFrom(seed uint64) func(n int) string {
	seed = seed*2654435761 + 1
	return func(n int) string {
		var b strings.Builder
		for b.Len() < n {
			seed = seed*6364136223846793005 + 1442695040888963407
			fmt.Fprintf(&b, "%s%d ", words[seed>>32%uint64(len(words))], seed>>40&4095)
		}
		return b.String()
	}
}

// conversation writes a conversation of about 20 kB, of words that do not compress to
// nothing.
func (p *partial) conversation(i int, at time.Time, file func(name, text string)) {
	title, id := fmt.Sprintf("topic %d", i), fmt.Sprintf("01%024d", i)
	name := fmt.Sprintf("%s-chat-topic-%d-%s", at.Format("1504"), i, id[len(id)-4:])
	dir := "conversations/" + at.Format("2006-01-02") + "/" + name + "/.session/"
	words := wordsFrom(uint64(i))
	stamp := func(k int) string { return at.Add(time.Duration(k) * time.Second).Format("2006-01-02T15:04:05.000Z") }
	var messages, tools strings.Builder
	for k := range 4 {
		parent := ""
		if k > 0 {
			parent = fmt.Sprintf(`"parent_id":"a%d-%d",`, i, k-1)
		}
		fmt.Fprintf(&messages, `{"id":"u%d-%d",%s"timestamp":"%s","role":"user","content":"question %d about %s","tokens":8}`+"\n", i, k, parent, stamp(2*k), k+1, title)
		fmt.Fprintf(&messages, `{"id":"a%d-%d","parent_id":"u%[1]d-%[2]d","timestamp":"%s","role":"assistant","content":"%s","tool_calls":[{"id":"t%[1]d-%[2]d","name":"Read"}],"tokens":300}`+"\n", i, k, stamp(2*k+1), words(1500))
		fmt.Fprintf(&tools, `{"id":"t%d-%d","message_id":"a%[1]d-%[2]d","name":"Read","input":{"file_path":"f%[2]d.go"},"output":"%s","success":true,"tokens":900}`+"\n", i, k, words(3500))
	}
	file(dir+"messages.jsonl", messages.String())
	file(dir+"tools.jsonl", tools.String())
	members := []string{`"version": "1.2"`, `"title": "` + title + `"`, `"conversation_id": "` + name + `"`, `"status": "paused"`, `"created_at": "` + stamp(0) + `"`,
		`"context_summary": "Discussing ` + title + ` and what follows from it: ` + words(200) + `"`, `"description": "question 1 about ` + title + `"`,
		`"agent_config": {"agent":"claude","model":"claude-opus-5","tools":["Bash","Edit","Read"]}`, `"conversation_type": "chat"`, `"last_active": "` + stamp(7) + `"`,
		`"message_count": 8`, `"tokens": 4832`, fmt.Sprintf(`"counted_bytes": %d`, messages.Len()), `"id": "` + id + `"`}
	file(dir+"session.json", "{\n  "+strings.Join(members, ",\n  ")+"\n}\n")
}
