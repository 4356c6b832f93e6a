//go:build unix

package inject_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"cortext/inject"
)

// TestPipes puts named pipes where the agents keep their files. A reader that opened
// one would wait for a writer, so each pipe has a writer that reports the reader.
func TestPipes(t *testing.T) {
	for agent, names := range map[string][]string{
		"claude": {
			".claude/projects/p/aaaa.jsonl", ".claude/projects/p/bbbb/subagents/agent-1.jsonl", ".claude/projects/p/bbbb/subagents/agent-2.meta.json",
		},
		"gemini": {
			".gemini/tmp/p/chats/session-2026-01-01T00-00-aaaaaaaa.jsonl", ".gemini/tmp/q/.project_root",
		},
		"opencode": {
			".local/share/opencode/opencode.db", ".local/share/opencode/opencode-x.db", ".local/share/opencode/storage/session/p/ses_a.json",
		},
	} {
		t.Run(agent, func(t *testing.T) {
			home := t.TempDir()
			write(t, filepath.Join(home, ".claude/projects/p/bbbb.jsonl"), "{}\n")
			write(t, filepath.Join(home, ".claude/projects/p/bbbb/subagents/agent-2.jsonl"), "{}\n")
			write(t, filepath.Join(home, ".gemini/tmp/q/chats/session-2026-01-01T00-00-bbbbbbbb.jsonl"),
				`{"sessionId":"bbbbbbbb-1","projectHash":"h"}`+"\n"+`{"id":"1","type":"user","content":"hi"}`+"\n")
			for _, name := range names {
				watchPipe(t, filepath.Join(home, name))
			}
			m := inject.Machine{Home: home, Getenv: func(string) string { return "" }}
			for _, a := range agents() {
				if a.Name() != agent {
					continue
				}
				if _, err := a.Sessions(m); err != nil {
					t.Errorf("sessions: %v", err)
				}
				for _, id := range []string{"aaaa", "bbbb", "aaaaaaaa-1", "bbbbbbbb-1", "ses_a"} {
					if file, ok, _ := a.Locate(m, id); ok {
						_, _ = a.Subagents(file)
					}
				}
				for _, name := range names {
					pipe := filepath.Join(home, name)
					var want *inject.FileError
					if _, err := a.Open(pipe, inject.Options{}); !errors.As(err, &want) {
						t.Errorf("open %s: %v", name, err)
					}
					if _, err := a.Stat(pipe); !errors.As(err, &want) {
						t.Errorf("stat %s: %v", name, err)
					}
					_, _ = a.Subagents(pipe)
				}
			}
		})
	}
}

// TestPipeBesideDatabase puts a pipe in place of a file that SQLite opens on its own.
func TestPipeBesideDatabase(t *testing.T) {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		file := filepath.Join(t.TempDir(), "opencode.db")
		write(t, file, "SQLite format 3\x00")
		watchPipe(t, file+suffix)
		for _, a := range agents() {
			if a.Name() != "opencode" {
				continue
			}
			var want *inject.FileError
			if _, err := a.Open(file+"#ses_a", inject.Options{}); !errors.As(err, &want) || want.File != file+suffix {
				t.Errorf("open with a pipe at %s: %v", suffix, err)
			}
		}
	}
}

// watchPipe creates a named pipe and fails the test at its end if anything opened the
// pipe.
func watchPipe(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Skip("NOT RUN: no named pipes here:", err)
	}
	var done, opened atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !done.Load() {
			w, err := os.OpenFile(file, os.O_WRONLY, 0) // waits for a reader
			if err != nil {
				return
			}
			if !done.Load() {
				opened.Store(true)
			}
			_ = w.Close()
		}
	}()
	t.Cleanup(func() {
		done.Store(true)
		r, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		<-ended
		_ = r.Close()
		if opened.Load() {
			t.Errorf("%s was opened", file)
		}
	})
}
